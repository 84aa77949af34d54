"""The list of pages beside each page, of the titles alone.

Sphinx copies the contents of all pages, with everything that the reference documents, for each page of the site, and then leaves
all but the titles away: a third of the time that the site takes. Here there are no more than titles to copy.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx


def titles(contents: nodes.Element) -> nodes.Element:
    """Contents of a page as Sphinx leaves them where `titles_only` is asked for: its title, and lists of pages below it."""
    short = contents.deepcopy()
    for item in short.children:
        if isinstance(item, nodes.Element) and len(item) > 1:
            pages = list(item.findall(addnodes.toctree))
            if pages:
                item[1][:] = pages
            else:
                item.pop(1)
    return short


def setup(app: Sphinx) -> dict[str, Any]:
    """Before the theme asks for the list."""
    short: dict[str, Any] = {}

    def of_titles(app: Sphinx, name: str, template: str, context: dict[str, Any], page: Any) -> None:
        make_toctree, contents = context.get("toctree"), app.env.tocs
        if make_toctree is None:
            return
        if not short:
            short.update((page, titles(toc)) for page, toc in contents.items())

        def toctree(**options: Any) -> Any:
            app.env.tocs = short if options.get("titles_only") else contents
            try:
                return make_toctree(**options)
            finally:
                app.env.tocs = contents

        context["toctree"] = toctree

    app.connect("html-page-context", of_titles, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
