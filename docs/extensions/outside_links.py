"""Shows a link to a file outside `docs/` as the path of that file in the repository."""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)\s]*)\)")


def rewritten(text: str, page: Path, docs: Path) -> str:
    """Return Markdown in which links that leave `docs/` are text and a path."""

    def replace(link: re.Match[str]) -> str:
        title, target = link[1], link[2].partition("#")[0]
        path = Path(os.path.normpath(page.parent / target))
        if path.is_relative_to(docs) or not path.exists():  # Sphinx reports a broken link
            return link[0]
        inside = path.relative_to(docs.parent).as_posix()
        return title if title.strip("`") == inside else f"{title} (`{inside}`)"

    return LINK.sub(replace, text)


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Rewrite the links of a page before it is parsed."""
    source[0] = rewritten(source[0], Path(app.env.doc2path(name)), Path(app.srcdir))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
