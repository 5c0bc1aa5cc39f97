"""Bytes flipped, cut and deleted in every file of a folder; then commands that read it."""

import random
import shutil
from pathlib import Path
from typing import Any

import attrs
from ends import End, Failed, changed, finished, refused, require, tree, warned
from forks import Outcome, call, start
from kills import fatal
from tiny import PRETRAIN, RUN, copy, lay_out, make, same

NAME = "folder"
COMMANDS = {
    "finished": (
        ("run", "--resume", NAME),
        ("compare", NAME, "--json"),
        ("evaluate", NAME, "--json", "--device=cpu"),
        ("evaluate", NAME, "--json", "--device=cpu", "--after=1"),
        ("report", NAME, "--out=report"),
    ),
    "interrupted": (
        ("run", "--resume", NAME),
        ("run", "--resume", NAME),
        ("compare", NAME, "--json"),
        ("evaluate", NAME, "--json", "--device=cpu"),
    ),
    "pretrained": (
        ("pretrain", "--resume", NAME),
        ("evaluate", NAME, "--json", "--device=cpu"),
    ),
}
"""Folder to the commands that read it."""
ORDER = ("finished", "interrupted", "finished", "interrupted", "pretrained")
INTERRUPTED_AT = 34
"""The write before which the run is killed: in its second task."""


@attrs.frozen
class Originals:
    """The folders before damage, and what the commands do with them."""

    place: Path
    _said: dict[tuple[str, tuple[str, ...]], Outcome] = attrs.field(factory=dict)
    _results: dict[str, Any] = attrs.field(factory=dict)

    def make(self, kind: str) -> None:
        """Make a folder if it does not exist yet."""
        if (self.place / kind).is_dir():
            return
        if kind == "interrupted":
            start([*RUN, f"--out={kind}"], self.place, fatal(INTERRUPTED_AT)).wait()
            if not (self.place / kind / "checkpoints" / "after-task-1").is_dir():
                raise RuntimeError("expected a run that is killed in its second task")
        else:
            make(PRETRAIN if kind == "pretrained" else RUN, self.place, kind)

    def said(self, kind: str, words: tuple[str, ...]) -> Outcome:
        """Return the end of a command without damage."""
        if (kind, words) not in self._said:
            lay_bare(self, kind)
            self._said[kind, words] = call(words, self.place)
            if words[0] == "report":
                self._results["report"] = tree(self.place / "report")
        return self._said[kind, words]

    def results(self, command: str) -> Any:
        """Return what the command leaves without damage."""
        if command not in self._results:
            kind = {"run": "finished", "pretrain": "pretrained"}[command]
            self.make(kind)
            self._results[command] = same(command, self.place / kind)
        return self._results[command]


def prepare(place: Path) -> Originals:
    """Write the files that the commands read."""
    lay_out(place)
    return Originals(place)


def lay_bare(originals: Originals, kind: str) -> Path:
    """Return a fresh copy of a folder, under the name that the commands use."""
    originals.make(kind)
    shutil.rmtree(originals.place / "report", ignore_errors=True)
    copy(originals.place / kind, originals.place / NAME)
    return originals.place / NAME


def trial(originals: Originals, draw: random.Random, number: int) -> tuple[End, str]:
    """Damage a file or folder, carry out a command, and judge the end."""
    kind = ORDER[number % len(ORDER)]
    words = draw.choice(COMMANDS[kind])
    originals.said(kind, words)
    folder = lay_bare(originals, kind)
    victim = draw.choice(sorted(folder.rglob("*")))
    how = damage(victim, draw)
    before = tree(folder)
    what = f"{kind}: {how} {victim.relative_to(folder)}, then {' '.join(words)}"
    outcome = call(words, originals.place)
    try:
        return judge(originals, kind, words, before, outcome), what
    except Failed as failure:
        raise Failed(f"{what}: {failure}") from failure


def judge(
    originals: Originals,
    kind: str,
    words: tuple[str, ...],
    before: dict[str, bytes | None],
    outcome: Outcome,
) -> End:
    """Return the end of a trial."""
    folder, healthy = originals.place / NAME, originals.said(kind, words)
    if not finished(outcome):
        require(changed(before, tree(folder)) == [], f"refused, but changed files\n{outcome}")
        if healthy.status != 0 and outcome.err == healthy.err:
            return End.HARMLESS  # as without damage
        return refused(outcome, [NAME])
    mended = tree(folder) != before
    if "--resume" in words:
        unread = compared(originals.results(words[0]), folder, words[0], outcome)
        if warned(outcome):
            return End.WARNED
        return End.RIGHT if mended and not unread else End.HARMLESS
    require(not mended, f"a command that only reads has changed files\n{outcome}")
    if warned(outcome):
        return End.WARNED
    if words[0] == "report":
        if tree(originals.place / "report") == originals.results("report"):
            return End.HARMLESS
        require(said(outcome) != said(healthy), f"another report without a word\n{outcome}")
        return End.WARNED  # a line says which part is left out
    require(outcome.out == healthy.out, f"another result without a word\n{outcome}\n{healthy.out}")
    return End.HARMLESS


def said(outcome: Outcome) -> tuple[str, str]:
    """Return the output of a command."""
    return outcome.out, outcome.err


def compared(expected: Any, folder: Path, command: str, outcome: Outcome) -> list[str]:
    """Check the results; return the files that differ and are refused when they are read."""
    try:
        found = same(command, folder)
    except (OSError, ValueError, AssertionError) as error:
        found = {"": repr(error)}
        if command == "run":
            return unreadable(folder, outcome)
    if found == expected:
        return []
    if command != "run" or not isinstance(found, dict):
        raise Failed(f"other results without a word\n{outcome}")
    differing = changed(expected, found)
    wrong = [name for name in differing if not name.startswith("checkpoints/after-task-")]
    require(not wrong, f"other results without a word: {wrong}\n{outcome}")
    return differing


def unreadable(folder: Path, outcome: Outcome) -> list[str]:
    """Return the damaged copies of lines below ``after-task-*``; anything else is a failure."""
    for name in ("costs.csv", "costs.csv.sha256", "metrics.json", "log.jsonl", "config.toml"):
        require((folder / name).is_file(), f"{name} is missing after the end\n{outcome}")
    return ["checkpoints/after-task-*"]


def damage(victim: Path, draw: random.Random) -> str:
    """Damage a file or remove a folder; return what was done."""
    if victim.is_dir():
        shutil.rmtree(victim)
        return "removed"
    content = bytearray(victim.read_bytes())
    how = draw.choice(("bit", "byte", "cut", "cut", "deleted", "zeros", "longer", "line"))
    at = draw.randrange(max(1, len(content)))
    if how == "deleted":
        victim.unlink()
        return how
    if how == "bit" and content:
        content[at] ^= 1 << draw.randrange(8)
    elif how == "byte" and content:
        content[at] = draw.choice(b"0123456789 aZ#,.\n\"'=\xff\x00")
    elif how == "cut":
        del content[at:]
    elif how == "zeros":
        content[at : at + 512] = bytes(len(content[at : at + 512]))
    elif how == "line":
        lines = bytes(content).splitlines(keepends=True)
        lines.pop(draw.randrange(len(lines))) if lines else None
        content = bytearray(b"".join(lines))
    else:
        content += draw.randbytes(draw.randint(1, 40))
    victim.write_bytes(content)
    return f"{how} at {at} in"
