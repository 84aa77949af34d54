"""Convert the docstrings of rodsim to reStructuredText for Sphinx.

The docstrings are plain text: `names` between single backticks, formulas without markup, arguments as "name: description" at
the beginning of a line or after a full stop or semicolon, and the sections Parameters, Returns, Raises, Source, Examples.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterable
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"`([^`]+)`")
SPECIAL = re.compile(r"([\\*|_])")
RULE = re.compile(r"^-{3,}$")
ERROR = re.compile(r"^([A-Z]\w+(?:, [A-Z]\w+)*)(?: \(a warning\))?: ")
ALONE = re.compile(r"^([A-Z]\w+(?:, [A-Z]\w+)*)\n +", re.MULTILINE)  # as numpydoc has it
FIELD = re.compile(r"^    (\w+): ([^=#]+?)(?: = [^#]*?)?(?:  # (.*))?$")
RAISES = re.compile(r"^Raises (\w+) ")


PARAMETERS = ("Parameters", "Other Parameters", "Other parameters")
NUMPYDOC = re.compile(r"^[\w*, ]+ : .{1,100}\n +[A-Z`\"]")  # name, type, and words on the next line


def plain(text: str) -> str:
    """Convert prose to reStructuredText: double the backticks and escape characters with a special meaning."""
    parts = CODE.split(text.replace("``", "`"))
    return "".join(f"``{part}``" if k % 2 else SPECIAL.sub(r"\\\1", part) for k, part in enumerate(parts))


def items(text: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Split prose at the arguments that it explains: pairs (names, words); text before the first argument has no name."""
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    if not known:
        return [("", text)]
    names_pattern = rf"(?:{known})(?:,? \([^()]*\))?"
    mark = re.compile(
        rf"(?:^|(?<=[.;] )|(?<=\n))((?:{names_pattern})(?:(?:, | and )(?:{names_pattern}))*)(, [^:.;\n]{{1,24}})? ?: "
    )
    matches = list(mark.finditer(text))
    parts = [("", text[: matches[0].start() if matches else None])]
    for k, match in enumerate(matches):
        end = matches[k + 1].start() if k + 1 < len(matches) else None
        parts.append((match.group(1) + (match.group(2) or ""), text[match.end() : end]))
    return [(name, re.sub(r"\s+", " ", words).strip(" ;")) for name, words in parts if words.strip() or name]


def split(lines: list[str]) -> list[tuple[str, str]]:
    """Split a docstring into pairs (section, paragraph); text before the first one has "". Formulas keep their lines."""
    paragraphs: list[tuple[str, str]] = []
    section, block = "", []

    def close() -> None:
        if block:
            paragraphs.append((section, "\n".join(block)))
            block.clear()

    for k, line in enumerate(lines):
        if RULE.match(line.strip()):
            continue
        if k + 1 < len(lines) and RULE.match(lines[k + 1].strip()):
            close()
            section = line.strip()
        elif not line.strip():
            close()
        else:
            block.append(line.rstrip())
    close()
    return paragraphs


def names_of(obj: Any) -> list[str]:
    """Return the arguments of a callable, or the fields of a class."""
    try:
        return [name for name in inspect.signature(obj).parameters if name not in ("self", "cls")]
    except (TypeError, ValueError):
        return []


def field(kind: str, name: str, words: str) -> list[str]:
    """Return a field list entry, on one line."""
    return [f":{kind} {name}: {plain(words)}"]


def formatted(lines: list[str], names: list[str]) -> list[str]:
    """Format a docstring as reStructuredText."""
    blocks: list[str] = []
    fields: list[str] = []
    arguments: list[str] = []
    examples: list[str] = []
    for section, paragraph in split(lines):
        if section in ("Raises", "Warns"):
            paragraph = ALONE.sub(r"\1: ", paragraph)
            parts = re.split(r"\n(?=[A-Z]\w+(?:, [A-Z]\w+)*(?: \(a warning\))?: )", paragraph)
            for part in parts:
                error = ERROR.match(part)
                if error is None:
                    raise ValueError(f"Raises: '{part}' does not begin with an error and a colon")
                words = re.sub(r"\s+", " ", part[error.end() :])
                fields += [
                    line
                    for part_text in error.group(1).split(", ")
                    for line in field("raises", part_text, words)
                ]
        elif section in ("Returns", "Source"):
            fields += (
                field(section.lower(), "", re.sub(r"\s+", " ", paragraph)) if section == "Returns" else []
            )
            blocks += [plain(paragraph), ""] if section == "Source" else []
        elif section in PARAMETERS and NUMPYDOC.match(paragraph):
            for part_text in re.split(r"\n(?=\S)", paragraph):
                head, _, words = part_text.partition("\n")
                names_given, _, kind = head.partition(" : ")
                words = re.sub(r"\s+", " ", words).strip()
                arguments.append(f"   * **{plain(names_given)}** ({plain(kind)}): {plain(words)}")
        elif section == "Examples":
            examples += [*(f"   {line}" for line in paragraph.split("\n")), ""]
        elif paragraph.startswith("    "):
            blocks += ["::", "", *(f"    {line}" for line in paragraph.split("\n")), ""]
        else:
            for name, words in items(paragraph, names):
                raised = RAISES.match(words) if not name else None
                if raised:
                    fields += field("raises", raised.group(1), words[raised.end() :])
                elif name:
                    arguments.append(f"   * **{plain(name)}**: {plain(words)}")
                else:
                    blocks += [plain(words), ""]
    if arguments:
        fields = [":Parameters:", *arguments, "", *fields]
    shown = [".. code-block:: pycon", "", *examples] if examples else []
    return [*blocks, *fields, "", *shown]


def fields_of(cls: type) -> list[str]:
    """List the fields of a dataclass or named tuple, with the comments on their lines in the source."""
    if not (dataclasses.is_dataclass(cls) or hasattr(cls, "_fields")):
        return []
    try:
        source = inspect.getsource(cls)
    except (OSError, TypeError):
        return []
    items_of_list = []
    for line in re.split(r"\n    (?:@|def )", source)[0].split("\n"):
        match = FIELD.match(line)
        if match and not match.group(1).startswith("_"):
            words = f": {plain(match.group(3))}" if match.group(3) else ""
            items_of_list.append(f"* ``{match.group(1)}`` ({plain(match.group(2).strip())}){words}")
    return ["Fields:", "", *items_of_list, ""] if items_of_list else []


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Convert a docstring in place; autodoc calls it for every object."""
    names = names_of(obj) if what in ("class", "exception", "function", "method") else []
    field_lines = fields_of(obj) if what == "class" else []
    lines[:] = [*formatted(lines, names), *field_lines]


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Skip fields of named tuples, which are listed with their class, and old names."""
    words = str(getattr(obj, "__doc__", ""))
    return True if words.startswith(("Alias for field number", "Old name of ")) else None


def without_backs(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Remove links from source pages back to the reference: viewcode uses the module of one name for all of them."""
    if page.startswith("_modules/") and "body" in context:
        context["body"] = re.sub(r'<a class="viewcode-back"[^>]*>\[docs\]</a>', "", context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the conversion of docstrings."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    app.connect("html-page-context", without_backs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
