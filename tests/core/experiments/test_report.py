"""The parts of a report: what they hold, and what is missing."""

from lifelong_co.experiments.report import Part, Picture, Report, Section
from lifelong_co.experiments.sheet import Sheet, words

SHEET = Sheet(key="t", title="T", header=("a",), blocks=((words("1"),),))
PICTURE = Picture("p", "P", b"png")


def test_tables_and_pictures_of_all_parts_are_listed() -> None:
    """In the order of parts and sections."""
    first = Part("one", "", (Section("A", sheets=(SHEET,)), Section("B", pictures=(PICTURE,))))
    second = Part("two", "", (Section("C", sheets=(SHEET, SHEET)),))
    made = Report("title", (first, second))
    assert [section.heading for section in made.sections] == ["A", "B", "C"]
    assert made.sheets == [SHEET] * 3
    assert made.pictures == [PICTURE]
    assert made.missing == []


def test_only_empty_sections_with_a_reason_are_missing() -> None:
    """A section with a table or a picture is not missing, even if it has a reason."""
    sections = (
        Section("full", sheets=(SHEET,), missing="needs runs."),
        Section("drawn", pictures=(PICTURE,), missing="needs runs."),
        Section("without reason"),
        Section("empty", missing="needs matplotlib."),
    )
    assert [section.empty for section in sections] == [False, False, True, True]
    assert Report("title", (Part("", "", sections),)).missing == ["empty: needs matplotlib."]


def test_a_section_that_several_parts_have_is_named_with_its_parts() -> None:
    """Equal lines are one line."""
    empty, full = Section("A", missing="needs runs."), Section("A", sheets=(SHEET,))
    parts = [
        Part(title, "", (section,))
        for title, section in zip("xyz", (empty, full, empty), strict=True)
    ]
    assert Report("title", tuple(parts)).missing == ["x; z: A: needs runs."]
