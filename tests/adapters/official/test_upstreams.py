"""The table of official codebases."""

from lifelong_co_adapters.official.upstreams import UPSTREAMS
from paths import ROOT


def test_gitmodules_agree_with_the_table():
    """The table has the submodules of the checkout, with their addresses."""
    text = (ROOT / ".gitmodules").read_text()
    listed = {
        name: f"path = adapters/upstream/{name}\n\turl = {up.url}\n"
        for name, up in UPSTREAMS.items()
    }
    assert text.count("[submodule") == len(listed)
    assert all(section in text for section in listed.values())
