"""Links lead to files, and the API pages list modules that exist."""

import importlib
import re

import pytest
from code_blocks import FENCE, PAGES
from paths import ROOT

DOCS = ROOT / "docs"
LISTED = [
    (name, page)
    for page in sorted((DOCS / "api").glob("*.md"))
    for name in re.findall(r"automodule:: ([\w.]+)", page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("name", [name for name, _ in LISTED])
def test_module_of_the_api_exists(name):
    """A module that moves has to move in the API pages, too."""
    importlib.import_module(name)


def test_no_module_is_listed_twice():
    """A name has one place in the API."""
    names = [name for name, _ in LISTED]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file(page):
    """Relative links work in the repository, on pages that Sphinx does not read as well."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", text):
        assert "://" in target or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_line_of_text_begins_with_a_comment(page):
    """Markdown reads such a line as HTML: it ends the paragraph and shows links as brackets."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    assert not re.findall(r"^[ \t]*<!--.*-->[ \t]*\S.*$", text, re.MULTILINE)
