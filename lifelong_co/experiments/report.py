"""The parts of a report: tables, pictures and texts, independent of the form of the output."""

from collections import Counter
from collections.abc import Mapping

import attrs

from lifelong_co.experiments.sheet import Sheet


@attrs.frozen
class Picture:
    """A picture, as PNG."""

    key: str
    """Name of its file."""
    caption: str
    png: bytes
    wide: bool = False
    """Whether it has the full width of the page; on a phone it then scrolls."""


@attrs.frozen
class Section:
    """Tables and pictures that belong together."""

    heading: str
    text: str = ""
    sheets: tuple[Sheet, ...] = ()
    pictures: tuple[Picture, ...] = ()
    missing: str = ""
    """If there is neither table nor picture: the reason."""
    folded: bool = False
    """Whether the page shows a table only after a click on its title."""

    @property
    def empty(self) -> bool:
        """Whether there is neither table nor picture."""
        return not (self.sheets or self.pictures)


@attrs.frozen
class Part:
    """The sections about runs on the same tasks."""

    title: str
    """Empty if it is the only part."""
    text: str
    sections: tuple[Section, ...]


@attrs.frozen
class Report:
    """A report."""

    title: str
    parts: tuple[Part, ...]
    left_out: tuple[str, ...] = ()
    """One line for each folder or file that was not used, with the reason."""
    meanings: Mapping[str, str] = attrs.field(factory=dict)
    """Terms in the report to their explanations."""
    text: str = ""
    """The text below the title."""

    @property
    def sections(self) -> list[Section]:
        """All sections."""
        return [section for part in self.parts for section in part.sections]

    @property
    def sheets(self) -> list[Sheet]:
        """All tables."""
        return [sheet for section in self.sections for sheet in section.sheets]

    @property
    def pictures(self) -> list[Picture]:
        """All pictures."""
        return [picture for section in self.sections for picture in section.pictures]

    @property
    def missing(self) -> list[str]:
        """A line for each section without tables and pictures; several parts are named."""
        several = Counter(section.heading for section in self.sections)
        found: dict[str, list[str]] = {}
        for part in self.parts:
            for section in part.sections:
                if section.empty and section.missing:
                    line = f"{section.heading}: {section.missing}"
                    found.setdefault(line, []).extend([part.title] * (several[section.heading] > 1))
        return [f"{'; '.join(of)}: {line}" if of else line for line, of in found.items()]
