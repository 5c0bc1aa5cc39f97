"""The page docs/tutorials/own_problem.md shows the whole file of the example, part by part."""

import re

from paths import ROOT

DOCS = ROOT / "docs" / "tutorials" / "own_problem.md"
FILE = (
    ROOT / "examples" / "lifelong-co-prize-collecting" / "src" / "lifelong_co_prize_collecting.py"
)


def test_page_shows_the_file_of_the_example() -> None:
    """The first blocks are the file from top to bottom; `test_code_blocks` runs them."""
    page = DOCS.read_text(encoding="utf-8").partition("An entry point of the group")[0]
    shown = "".join(re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    source = FILE.read_text(encoding="utf-8")
    assert [line for line in shown.splitlines() if line] == [
        line for line in source.splitlines() if line
    ]
