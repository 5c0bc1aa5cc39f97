"""The page of a comparison."""

import re

import pages

from lifelong_co.experiments.comparison import publish
from lifelong_co.experiments.comparison.comparison import Comparison
from lifelong_co.experiments.comparison.report import make_report
from lifelong_co.experiments.page import page


def test_the_page_is_self_contained(comparison: Comparison) -> None:
    """Nothing is loaded from elsewhere: images are data, there is no script and no style sheet."""
    text = page(make_report(comparison, publish.draw(comparison)))
    parsed = pages.parse(text)
    assert len(parsed.links) == 2
    assert all(link.startswith("data:image/png;base64,") for link in parsed.links)
    assert not {"script", "link", "iframe"} & set(parsed.tags)
    assert "http" not in re.sub(r"base64,[^\"]*", "", text)
    assert "@import" not in text
    assert parsed.tags.count("details") == 1 + 4  # the terms, and the costs of each run
