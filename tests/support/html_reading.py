"""Models and helpers of several test files: html."""

import html.parser


class Reader(html.parser.HTMLParser):
    """Rows of cells, and whether every tag is closed in turn."""

    def __init__(self, page):
        super().__init__()
        self.open, self.rows, self.words = [], [], ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
