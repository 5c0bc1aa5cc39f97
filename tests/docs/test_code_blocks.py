"""Every code block of the documentation works: Python runs, commands and files are understood."""

import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import torch
from code_blocks import (
    PAGES,
    TUTORIALS,
    Block,
    blocks,
    check_command,
    commands,
    execute,
    inline_commands,
    split,
)
from command_line import call
from paths import ROOT

from lifelong_co.config.task_file import read_tasks
from lifelong_co.experiments.sweep.grid import grids_from_toml

pytestmark = pytest.mark.usefixtures("fresh_registry")

LANGUAGES = {"", "python", "toml", "text", "bibtex"}
"""Blocks in braces are directives of Sphinx, which `make docs` checks."""


def name(page: Path) -> str:
    """Return the path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def having(language: str) -> list[Path]:
    """Return the pages that are not tutorials and have a block in a language to run."""
    return [
        page
        for page in PAGES
        if page.parent != TUTORIALS and any(b.language == language and b.run for b in blocks(page))
    ]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a new folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_is_of_a_kind_that_is_tested(page):
    """A block in another language would escape these tests."""
    for block in blocks(page):
        assert block.language in LANGUAGES or block.language.startswith("{"), block.place


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_is_known(page):
    """Commands, their options and values are those of the program, and so are make's targets."""
    shell = [block for block in blocks(page) if block.is_shell]
    found = [(block.place, words) for block in shell for words in commands(block)]
    found += [(name(page), words) for span in inline_commands(page) for words in split(span)]
    for place, words in found:
        try:
            check_command(words)
        except Exception as error:
            pytest.fail(f"{place}: {' '.join(words)}: {error}")


@pytest.mark.parametrize("page", having("toml"), ids=name)
def test_toml_is_understood(page, tmp_path):
    """Each file is read by the code that reads such files."""
    for block in blocks(page):
        if block.language == "toml" and block.run:
            read_toml(block, tmp_path)


def read_toml(block: Block, folder: Path) -> None:
    """Read a task file, a sweep file or the entry points of a plugin."""
    data = tomllib.loads(block.code)
    if "project" in data:
        assert list(data["project"]["entry-points"]) == ["lifelong_co"], block.place
    elif isinstance(data.get("tasks"), list) and isinstance(data["tasks"][0], dict):
        (folder / "tasks.toml").write_text(block.code)
        assert read_tasks(folder / "tasks.toml"), block.place
    else:
        assert grids_from_toml(block.code, block.place, folder), block.place


@pytest.mark.parametrize("page", having("python"), ids=name)
def test_python_runs(page, elsewhere):  # noqa: ARG001
    """The Python of a page runs from top to bottom."""
    module = ModuleType("page")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for block in blocks(page):
            if block.language == "python" and block.run:
                execute(block, module)


@pytest.mark.parametrize("page", sorted(TUTORIALS.glob("*.md")), ids=name)
def test_tutorial_works(page, elsewhere):
    """A tutorial works as a whole: its files are written, its Python and its commands run."""
    module = ModuleType("tutorial")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for block in blocks(page):
            if block.run:
                follow(block, module, elsewhere)


def follow(block: Block, module: ModuleType, folder: Path) -> None:
    """Do what a reader does with a block; a first line such as `# mine.toml` names a file."""
    if block.language == "toml":
        file = re.match(r"# ([\w-]+\.toml)\b", block.code)
        assert file, f"{block.place}: expected the name of the file in its first line"
        (folder / file[1]).write_text(block.code)
        read_toml(block, folder)
    elif block.language == "python":
        execute(block, module)
    elif block.is_shell:
        for program, *arguments in commands(block):
            if program == "lifelong-co":
                outcome = call(*arguments)
                assert outcome.status == 0, f"{block.place}: {outcome.err}"


CHEAP = sorted(
    {
        tuple(words[1:])
        for page in PAGES
        for block in blocks(page)
        if block.is_shell
        for words in commands(block)
        if words[0] == "lifelong-co"
        and (words[1] in ("tasks", "plugins", "upstream") or "--dry-run" in words)
        and not any(word in words for word in ("fetch", "--plot"))
        and not any(word.endswith(".toml") for word in words)
    }
)


@pytest.mark.parametrize("arguments", CHEAP, ids=" ".join)
def test_cheap_command_runs(arguments, elsewhere):  # noqa: ARG001
    """Commands that only look, anywhere in the documentation, end well."""
    outcome = call(*arguments)
    assert outcome.status == 0, outcome.err
