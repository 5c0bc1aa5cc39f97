"""SIGKILL at every write and at random moments of `run`, `sweep`, `pretrain` and `report`."""

import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
from ends import End, Failed, finished, require
from forks import call, fork_runs, start
from tiny import PRETRAIN, RUN, SWEEP, lay_out, make, same

REPORT = ("report", "finished")
STARTS = {"run": RUN, "pretrain": PRETRAIN, "sweep": SWEEP, "report": REPORT}
# A run has the most writes; so it gets the most trials.
TURNS = ("run", "pretrain", "run", "sweep", "run", "report")


@attrs.frozen
class Healthy:
    """Uninterrupted commands; each is carried out when it is needed first."""

    place: Path
    _ended: dict[str, tuple[Any, float]] = attrs.field(factory=dict)

    def results(self, command: str) -> Any:
        """Return what the command leaves."""
        return self._of(command)[0]

    def seconds(self, command: str) -> float:
        """Return how long the command takes."""
        return self._of(command)[1]

    def _of(self, command: str) -> tuple[Any, float]:
        if command not in self._ended:
            if command == "report":
                self.finished()
            seconds = make(STARTS[command], self.place, f"whole-{command}")
            self._ended[command] = same(command, self.place / f"whole-{command}"), seconds
        return self._ended[command]

    def finished(self) -> Path:
        """Return the folder of a finished run."""
        if not (self.place / "finished").is_dir():
            make(RUN, self.place, "finished")
        return self.place / "finished"


def prepare(place: Path) -> Healthy:
    """Write the files that the commands read."""
    lay_out(place)
    return Healthy(place)


def trial(healthy: Healthy, draw: random.Random, number: int) -> tuple[End, str]:
    """Kill a command, continue it, and compare what it leaves with an uninterrupted one."""
    turn, kind = divmod(number, len(TURNS))
    command = TURNS[kind]
    name = f"killed-{command}"
    folder = healthy.place / name
    expected = healthy.results(command)
    shutil.rmtree(folder, ignore_errors=True)
    moments = []
    for kill in range(draw.randint(1, 2)):
        words = again(command, folder) if kill else [*STARTS[command], f"--out={name}"]
        if draw.random() < 0.5 or command == "sweep":
            seconds = draw.uniform(0, 1.1 * healthy.seconds(command))
            moments.append(f"after {seconds:.2f} s")
            work = start(words, healthy.place, fork_runs)
            work.sleep(seconds)
            work.kill()
        else:
            write = 1 + (turn * 3 + kind // 2) % 60 if kill == 0 else draw.randint(1, 40)
            moments.append(f"at write {write}")
            work = start(words, healthy.place, fatal(write))
        killed = work.wait()
        require(killed.status in (0, -signal.SIGKILL), f"not killed\n{killed}")
    outcome = call(again(command, folder), healthy.place, fork_runs)
    what = f"{command} killed {', then '.join(moments)}"
    require(finished(outcome), f"{what}: not continued\n{outcome}")
    if same(command, folder) != expected:
        raise Failed(f"{what}: other bytes than an uninterrupted one\n{outcome}")
    left = [str(path) for path in folder.rglob(".*.tmp")]
    require(not left, f"{what}: temporary files stay: {left}")
    return End.RIGHT, what


def again(command: str, folder: Path) -> list[str]:
    """Return the command that continues a killed one."""
    if command == "report":
        return [*REPORT, f"--out={folder.name}", "--overwrite"]
    if command == "sweep":
        grown = (folder / "sweep.toml").is_file()
        return ["sweep", "--resume", folder.name] if grown else [*SWEEP, f"--out={folder.name}"]
    if (folder / "config.toml").is_file():
        return [command, "--resume", folder.name]
    return [*STARTS[command], f"--out={folder.name}"]


def fatal(number: int) -> Callable[[], None]:
    """Return what makes a fork die before its flush or renaming of this number."""

    def patch() -> None:
        left = number

        def counted(act: Callable[..., Any]) -> Callable[..., Any]:
            def acted(*arguments: Any, **keywords: Any) -> Any:
                nonlocal left
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return act(*arguments, **keywords)

            return acted

        os.fsync, os.replace = counted(os.fsync), counted(os.replace)
        fork_runs()

    return patch
