"""Wrong command lines: each has status 2, one line that names the thing, and changes no file."""

import os
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from command_line import Outcome, call, contents, spawn, wait
from paths import ROOT

TRIALS = ROOT / "benchmarks" / "trials"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(TRIALS))
    WRONG = runpy.run_path(str(TRIALS / "command_lines.py"))["WRONG"]
    LAY_OUT = runpy.run_path(str(TRIALS / "command_files.py"))["lay_out"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Work in a folder with the files of the table and a finished run."""
    folder = tmp_path_factory.mktemp("wrong")
    before = Path.cwd()
    os.chdir(folder)
    LAY_OUT(folder, lambda arguments: call(*arguments))
    yield folder
    os.chdir(before)


def tree(folder: Path) -> tuple[list[Path], dict[str, bytes]]:
    """Return all paths under a folder, and the bytes of its files."""
    return sorted(folder.rglob("*")), contents(folder)


def refused(outcome: Outcome, named: str) -> bool:
    """Return whether a command was refused as it should be."""
    lines = outcome.err.splitlines()
    return (
        outcome.status == 2
        and len(lines) == 1
        and lines[0].startswith("lifelong-co: ")
        and re.search(named, lines[0]) is not None
    )


@pytest.mark.parametrize("case", WRONG, ids=[case.words for case in WRONG])
def test_wrong_command_line_is_refused(case: Any, place: Path) -> None:
    """The refusal names the option, the name or the file; no file or folder is made."""
    before = tree(place)
    outcome = call(*case.arguments)
    assert refused(outcome, case.named), outcome
    assert tree(place) == before


@pytest.mark.parametrize("case", WRONG[7::60], ids=[case.words for case in WRONG[7::60]])
def test_wrong_command_line_is_refused_in_a_new_process(case: Any, place: Path) -> None:
    """The same holds in a shell: the exit status, and nothing else on standard error."""
    before = tree(place)
    outcome = wait(spawn(*case.arguments, cwd=place))
    assert refused(outcome, case.named), outcome
    assert tree(place) == before


def test_table_has_many_commands() -> None:
    """Every command with options that can be wrong is in the table, and no line twice."""
    commands = {case.words.split()[0] for case in WRONG}
    known = {"run", "pretrain", "sweep", "compare", "report", "evaluate", "solve", "reference"}
    assert known | {"benchmark", "tasks", "demo", "upstream", "import-checkpoint"} <= commands
    assert len(WRONG) >= 200
    assert len({case.words for case in WRONG}) == len(WRONG)


def allocate_in_torch() -> None:
    """Ask the CPU for more memory than there is."""
    torch.empty(2**46)


def allocate_in_numpy() -> None:
    """Ask for more memory than an address space has."""
    np.zeros(2**58)


def allocate_beyond_int64() -> None:
    """Ask for a number of elements that torch cannot even count."""
    torch.empty(10**30)


def allocate_on_gpu() -> None:
    """Fail as a full GPU does, in several lines."""
    raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nGPU 0 …")


@pytest.mark.parametrize(
    "allocate", [allocate_in_torch, allocate_in_numpy, allocate_beyond_int64, allocate_on_gpu]
)
def test_exhausted_memory_is_one_line(
    allocate: Any, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line says what to reduce; the status is that of a fault."""
    monkeypatch.setattr("lifelong_co.runs.trained_solver.load_solver", lambda *_, **__: allocate())
    before = tree(place)
    outcome = call("evaluate", "run")
    assert outcome.status == 1
    [line] = outcome.err.splitlines()
    assert line.startswith("lifelong-co: memory exhausted (")
    assert "--tests" in line
    assert tree(place) == before


@pytest.mark.usefixtures("place")
def test_control_characters_of_a_path_are_escaped() -> None:
    """The name of a folder cannot color the terminal or start a line."""
    outcome = call("evaluate", "a\x1b[31m\nb")
    assert outcome.status == 2
    assert "\x1b" not in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize("command", ["evaluate", "solve", "benchmark"])
def test_help_says_how_often_invit_solves_an_instance(command: str) -> None:
    """It does not start at every node."""
    assert "INViT" in call(command, "--help").out


def test_help_shows_no_value_for_the_option_help() -> None:
    """Typer would show ``<bool>``."""
    for command in ((), ("solve",), ("upstream",), ("upstream", "fetch")):
        assert "bool" not in call(*command, "--help").out
