"""A page as a parser sees it: its links, its tags, and that these are balanced."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Collects links and tags; fails where a tag closes what is not open."""

    VOID = ("meta", "img")

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.open: list[str] = []
        self.tags: list[str] = []
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note a tag, and where it links to."""
        self.tags.append(tag)
        self.links += [value or "" for name, value in attributes if name in ("src", "href")]
        self.names += [value or "" for name, value in attributes if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that this tag is the one that was opened last."""
        assert self.open.pop() == tag


def parse(text: str) -> Page:
    """Return a parsed page; everything in it is closed."""
    page = Page()
    page.feed(text)
    assert page.open == []
    return page
