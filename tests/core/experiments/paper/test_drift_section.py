"""Pictures of a decision that drifts."""

import attrs
import pytest
import synthetic_runs
import torch
from matplotlib.axes import Axes
from tiny_runs import tiny_config, tiny_learn

import lifelong_co as lco
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.experiments.paper import drift_section
from lifelong_co.experiments.paper.drift import example, find
from lifelong_co.experiments.paper.drift_section import pictures

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_a_run_gives_an_example_with_its_pictures(tmp_path, problem):
    """Solvers after a task and after the last are read back; four pictures come of it."""
    made = tiny_learn(tiny_config("fine-tuning", problem, sizes=(7, 8)), tmp_path)
    run = load_run(made.folder.path)
    found = example(run)
    assert found is not None
    task, drift = found
    assert task == "U7"
    assert drift.then.actions[drift.step] != drift.now.actions[drift.step]
    assert int(drift.probs(drift.then).argmax()) == drift.then.actions[drift.step]
    assert int(drift.probs(drift.now).argmax()) == drift.now.actions[drift.step]
    nodes = set(range(7) if problem == "tsp" else range(8))
    assert set(drift.then.actions) == set(drift.now.actions) == nodes
    drawn = pictures(run, task, drift)
    names = ["then", "now", "actions", "confidence"]
    assert [picture.key for picture in drawn] == [f"drift-{problem}-{name}" for name in names]
    assert all(picture.png.startswith(PNG) for picture in drawn)


def test_solvers_without_forced_starts_are_drawn_too(tmp_path):
    """INViT begins a CVRP with a decision: what comes before it is the depot."""
    solvers = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        solver = lco.solver("invit", problem="cvrp", dim_emb=16, dim_ff=16, nb_heads=2,
                            state_k=[6, 8], action_k=4)  # fmt: skip
        solver.module.eval()
        solvers.append(solver)
    generator = torch.Generator().manual_seed(0)
    instances = lco.distribution("U", problem="cvrp").sample(6, 8, generator=generator)
    drift = find(*solvers, instances)
    assert drift is not None
    assert drift.then.forced == 0
    assert drift.number(0) == 1
    run = load_run(synthetic_runs.write(tmp_path / "run", synthetic_runs.config()))
    assert all(picture.png.startswith(PNG) for picture in pictures(run, "U8", drift))


def test_without_places_of_the_nodes_there_are_no_maps(tmp_path):
    """An ATSP has only distances: the actions and the confidence are drawn."""
    made = tiny_learn(tiny_config("fine-tuning", sizes=(7, 8)), tmp_path)
    run = load_run(made.folder.path)
    task, drift = example(run)
    matrix = lco.problem("atsp").instances(matrix=(1 - torch.eye(7))[None])
    drawn = pictures(run, task, attrs.evolve(drift, instance=matrix))
    assert [picture.key for picture in drawn] == ["drift-tsp-actions", "drift-tsp-confidence"]


def test_of_many_nodes_those_of_the_decision_have_numbers(tmp_path, monkeypatch):
    """The bars name them, and the caption says so."""
    made = tiny_learn(tiny_config("fine-tuning", sizes=(7, 8)), tmp_path)
    run = load_run(made.folder.path)
    task, drift = example(run)
    monkeypatch.setattr(drift_section, "CROWDED", 3)
    numbers = []
    written = Axes.annotate

    def noted(axes, text, *given, **named):
        numbers.append(text)
        return written(axes, text, *given, **named)

    monkeypatch.setattr(Axes, "annotate", noted)
    then = pictures(run, task, drift)[0]
    assert "only those of the decision have one" in then.caption
    likeliest = {action for action, *_ in drift.likeliest}
    shown = [
        str(drift.number(i)) for i, action in enumerate(drift.now.actions) if action in likeliest
    ]
    assert set(shown) <= set(numbers)
