"""The site's pages list what is there, and its extensions show it."""

import importlib
import re

import pytest
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
