"""Render formulas as MathML, which browsers display without scripts or downloads."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number


def mathml(latex: str, block: bool) -> str:
    """Return a formula as a <math> element; raise an error, which the build reports with its place, if it cannot be parsed."""
    return convert(latex, display="block" if block else "inline")


def inline(translator: Any, node: nodes.math) -> None:
    """Render an inline formula, $...$."""
    translator.body.append(mathml(node.astext(), False))
    raise nodes.SkipNode


def display(translator: Any, node: nodes.math_block) -> None:
    """Render a display formula, $$...$$, with its number if it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="formula"))
    translator.body.append(mathml(node.astext(), True))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
