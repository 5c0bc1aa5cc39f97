"""The code blocks of the documentation, and how tests read and run them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import attrs
import typer
from lifelong_co_cli.main import app
from paths import ROOT

TUTORIALS = ROOT / "docs" / "tutorials"
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "ARCHITECTURE.md",
        ROOT / "benchmarks" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").glob("*/README.md"),
    ]
)
FENCE = re.compile(r"^ *```(?P<language>[^\n`]*)\n(?P<code>.*?)^ *```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run by the tests: .+ -->\s*\Z")
# What a line of a shell block may begin with.
PROGRAMS = {
    "lifelong-co",
    "make",
    "python",
    "pip",
    "pytest",
    "torchrun",
    "git",
    "cd",
    "grep",
    "jupyter",
}


@attrs.frozen
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    code: str
    run: bool
    """False where a comment above it says why the tests do not run it."""

    @property
    def place(self) -> str:
        """Where it is, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def is_shell(self) -> bool:
        """Whether it holds commands: it names no language and begins with a known program."""
        words = self.code.split(maxsplit=1)
        return not self.language and bool(words) and words[0] in PROGRAMS


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, from top to bottom."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page=page,
            line=text.count("\n", 0, found.start()) + 1,
            language=found["language"].strip(),
            code=found["code"],
            run=NOT_RUN.search(text, 0, found.start()) is None,
        )
        for found in FENCE.finditer(text)
    ]


def inline_commands(page: Path) -> list[str]:
    """Return the commands that the text of a page names, e.g. `lifelong-co tasks`."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(span.split()) for span in re.findall(r"`(lifelong-co [^`]+)`", text)]


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the words of each command of a shell block; a pipe separates two of them."""
    for line in block.code.replace("\\\n", " ").splitlines():
        yield from split(line)


def split(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line, without comments and variables."""
    command: list[str] = []
    for word in [*shlex.split(line, comments=True), "|"]:
        if word != "|":
            command.append(word)
        elif command:
            yield command
            command = []


def check_command(words: list[str]) -> None:
    """Check that a command is known, down to its options; raise what the program would say."""
    program, *arguments = words
    if program == "torchrun":
        program, arguments = "lifelong-co", arguments[arguments.index("lifelong_co_cli.main") + 1 :]
    assert program in PROGRAMS, f"unknown program {program!r}"
    if program == "lifelong-co":
        parse(arguments)
    elif program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(arguments) <= set(targets), f"unknown target in {words}"
    elif program == "python" and arguments[0].endswith(".py"):
        assert (ROOT / arguments[0]).is_file(), f"no such program: {arguments[0]}"


def parse(arguments: list[str]) -> None:
    """Parse the arguments of `lifelong-co` as the program does, and run nothing."""
    command = typer.main.get_command(app)
    rest = list(arguments)
    while rest and (inner := getattr(command, "commands", None)) is not None:
        name = rest.pop(0)
        assert name in inner, f"unknown command {name!r} of lifelong-co"
        command = inner[name]
    if rest and "--help" not in rest:
        command.make_context(command.name, rest)


def execute(block: Block, module: ModuleType) -> None:
    """Execute Python in a module, so that the blocks of a page see each other."""
    padding = "\n" * block.line  # errors name the line of the page
    exec(compile(padding + block.code, str(block.page), "exec"), module.__dict__)
