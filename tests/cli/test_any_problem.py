"""A plugin's problem in every command that learns: the `open-tsp` of docs/guides/plugins.md."""

import re
from pathlib import Path

import pytest
from command_line import MODEL, SMALL, call
from paths import ROOT

DOCS = ROOT / "docs" / "guides" / "plugins.md"
PROBLEM = "--problem=open-tsp"
TINY = [f"--solver-option={name}={value}" for name, value in MODEL.items()]
ORDER = """
@lco.hookimpl
def register_orders(register):
    register("open-tsp:two", [{"distribution": "U"}, {"distribution": "GM", "size": 7}])
"""


@pytest.fixture(autouse=True)
def open_tsp(install, monkeypatch, tmp_path):
    """Install the examples of the page as plugins, and work in an empty folder."""
    text = DOCS.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (problem,) = (block for block in blocks if "class OpenTSP" in block)
    install(
        "open-tsp", open_tsp_problem=problem, open_tsp_order=f"import lifelong_co as lco\n{ORDER}"
    )
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["run", "--preset=demo"], ["C", "GM", "R"]),
        (["run", "--preset=paper", "--order=5"], ["G", "C", "R", "U", "GM", "E"]),
        (["run", "--preset=small", "--order=two"], ["U", "GM"]),
        (["run", "--preset=small", "--order=1", "--drift"], ["E", "C", "G", "U", "R", "GM"]),
        (["run", "--preset=small", "--solver=invit"], ["E", "C", "G", "U", "R", "GM"]),
    ],
)
def test_presets_and_orders_serve_it(words, labels, monkeypatch):
    """Everything of the run is built; a named order takes sizes from the preset or its tables."""
    for slow in ("learned_briefly", "seconds_of_tests"):
        monkeypatch.setattr(f"lifelong_co.api.estimate.{slow}", lambda *_, **__: 1.0)
    done = call(*words, PROBLEM, "--device=cpu", "--dry-run")
    assert done.status == 0, done.err
    assert re.findall(r'^distribution = "(\w+)"', done.out, re.MULTILINE) == labels


def test_run_learns_it_and_other_problems_lack_its_order():
    """A run ends with costs of open tours; the order belongs to this problem only."""
    Path("tasks.toml").write_text(
        'epochs = 1\nbatches = 2\nbatch_size = 4\ntasks = [{distribution = "U", size = 6},'
        ' {distribution = "G", size = 5}]\n'
    )
    for method in ("llr-bc", "feng"):
        done = call("run", PROBLEM, "--tasks=tasks.toml", f"--method={method}", *SMALL)
        assert done.status == 0, done.err
    refused = call("run", "--problem=tsp", "--order=two", "--device=cpu", "--dry-run")
    assert refused.status == 2
    assert "Unknown order of problem 'tsp' 'two'; expected one of: 1, 2" in refused.err


def test_pretraining_serves_it():
    """The family of a preset is drawn for the problem."""
    few = ("--iterations=1", "--tests=2", "--device=cpu", "--out=start")
    done = call("pretrain", PROBLEM, "--preset=demo", *TINY, *few)
    assert done.status == 0, done.err
    assert done.out.splitlines()[-1] == "pretrained: start"


def test_sweep_plans_it():
    """A sweep takes numbers and names of orders, and checks every name before it starts."""
    grid = ("--methods=llr-bc", "--problems=open-tsp", "--orders=1,two", "--device=cpu")
    done = call("sweep", *grid, "--dry-run", "--workers=1", "--out=sweep")
    assert done.status == 0, done.err
    for order in ("order1", "two"):
        assert f"open-tsp-pomo-llr-bc-small-{order}-seed0" in done.out


def test_references_of_it_are_refused_by_name():
    """Without a model of the problem nothing is solved: it is no TSP."""
    refused = call("reference", PROBLEM, "--distribution=U", "--size=5", "--references=refs")
    assert refused.status == 2
    assert "with a reference model (tsp, cvrp, mtvrp, atsp), got 'open-tsp'" in refused.err
    assert not Path("refs").exists()


def test_listing_shows_its_order():
    """`lifelong-co tasks` lists the orders of plugins after those of the paper."""
    assert "  two: for --problem open-tsp\n" in call("tasks").out
