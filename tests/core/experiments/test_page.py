"""A report as a page: self-contained, escaped, readable on a phone."""

import re

import attrs
import pages

from lifelong_co.experiments.page import page, table
from lifelong_co.experiments.report import Part, Picture, Report, Section
from lifelong_co.experiments.sheet import Sheet, words
from lifelong_co.experiments.style import STYLE

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
    assert text.count("<table") == text.count('<div class="wide" tabindex="0"><table')
    assert text.count("<img") == text.count("<figure><img")


def test_the_row_is_named_by_its_method():
    """Also where orders, or another method, stand in the second column."""
    for header in (("method", "orders", "AP"), ("order", "method", "AP"), ("set", "size", "AP")):
        row = words("a", "b", "1.0")
        sheet = Sheet(key="k", title="", header=header, blocks=((row,),), left=2)
        wanted = "a" if header[0] == "method" else "b"
        assert f'<th scope="row">{wanted}</th>' in table(sheet)


def test_names_are_escaped():
    """No title, heading, cell, caption or note brings markup with it."""
    sheet = Sheet(key="x", title=EVIL, header=(EVIL, "b"), blocks=((words(EVIL, EVIL),),),
                  spans=((EVIL, 2),), note=EVIL, common=EVIL)  # fmt: skip
    section = Section(EVIL, EVIL, (sheet,), (Picture("p", EVIL, b"png"),))
    made = Report(EVIL, (Part(EVIL, EVIL, (section, Section(EVIL, missing=EVIL))),), (EVIL,))
    parsed = pages.parse(page(made))
    assert "script" not in parsed.tags


def test_empty_sections_are_listed_at_the_end():
    """A section without table and picture has no heading, a part without sections no title."""
    empty = Section("Ablations", missing="needs runs with `--ablation`.")
    made = Report("Title", (Part("A part", "text", (empty,)),))
    text = page(made)
    assert "A part" not in text
    assert "<h3" not in text
    assert text.count("Ablations") == 1
    assert '<h2 id="missing">Not shown</h2>' in text
    assert "<li>Ablations: needs runs with <code>--ablation</code>.</li>" in text


def test_title_that_repeats_the_heading_is_shown_once():
    """Open and folded; a title that says more is shown whole."""
    sheet = Sheet(key="x", title="The runs", header=("a", "b"), blocks=((words("c", "d"),),))
    longer = attrs.evolve(sheet, title="The runs (pomo)")
    alone = page(Report("Title", (Part("", "", (Section("The runs", sheets=(longer,)),)),)))
    assert "<h4>The runs (pomo)</h4>" in alone
    for folded in (False, True):
        section = Section("The runs", sheets=(sheet,), folded=folded)
        text = page(Report("Title", (Part("", "", (section,)),)))
        assert text.count(">The runs<") == 1
        assert "<table" in text


def test_wide_pictures_scroll_on_a_phone():
    """They keep a readable width, and their box scrolls."""
    assert re.search(r"figure\.wide \{[^}]*overflow-x: auto", STYLE)
