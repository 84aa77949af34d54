"""An HTML page for tests: its elements, rows of tables, texts of scripts, and the visible text."""

import html.parser
import json
import re

EMPTY = ("meta", "link", "br", "hr", "img", "input")  # elements without an end tag


class Reader(html.parser.HTMLParser):
    """Elements with their attributes, rows of cells, scripts and words; every other element must be closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.scripts, self.rows, self.pieces = [], [], [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts[-1] += data
        elif "style" not in self.open:
            self.pieces.append(data)
            if self.open and self.open[-1] in ("td", "th"):
                self.rows[-1][-1] += data

    @property
    def words(self):
        """Words in order, unchanged."""
        return "".join(self.pieces)

    @property
    def text(self):
        """The words, with one space between those of two elements."""
        return re.sub(r"\s+", " ", " ".join(self.pieces))

    def data(self, key):
        """The data of a script element."""
        at = [k for k, a in enumerate(a for tag, a in self.tags if tag == "script") if a.get("id") == key]
        return json.loads(self.scripts[at[0]])
