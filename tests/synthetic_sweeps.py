"""A sweep file, and an engine whose runs have invented costs."""

from collections.abc import Sequence
from pathlib import Path

import attrs
from synthetic_runs import finish

FILE = """
preset = "demo"
seeds = [0, 1]
device = "cpu"
tests = 4
[[grids]]
orders = "1-2"
methods = ["llr-bc", "fine-tuning"]
preset = "small"
[[grids]]
name = "ablations"
orders = 1
preset = "small"
methods = ["llr-bc"]
ablations = ["KLD"]
variants = [{name = "alpha 1", options = {alpha = 1.0}}]
"""


@attrs.define
class Ended:
    """A run that has ended with a status, or one that waits to be asked to stop."""

    status: int | None

    def poll(self) -> int | None:
        """Return the status."""
        return self.status

    def stop(self) -> None:
        """End as a run does that was asked."""
        self.status = 143

    kill = stop


@attrs.define
class Invented:
    """An engine whose runs end at once, with invented costs unless something is to happen."""

    events: dict[str, list[int | None]] = attrs.field(factory=dict)
    """Statuses with which the first attempts at a job end."""
    slots: int = 2
    attempts: list[str] = attrs.field(factory=list)

    def submit(self, arguments: Sequence[str], log: Path) -> Ended:
        """Do a run."""
        command, resume, place = arguments
        assert (command, resume) == ("run", "--resume")
        folder = Path(place)
        self.attempts.append(folder.name)
        waiting = self.events.get(folder.name, [])
        if waiting:
            with log.open("a") as file:
                file.write("it broke\n\n")
            return Ended(waiting.pop(0))
        finish(folder)
        return Ended(0)
