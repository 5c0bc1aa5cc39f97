"""Wrong command lines: the table of `command_lines`, and mutations of right ones."""

import random
import re
from pathlib import Path

import attrs
from command_files import MODEL, RUN, lay_out
from command_lines import WRONG, Case
from ends import End, changed, finished, refused, require, tree
from forks import call

RIGHT = (
    RUN[:-1],
    ("run", "--tasks=tasks.toml", *MODEL, "--seed=3", "--dry-run"),
    ("run", "--tasks=tasks.toml", *MODEL[:-1], "--method=ewc", "--problem=tsp"),
    ("run", "--tasks=tasks.toml", *MODEL[:-1], "--alpha=1.5", "--weighting=entropy"),
    ("run", "--resume", "run"),
    ("sweep", "--methods=ewc,llr-bc", "--tasks=tasks.toml", "--seeds=0-1", "--dry-run"),
    ("evaluate", "run", "--task=U:5", "--json", "--tests=4"),
    ("evaluate", "run", "--after=1"),
    ("compare", "run", "--format=csv"),
    ("report", "run", "--out=page"),
    ("solve", "four.vrp", "--checkpoint=run", "--out=four.sol", "--best-known=36"),
    ("tasks", "--preset=small", "--problem=tsp"),
    ("plugins", "--json"),
    ("pretrain", "--tasks=tasks.toml", "--iterations=2", "--tests=2", "--device=cpu"),
)
# Nothing that lies outside the folder of the trials may be named here.
VALUES = (
    *("''", "-1", "0", "nan", "inf", "-inf", "1e400", "1.5", "0x1", "1_0", "٣", "=cmd", ","),
    *(
        "run",
        "mine",
        "notes.txt",
        "absent",
        "four.vrp",
        "tasks.toml",
        "torn.npz",
        ".",
        "a,b",
        "a,,b",
    ),
    *("x" * 300, "a/" * 60 + "a", "--", "-", "é", "\x1b[31m", "a\nb", "*", "~", "$HOME", "true"),
    *("1-", "0-99999999", "99999999999999999999", "pomo", "llr-bc", "U:5", "cvrp", "auto"),
)
# These take a number for which a large value is right, but long.
LONG = re.compile(r"--(tests|iterations|validate-every)=\d{3,}")


@attrs.frozen
class Place:
    """The folder of the trials, and its content."""

    folder: Path
    content: dict[str, bytes | None]


def prepare(folder: Path) -> Place:
    """Write the files and make the run that the command lines refer to."""

    def run(arguments: list[str]) -> None:
        outcome = call(arguments, folder)
        if outcome.status != 0:
            raise RuntimeError(f"expected a healthy command to end well\n{outcome}")

    lay_out(folder, run)
    return Place(folder, tree(folder))


def trial(place: Place, draw: random.Random, number: int) -> tuple[End, str]:
    """Carry out a command line of the table, then mutated ones."""
    case = WRONG[number] if number < len(WRONG) else None
    words = case.arguments if case else mutated(draw)
    outcome = call(words, place.folder)
    what = repr(" ".join(words))[:120]
    try:
        if finished(outcome):
            require(case is None, f"a wrong command line was accepted\n{outcome}")
            return End.RIGHT, what
        differing = changed(place.content, tree(place.folder))
        require(not differing, f"refused, but changed {differing}\n{outcome}")
        end = refused(outcome)
        require(named(case, outcome.err), f"expected {case} in the line\n{outcome}")
        return end, what
    finally:
        restore(place)


def named(case: Case | None, line: str) -> bool:
    """Return whether a refusal says what the table asks for."""
    return case is None or re.search(case.named, line) is not None


def mutated(draw: random.Random) -> list[str]:
    """Return a right command line after one or two mutations."""
    while True:
        words = list(draw.choice(RIGHT))
        for _ in range(draw.choice((1, 1, 2))):
            mutate(words, draw)
        words = ["" if word == "''" else word.replace("=''", "=") for word in words]
        if not (any(LONG.match(word) for word in words) or learns_long(words)):
            return words


def learns_long(words: list[str]) -> bool:
    """Return whether a command can be right and learn a preset's tasks, which takes minutes."""
    short = ("--tasks=tasks.toml", "--resume", "--dry-run")
    return words[0] in ("run", "pretrain") and not any(word in short for word in words)


def mutate(words: list[str], draw: random.Random) -> None:
    """Change one word of a command line."""
    at, how = draw.randrange(len(words)), draw.randrange(6)
    option, equals, _ = words[at].partition("=")
    if how == 0 and len(words) > 1:
        del words[at]
    elif how == 1:
        words.insert(at, draw.choice(words))
    elif how == 2:
        words[at] = words[at][: draw.randrange(len(words[at]) + 1)]
    elif how == 3:
        words.insert(draw.randrange(1, len(words) + 1), draw.choice(draw.choice(RIGHT)))
    elif equals:
        words[at] = f"{option}={draw.choice(VALUES)}"
    else:
        words[at] = draw.choice(VALUES)


def restore(place: Place) -> None:
    """Bring the folder back to what it was."""
    for path in sorted(place.folder.rglob("*"), reverse=True):
        name = str(path.relative_to(place.folder))
        if name not in place.content:
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    for name, content in place.content.items():
        path = place.folder / name
        if content is None:
            path.mkdir(exist_ok=True)
        elif not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)
