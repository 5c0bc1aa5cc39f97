"""The solver in docs/tutorials/own_solver.md is checked, registered and trained as printed."""

import json
import re
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch
from paths import ROOT

import lifelong_co as lco
from lifelong_co.testing import check_solver

DOCS = ROOT / "docs" / "tutorials" / "own_solver.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", DOCS.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture
def documented(fresh_registry: None) -> Iterator[ModuleType]:  # noqa: ARG001
    """Return the page's code as one module, with its plugin registered and its parameters."""
    module = ModuleType("documented")
    for block in BLOCKS:
        exec(compile(block, str(DOCS), "exec"), module.__dict__)
    lco.register_plugin(module)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield module


def test_documented_solver_is_under_fifty_lines():
    """Imports, network, policy and registration are one block; blank lines count."""
    assert "class Mine" in BLOCKS[0]
    assert "register_solvers" in BLOCKS[0]
    assert len(BLOCKS[0].splitlines()) < 50


def test_documented_check_passes(documented):
    """The check on the page passes, also for a restored copy."""
    documented.test_mine()
    other = lco.solver("mine", "tsp", width=16)
    check_solver(lco.solver("mine", "tsp", width=16), factory=lambda: other)


def test_documented_solver_learns_two_tasks(documented, tmp_path, monkeypatch):
    """The run on the page learns both tasks, consolidates on the second and changes parameters."""
    monkeypatch.chdir(tmp_path)
    run = documented.train()
    lines = map(json.loads, (tmp_path / "runs" / "mine" / "log.jsonl").read_text().splitlines())
    first, second = (line["losses"] for line in lines if "losses" in line)
    assert "consolidation" not in first
    assert second["consolidation"] >= 0
    assert [len(row) for row in run.costs] == [2, 2]
    one, two = (run.solver(after=k).module.state_dict() for k in (1, 2))
    assert not any(torch.equal(one[name], two[name]) for name in one)
