"""A parser of HTML pages: it collects links and tags and checks that tags are balanced."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Collects links and tags; fails at a closing tag without an opening one."""

    VOID = ("meta", "img")

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.open: list[str] = []
        self.tags: list[str] = []
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note a tag and its link."""
        self.tags.append(tag)
        self.links += [value or "" for name, value in attributes if name in ("src", "href")]
        self.names += [value or "" for name, value in attributes if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that this tag was opened last."""
        assert self.open.pop() == tag


def parse(text: str) -> Page:
    """Return a parsed page in which every tag is closed."""
    page = Page()
    page.feed(text)
    assert page.open == []
    return page
