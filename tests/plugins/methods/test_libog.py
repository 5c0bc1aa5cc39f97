"""LiBOG: which epoch it keeps, and what its two variants judge it by."""

from pathlib import Path

import attrs
import pytest
import torch
from lifelong_co_plugins.methods import libog as libog_module
from tiny_runs import begun, nudge, parameters, same, tiny_config, tiny_learn

import lifelong_co as lco
from lifelong_co.protocols import Rollout
from lifelong_co.runs.run import Run


@pytest.mark.parametrize(("variant", "kept"), [("corrected", 1), ("official", 2)])
def test_kept_epoch_depends_on_the_variant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str, kept: int
) -> None:
    """Corrected: the epoch of the lowest cost. Official: the epoch of the highest loss."""
    run = begun(tmp_path, tiny_config("libog", sizes=(5, 6), variant=variant, intra_weight=0.0))
    learner, method = run.learner, run.method
    method.before_task(learner)
    loss, cost = (2.0, 1.0, 3.0), (6.0, 4.0, 5.0)
    moments = []
    for epoch in range(3):
        nudge(learner.solver.module, 1.0)
        moments.append(parameters(run))
        monkeypatch.setattr(libog_module, "policy_loss", lambda _, e=epoch: loss[e])
        costs = torch.tensor([[cost[epoch], 99.0], [cost[epoch], 98.0]])
        rollout = Rollout(actions=torch.zeros(2, 2, 1), cost=costs, log_likelihood=costs)
        assert list(method.loss_terms(learner, rollout)) == []
        method.after_epoch(learner)
    tensors = method.state_dict()["best"]["exemplar"]["tensors"]
    assert [same(tensors, moment) for moment in moments] == [each == kept for each in range(3)]


def test_small_last_batch_weighs_less(tmp_path: Path) -> None:
    """The mean of an epoch is over its instances, as in the official code."""
    run = begun(tmp_path, tiny_config("libog", sizes=(5, 6), intra_weight=0.0))
    learner, method = run.learner, run.method
    learner.tasks = [attrs.evolve(task, last_batch_size=1) for task in learner.tasks]
    method.before_task(learner)
    for learner.batch, rows in enumerate((4, 1)):
        costs = torch.full((rows, 5), 2.0 - learner.batch)
        rollout = Rollout(actions=torch.zeros(rows, 5, 5), cost=costs, log_likelihood=costs)
        assert list(method.loss_terms(learner, rollout)) == []
    method.after_epoch(learner)
    assert method.state_dict()["best"]["lowest"] == (4 * 2.0 + 1 * 1.0) / 5


def test_official_variant_refuses_another_divergence() -> None:
    """The official code has one divergence."""
    with pytest.raises(lco.ConfigError, match="divergence: expected 'rkl' with variant 'official'"):
        lco.method("libog", variant="official", divergence="kl")


def test_official_loss_includes_the_terms(tmp_path: Path) -> None:
    """An epoch is judged by ``L_DRL`` and all added terms."""
    config = tiny_config("libog", variant="official", intra_weight=5.0, fisher_batches=1)
    losses: list[dict[str, torch.Tensor]] = []
    notes: list[float] = []

    def watch(run: Run, each: dict[str, torch.Tensor]) -> None:
        losses.append(each)
        notes.append(run.method.state_dict()["best"]["total"])

    tiny_learn(config, tmp_path, on_step=watch)
    assert set(losses[-1]) == {"cost", "policy", "ewc", "intra"}
    want = float(sum(losses[-1].values()) - losses[-1]["cost"])
    assert -(notes[-1] - notes[-2]) == pytest.approx(want, rel=1e-5)


def test_first_epoch_has_no_divergence(tmp_path: Path) -> None:
    """The divergence within a task starts with its second epoch."""
    losses: list[tuple[int, bool]] = []
    tiny_learn(
        tiny_config("libog", fisher_batches=1),
        tmp_path,
        on_step=lambda run, each: losses.append((run.learner.epoch, "intra" in each)),
    )
    assert {epoch for epoch, _ in losses} == {0, 1}
    assert all(there == (epoch > 0) for epoch, there in losses)
