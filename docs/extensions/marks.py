"""Replace the part of a page between two marks, which a program writes."""

from __future__ import annotations

import re


def between(page: str, mark: str, text: str) -> str:
    """Return `page` with `text` between <!-- mark --> and <!-- end of mark -->; ValueError unless it has both exactly once."""
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"the page needs one line '{begin}' and one '{end}'")
    marked = re.compile(f"({re.escape(begin)}\n).*({re.escape(end)})", re.DOTALL)
    return marked.sub(lambda match: f"{match.group(1)}\n{text.strip()}\n\n{match.group(2)}", page)
