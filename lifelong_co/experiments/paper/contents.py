"""What a report consists of, before it is written in any form."""

import attrs

from lifelong_co.experiments.sheet import Sheet


@attrs.frozen
class Picture:
    """A PNG."""

    key: str
    """Name of its file."""
    caption: str
    png: bytes


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
    """Whether the page shows it only when asked."""

    @property
    def empty(self) -> bool:
        """Whether there is neither table nor picture."""
        return not (self.sheets or self.pictures)


@attrs.frozen
class Part:
    """The sections about runs on the same tasks."""

    title: str
    text: str
    sections: tuple[Section, ...]


@attrs.frozen
class Book:
    """A report."""

    title: str
    parts: tuple[Part, ...]
    left_out: tuple[str, ...] = ()
    """What was found and not used, and why."""

    @property
    def sheets(self) -> list[Sheet]:
        """All tables."""
        return [sheet for part in self.parts for each in part.sections for sheet in each.sheets]

    @property
    def pictures(self) -> list[Picture]:
        """All pictures."""
        return [one for part in self.parts for each in part.sections for one in each.pictures]

    @property
    def missing(self) -> list[str]:
        """A line for each section that has nothing."""
        return [
            f"{section.heading}: {section.missing}"
            for part in self.parts
            for section in part.sections
            if section.empty and section.missing
        ]
