"""Testing a solver: the best of its starts, for any batch, in evaluation mode."""

from typing import Any, cast

import attrs
import pytest
import torch
from goldens import PROBLEMS, golden

import lifelong_co as lco
from lifelong_co import evaluation
from lifelong_co.errors import InvalidRolloutError
from lifelong_co.evaluation import best_costs, mean_cost, note_batches, official_rows
from lifelong_co.tensors import records

both = pytest.mark.parametrize("name", PROBLEMS)


def drawn(name: str, batch: int, size: int = 7) -> Any:
    """Return uniform instances in float64."""
    generator = torch.Generator().manual_seed(size)
    instances = lco.distribution("U", name).sample(batch, size, generator=generator)
    return records.transform(instances, lambda tensor: tensor.double())


@both
def test_best_cost_is_the_least_over_all_starts(name: str) -> None:
    """On the instances of the goldens, it is the least of the stored costs."""
    stored = golden(name)
    best = best_costs(stored.solver(), stored.instances)
    torch.testing.assert_close(best, stored.cost.min(dim=1).values, rtol=1e-13, atol=0)


@both
@pytest.mark.parametrize("augment", [False, True])
def test_costs_do_not_depend_on_the_batch(
    name: str, augment: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Instances are solved one at a time, three at a time, all at once, or as many as fit."""
    solver, instances = golden(name).solver(), drawn(name, 8)
    together = best_costs(solver, instances, augment=augment)
    assert together.shape == (8,)
    for batch in (1, 3, 8, 100):
        apart = best_costs(solver, instances, augment=augment, batch=batch)
        torch.testing.assert_close(apart, together, rtol=1e-12, atol=0)
    monkeypatch.setattr(evaluation, "CPU_WORK", 1)
    apart = best_costs(solver, instances, augment=augment)
    torch.testing.assert_close(apart, together, rtol=1e-12, atol=0)


@both
def test_augmentation_never_makes_costs_worse(name: str) -> None:
    """The eight images include the original, so the best cost is never worse, here often better."""
    solver, instances = golden(name).solver(), drawn(name, 12)
    plain = best_costs(solver, instances)
    augmented = best_costs(solver, instances, augment=True)
    assert (augmented <= plain * (1 + 1e-12)).all()
    assert (augmented < plain * (1 - 1e-6)).any()


@both
@pytest.mark.parametrize("training", [True, False])
def test_training_mode_is_restored(name: str, training: bool) -> None:
    """The network is in evaluation mode during the test only, and no graph is kept."""
    solver, instances = golden(name).solver(), drawn(name, 2)
    solver.module.train(training)
    modes: list[bool] = []
    handle = solver.module.layers[0].register_forward_hook(
        lambda module, *_: modes.append(module.training)
    )
    costs = best_costs(solver, instances, batch=1)
    handle.remove()
    assert modes == [False, False]
    assert solver.module.training is training
    assert not costs.requires_grad


def test_solver_cannot_change_what_it_is_tested_on() -> None:
    """The instances stay, and a cost of changed instances is refused."""
    solver, instances = golden("tsp").solver(), drawn("tsp", 3)
    before = instances.nodes.clone()

    class Halving:
        problem, module = solver.problem, solver.module

        def rollout(self, given: Any, decode: Any) -> Any:
            given.nodes.mul_(0.5)
            return solver.rollout(given, decode)

    with pytest.raises(InvalidRolloutError, match=r"Halving.*finite: check it with .*check_sol"):
        best_costs(cast(Any, Halving()), instances)
    assert torch.equal(instances.nodes, before)


@both
def test_mean_is_over_all_instances(name: str) -> None:
    """Groups of several sizes count by their number of instances."""
    solver, groups = golden(name).solver(), [drawn(name, 5, 6), drawn(name, 2, 9)]
    costs = [best_costs(solver, group) for group in groups]
    by_hand = (float(costs[0].sum()) + float(costs[1].sum())) / 7
    assert mean_cost(solver, groups) == pytest.approx(by_hand, rel=1e-12)
    assert mean_cost(solver, groups[:1]) == pytest.approx(float(costs[0].mean()), rel=1e-12)
    augmented = mean_cost(solver, groups, augment=True)
    assert augmented <= by_hand


def normalising(norm: str = "batch_no_track") -> Any:
    """Return an Omni whose encoder normalises over the batch, except with another ``norm``."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        solver = lco.solver("omni", problem="tsp", **OMNI, norm=norm)
    solver.module.double()
    return solver


OMNI = {
    "embedding_dim": 16,
    "head_num": 2,
    "qkv_dim": 4,
    "encoder_layer_num": 1,
    "ff_hidden_dim": 16,
}


def test_official_batches_are_those_of_the_tester() -> None:
    """At the sizes of the paper they are official; smaller sizes have the next larger one's."""
    sizes = (7, 20, 21, 50, 51, 100, 1000)
    assert [official_rows(size) for size in sizes] == [64, 64, 32, 32, 16, 16, 16]


@pytest.mark.parametrize(("size", "rows"), [(20, 64), (30, 32)])
def test_network_that_normalises_over_its_batch_gets_official_batches(
    size: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Costs depend on the batch, so neither device nor memory choose it; images count."""
    solver, instances = normalising(), drawn("tsp", 70, size)
    limits = ("CPU_WORK", "GPU_WORK")
    found = []
    for limit in (1, 10**9):
        for name in limits:
            monkeypatch.setattr(evaluation, name, limit)
        found.append(best_costs(solver, instances))
    assert torch.equal(*found)
    assert torch.equal(found[0], best_costs(solver, instances, batch=rows))
    assert not torch.equal(found[0], best_costs(solver, instances, batch=rows - 1))
    few = records.select(instances, slice(rows // 8 + 1))
    augmented = best_costs(solver, few, augment=True)
    assert torch.equal(augmented, best_costs(solver, few, augment=True, batch=rows // 8))
    assert not torch.equal(augmented, best_costs(solver, few, augment=True, batch=rows))


def test_log_says_when_costs_depend_on_the_batch() -> None:
    """It names the sizes; networks with other norms need no such line."""
    lines: list[str] = []
    for norm in ("instance", "batch", "none"):
        note_batches(normalising(norm), lines.append)
    assert lines == []
    solver = normalising()
    note_batches(solver, lines.append)
    assert solver.module.training
    [line] = lines
    assert "normalises over its batch" in line
    assert "64 up to size 20, 32 up to size 50, 16 above" in line


@both
def test_random_images_of_several_batches_are_solved_in_single_precision(name: str) -> None:
    """The angles of some of the instances are no contiguous tensor."""
    solver = golden(name).solver(torch.float32)
    instances = records.transform(drawn(name, 8), lambda tensor: tensor.float())
    whole = best_costs(solver, instances, augment=True, symmetries="random")
    apart = best_costs(solver, instances, augment=True, symmetries="random", batch=3)
    torch.testing.assert_close(apart, whole, rtol=1e-4, atol=0)


@both
def test_random_images_do_not_depend_on_the_batch(name: str) -> None:
    """They are the same in every test, and not those of the square."""
    solver, instances = golden(name).solver(), drawn(name, 8)
    random = best_costs(solver, instances, augment=True, symmetries="random")
    for batch in (1, 3):
        apart = best_costs(solver, instances, augment=True, symmetries="random", batch=batch)
        torch.testing.assert_close(apart, random, rtol=1e-12, atol=0)
    assert not torch.equal(random, best_costs(solver, instances, augment=True))
    plain = best_costs(solver, instances, symmetries="random")
    assert torch.equal(plain, best_costs(solver, instances))
    assert (random <= plain * (1 + 1e-12)).all()


@both
@pytest.mark.parametrize("augment", [False, True])
def test_infeasible_solutions_are_not_scored(name: str, augment: bool) -> None:
    """A network with NaN parameters is refused, and its mode is restored."""
    solver = golden(name).solver()
    solver.module.train()
    for parameter in solver.module.parameters():
        torch.nn.init.constant_(parameter, torch.nan)
    with pytest.raises(InvalidRolloutError, match="POMO, instance 1 of 5: expected a complete"):
        best_costs(solver, drawn(name, 5), augment=augment, batch=2)
    assert solver.module.training


def test_no_image_may_be_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that visits a node twice could be the cheapest of the eight."""
    solver = golden("tsp").solver()

    def spoiled(instances: Any, decode: str) -> Any:
        rollout = rolled(instances, decode)
        actions = rollout.actions.clone()
        actions[-1] = 0  # the last image of the last instance
        return attrs.evolve(rollout, actions=actions)

    rolled = solver.rollout
    monkeypatch.setattr(type(solver), "rollout", lambda _, *given: spoiled(*given))
    with pytest.raises(InvalidRolloutError, match="POMO, instance 5 of 5: expected a complete"):
        best_costs(solver, drawn("tsp", 5), augment=True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"symmetries": "rnadom"}, "Unknown symmetries 'rnadom'.*Did you mean 'random'"),
        ({"augment": "false"}, "augment: expected true or false, got 'false'"),
        ({"batch": 0}, "batch: expected a whole number of at least 1, got 0"),
    ],
)
def test_other_test_than_the_named_one_is_refused(given: dict[str, Any], said: str) -> None:
    """Its costs would be those of the default."""
    stored = golden("tsp")
    with pytest.raises(lco.LifelongError, match=said):
        best_costs(stored.solver(), stored.instances, **{"augment": True, **given})
