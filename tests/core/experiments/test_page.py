"""A report as a page: self-contained, escaped, readable on a phone."""

import re

import pages

from lifelong_co.experiments.page import page
from lifelong_co.experiments.report import Part, Picture, Report, Section
from lifelong_co.experiments.sheet import Sheet, words

EVIL = '<script src="http://example.org/x.js">&"'


def test_the_page_is_self_contained(report):
    """No link leaves the page, no script runs, every tag is closed, every anchor is there."""
    text = page(report)
    parsed = pages.parse(text)
    assert not {"script", "link", "iframe", "object"} & set(parsed.tags)
    inner = [link for link in parsed.links if link.startswith("#")]
    data = [link for link in parsed.links if link.startswith("data:image/png;base64,")]
    assert len(inner) + len(data) == len(parsed.links)
    assert {link[1:] for link in inner} <= set(parsed.names)
    assert len(data) == len(report.pictures) == 6  # three for each problem
    assert len(set(parsed.names)) == len(parsed.names)
    bare = re.sub(r"base64,[^\"]*", "", text)
    assert not re.search(r"https?:|//|@import|url\(|<script", bare)
    assert parsed.tags.count("table") == len(report.sheets)


def test_wide_tables_scroll_in_their_own_box_and_pictures_fit(report):
    """A phone's page is as wide as its screen: what is wider has a box."""
    text = page(report)
    assert 'name="viewport" content="width=device-width' in text
    assert text.count("<table") == text.count('<div class="wide"><table')
    assert text.count("<img") == text.count("<figure><img")


def test_names_are_escaped():
    """No title, heading, cell, caption or note brings markup with it."""
    sheet = Sheet(key="x", title=EVIL, header=(EVIL, "b"), blocks=((words(EVIL, EVIL),),),
                  spans=((EVIL, 2),), note=EVIL, common=EVIL)  # fmt: skip
    section = Section(EVIL, EVIL, (sheet,), (Picture("p", EVIL, b"png"),))
    made = Report(EVIL, (Part(EVIL, EVIL, (section, Section(EVIL, missing=EVIL))),), (EVIL,))
    parsed = pages.parse(page(made))
    assert "script" not in parsed.tags
