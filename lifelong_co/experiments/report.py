"""What a report consists of, before it is written in any form."""

from collections.abc import Mapping

import attrs

from lifelong_co.experiments.sheet import Sheet


@attrs.frozen
class Picture:
    """A PNG."""

    key: str
    """Name of its file."""
    caption: str
    png: bytes
    wide: bool = False
    """Whether it takes the whole width of the page, and scrolls on a phone."""


@attrs.frozen
class Section:
    """Tables and pictures that belong together."""

    heading: str
    text: str = ""
    sheets: tuple[Sheet, ...] = ()
    pictures: tuple[Picture, ...] = ()
    missing: str = ""
    """Why there is neither table nor picture."""
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
    """Empty where it is the only part."""
    text: str
    sections: tuple[Section, ...]


@attrs.frozen
class Report:
    """A report."""

    title: str
    parts: tuple[Part, ...]
    left_out: tuple[str, ...] = ()
    """What was found and not used, and why."""
    meanings: Mapping[str, str] = attrs.field(factory=dict)
    """What its terms mean."""
    text: str = ""
    """Stands below the title."""

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
        """A line for each section that has nothing."""
        empty = [section for section in self.sections if section.empty and section.missing]
        return [f"{section.heading}: {section.missing}" for section in empty]
