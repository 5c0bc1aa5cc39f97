"""EWC and LiBOG: Fisher information, the quadratic terms, and the best solver so far."""

import math
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods import libog as libog_module
from lifelong_co_plugins.methods.ewc import Anchors
from lifelong_co_plugins.methods.regularization.exemplar import BestSoFar, Exemplar
from lifelong_co_plugins.methods.regularization.fisher import fisher_information
from lifelong_co_plugins.methods.regularization.frozen import frozen_copy
from tiny_runs import BATCH_SIZE, exact_run, parameters, same, tiny_config, tiny_learn
from torch import Tensor, nn

import lifelong_co as lco
from lifelong_co.learner import train_batch
from lifelong_co.protocols import Method, Rollout
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Run, start
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.seeding import generator
from lifelong_co.tasks import instances as streams
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import with_parameters


def begun(folder: Path, method: str, **options: Any) -> Run:
    """Return a run of two tasks that has taken no step."""
    return start(tiny_config(method, sizes=(5, 6), **options), RunFolder(folder / "run"))


def test_fisher_by_hand(tmp_path: Path) -> None:
    """The sum over batches of ``g^2 / B``, ``g`` that of the mean log-likelihood.

    By backpropagation through the solver's own parameters, and with a second batch that is the
    sum's other half; the run's streams, the parameters and their gradients stay as they were.
    """
    run = begun(tmp_path, "ewc")
    learner, module = run.learner, run.learner.solver.module
    before = run.stream.generator.get_state(), run.actions.get_state(), parameters(run)
    fisher = fisher_information(learner, 2)
    assert torch.equal(run.stream.generator.get_state(), before[0])
    assert torch.equal(run.actions.get_state(), before[1])
    assert same(parameters(run), before[2])
    assert all(value.grad is None for value in module.parameters())

    draw = streams.training(learner.tasks[0], learner.problem)
    instances = generator(learner.seed, "fisher instances 0")
    actions = generator(learner.seed, "fisher actions 0")
    want = {name: torch.zeros_like(value) for name, value in module.named_parameters()}
    for _ in range(2):
        batch = draw(instances)
        assert records.rows(batch) == BATCH_SIZE
        rollout = learner.solver.rollout(batch, "sample", generator=actions)
        module.zero_grad()
        (rollout.log_likelihood.sum() / rollout.log_likelihood.numel()).backward()
        for name, value in module.named_parameters():
            if value.grad is not None:
                want[name] += value.grad**2 / BATCH_SIZE
    assert fisher.keys() == want.keys()
    assert max(float(value.max()) for value in want.values()) > 1e-6
    for name, value in want.items():
        torch.testing.assert_close(fisher[name], value, rtol=1e-3, atol=1e-10, msg=name)


class OneParameter:
    """A solver with one parameter: of its two solutions it takes the first with ``sigmoid(x)``."""

    def __init__(self, x: float, *, by_chance: bool = False) -> None:
        self.module = nn.ParameterDict({"x": nn.Parameter(torch.tensor(x))})
        self.by_chance = by_chance

    def rollout(
        self, instances: Any, *_: Any, generator: torch.Generator | None = None, **__: Any
    ) -> Rollout:
        """Take the first solution for one instance of ``B``, unless by chance."""
        B = records.rows(instances)
        first = torch.arange(B) == 0
        if self.by_chance:
            first = torch.rand(B, generator=generator) < self.module["x"].sigmoid()
        taken = torch.where(first, self.module["x"], -self.module["x"])
        cost = torch.full((len(first), 1), math.nan)  # no cost enters
        return Rollout(
            actions=first.long()[:, None, None],
            cost=cost,
            log_likelihood=nn.functional.logsigmoid(taken)[:, None],
        )


def test_fisher_of_a_bernoulli_policy(tmp_path: Path) -> None:
    """``p = sigmoid(x)``: ``g = ((1 - p) - (B - 1) p) / B``, in each of three batches."""
    run = begun(tmp_path, "ewc")
    run.learner.solver = OneParameter(0.4)
    p, B = 1 / (1 + math.exp(-0.4)), BATCH_SIZE
    gradient = ((1 - p) - (B - 1) * p) / B
    fisher = fisher_information(run.learner, 3)
    assert fisher["x"].item() == pytest.approx(3 * gradient**2 / B, rel=1e-5)


def test_fisher_of_several_processes(tmp_path: Path) -> None:
    """With half a batch each, two processes find what one finds: in expectation, so on average.

    The gradient of the mean log-likelihood of ``B`` solutions of a Bernoulli policy has variance
    ``p (1 - p) / B``. Its square deviates by less than twice its mean, so the mean over 1,000
    batches is within five of its standard errors but in one of a million seeds.
    """
    batches, p = 1000, 1 / (1 + math.exp(-0.4))
    for processes in (1, 2):
        config = tiny_config("ewc", sizes=(5, 6))
        tasks = [attrs.evolve(t, batch_size=BATCH_SIZE // processes) for t in config.tasks]
        config = attrs.evolve(config, tasks=tuple(tasks))
        run = start(config, RunFolder(tmp_path / str(processes)))
        run.learner.solver = OneParameter(0.4, by_chance=True)
        run.learner.processes = processes
        found = fisher_information(run.learner, batches)["x"].item() / batches
        expected = p * (1 - p) / BATCH_SIZE**2
        assert found == pytest.approx(expected, rel=5 * 2 / math.sqrt(batches))


def toy_anchors() -> tuple[Anchors, nn.Module]:
    """Return two past tasks of a parameter ``x = (1, 2)``, with round numbers."""
    anchors = Anchors(1)
    for at, fisher in (((0.0, 2.0), (3.0, 5.0)), ((2.0, 5.0), (0.5, 1.0))):
        pair = {"parameters": {"x": torch.tensor(at)}, "fisher": {"x": torch.tensor(fisher)}}
        anchors.past.append(pair)
    return anchors, nn.ParameterDict({"x": nn.Parameter(torch.tensor([1.0, 2.0]))})


def test_penalty_and_its_gradient_by_hand() -> None:
    """``3·1² + 5·0² + 0.5·1² + 1·3² = 12.5``; gradient ``(6 - 1, 0 - 6)``."""
    anchors, module = toy_anchors()
    penalty = anchors.penalty(module)
    penalty.backward()
    assert penalty.item() == 12.5
    (value,) = module.parameters()
    assert value.grad is not None
    assert value.grad.tolist() == [5.0, -6.0]


def nudge(module: nn.Module, by: float) -> None:
    """Move every parameter away from zero."""
    with torch.no_grad():
        for value in module.parameters():
            value += by * torch.sign(value)


def terms(run: Run, method: Method) -> dict[str, float]:
    """Return the sum of a method's terms, by name, on a rollout of its own that it watches."""
    learner = run.learner
    instances = learner.draw(learner.task)
    rollout = learner.solver.rollout(
        instances, "sample", generator=run.actions, observe=method.observer(learner, instances)
    )
    found: dict[str, float] = {}
    for name, term in method.loss_terms(learner, rollout):
        found[name] = found.get(name, 0.0) + term.item()
    return found


@pytest.mark.parametrize(
    ("method", "options", "times"),
    [
        ("ewc", {"weight": 10.0}, 10.0),
        ("ewc", {"weight": 0.5}, 0.5),
        ("libog", {"weight": 10.0}, 10.0),
        ("libog", {"weight": 10.0, "variant": "official"}, 11.0),
    ],
)
def test_how_often_the_quadratic_term_counts(
    tmp_path: Path, method: str, options: dict[str, Any], times: float
) -> None:
    """``weight`` times; in the official LiBOG ``1 + weight`` times. Not at all in a first task."""
    run = begun(tmp_path, method, fisher_batches=2, **options)
    assert "ewc" not in terms(run, run.method)
    run.method.after_task(run.learner)
    run.learner.task = 1
    past = run.method.state_dict()
    (anchor,) = past["past"] if method == "ewc" else past["anchors"]["past"]
    nudge(run.learner.solver.module, 0.1)
    named = run.learner.solver.module.state_dict()
    want = sum(
        float((fisher.double() * (named[name] - anchor["parameters"][name]).double() ** 2).sum())
        for name, fisher in anchor["fisher"].items()
    )
    assert want > 1e-9
    assert terms(run, run.method)["ewc"] == pytest.approx(times * want, rel=1e-4)


@pytest.mark.parametrize("method", ["ewc", "libog"])
def test_one_anchor_for_each_past_task(tmp_path: Path, method: str) -> None:
    """After each task but the last, with the parameters of that moment."""
    config = tiny_config(method, sizes=(5, 6, 5), fisher_batches=1)
    run = tiny_learn(config, tmp_path)
    state = run.method.state_dict()
    past = state["past"] if method == "ewc" else state["anchors"]["past"]
    first, second = (each["parameters"] for each in past)
    assert not same(first, second)
    learned = load_solver(tmp_path / "run", after=2).module.state_dict()
    assert same(second, {name: learned[name] for name in second})


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("elements", [1, 250, 2**21])
def test_divergence_from_an_exemplar_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: str, elements: int
) -> None:
    """The mean over the rollout's states, however many steps share a pass; nothing else moves."""
    monkeypatch.setattr("lifelong_co_plugins.methods.regularization.exemplar.ELEMENTS", elements)
    run = exact_run(tiny_config("libog", problem), tmp_path)
    learner, solver, exemplar = run.learner, run.learner.solver, Exemplar()
    instances = learner.draw(0)
    assert exemplar.observer(learner, instances) is None
    exemplar.copy(solver)
    taught = frozen_copy(solver.module)
    nudge(solver.module, 0.05)
    now = parameters(run)
    watching = exemplar.observer(learner, instances)
    assert watching is not None
    rkl, distances = lco.divergence("rkl"), []

    def observe(state: Any, log_probs: Tensor) -> None:
        watching(state, log_probs)
        teacher = with_parameters(
            solver.module, taught, lambda: solver.log_probs(solver.encode(instances), state)
        )
        distances.append(rkl(teacher, log_probs).detach())

    solver.rollout(instances, "sample", generator=run.actions, observe=observe)
    parts = list(exemplar.divergences(solver, rkl))
    want = torch.stack(distances).mean().item()
    assert sum(part.item() for part in parts) == pytest.approx(want, rel=1e-9)
    assert want > 1e-6
    assert (len(parts) == 1) == (elements == 2**21)
    assert (len(parts) == len(distances)) == (elements == 1)
    for part in parts:
        part.backward()
    assert any(bool(value.grad.any()) for value in solver.module.parameters())
    assert same(exemplar.tensors, taught)
    assert same(parameters(run), now)
    assert solver.module.training


def test_the_best_epoch_is_kept(tmp_path: Path) -> None:
    """By the lowest mean of the task; the next task begins without one."""
    run = begun(tmp_path, "libog")
    learner, exemplar = run.learner, Exemplar()
    best = BestSoFar(exemplar)
    best.before_task(learner)
    kept = []
    for values in ([3.0, 1.0], [5.0, 0.0], [], [1.0, 2.0], [2.0, 1.5]):
        nudge(learner.solver.module, 1.0)
        for value in values:
            best.note(value)
        best.after_epoch(learner)
        kept.append(same(exemplar.tensors, parameters(run)))
    assert kept == [True, False, False, True, False]
    assert best.lowest == 1.5
    best.before_task(learner)
    assert exemplar.tensors == {}
    best.note(99.0)
    best.after_epoch(learner)
    assert same(exemplar.tensors, parameters(run))


@pytest.mark.parametrize(("variant", "kept"), [("corrected", 1), ("official", 2)])
def test_which_epoch_libog_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str, kept: int
) -> None:
    """Corrected: the one of the lowest cost. Official: the one of the highest loss."""
    run = begun(tmp_path, "libog", variant=variant, intra_weight=0.0)
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


def test_the_official_loss_counts_the_terms(tmp_path: Path) -> None:
    """It is judged by ``L_DRL`` and all that is added to it."""
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


def test_a_first_epoch_has_no_best(tmp_path: Path) -> None:
    """The divergence within a task starts with its second epoch."""
    losses: list[tuple[int, bool]] = []
    tiny_learn(
        tiny_config("libog", fisher_batches=1),
        tmp_path,
        on_step=lambda run, each: losses.append((run.learner.epoch, "intra" in each)),
    )
    assert {epoch for epoch, _ in losses} == {0, 1}
    assert all(there == (epoch > 0) for epoch, there in losses)


def test_without_weights_it_is_fine_tuning(tmp_path: Path) -> None:
    """To the bit, for both."""
    plain = tiny_learn(tiny_config("fine-tuning"), tmp_path / "plain")
    for method, options in (
        ("ewc", {"weight": 0.0}),
        ("libog", {"weight": 0.0, "intra_weight": 0.0}),
    ):
        config = tiny_config(method, fisher_batches=1, **options)
        assert same(parameters(tiny_learn(config, tmp_path / method)), parameters(plain))


def test_a_step_goes_down_the_quadratic(tmp_path: Path) -> None:
    """With an overwhelming weight, steps lead back to where the first task ended."""
    run = begun(tmp_path, "ewc", weight=1e9, fisher_batches=2)
    run.method.after_task(run.learner)
    run.learner.task = 1
    nudge(run.learner.solver.module, 0.05)
    penalties = [float(train_batch(run)["ewc"]) for _ in range(6)]
    assert penalties[-1] < penalties[0]
