"""Meta-training: the algorithms against cases worked out by hand, and the loop around them."""

import json
import shutil
from pathlib import Path

import attrs
import pytest
import torch
from tiny_runs import MODEL, same

from lifelong_co import registry
from lifelong_co.errors import (
    IMPORTED,
    PRETRAINED,
    CheckpointError,
    ConfigError,
    FolderError,
    Interrupted,
    UnknownNameError,
)
from lifelong_co.pretraining import loop
from lifelong_co.pretraining.algorithms import ALGORITHMS, adapt, gradient, leaves, maml
from lifelong_co.pretraining.inner import Inner, Moments, adam, moments_of
from lifelong_co.pretraining.settings import configure, settings_of
from lifelong_co.registry import plugins as present_plugins
from lifelong_co.reinforce import greedy_baseline
from lifelong_co.runs import folder as starts
from lifelong_co.runs import import_official as official_checkpoints
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.seeding import generator
from lifelong_co.storage import checkpoint
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import with_parameters

FAMILY = """
epochs = 1
batches = 1
batch_size = 4
tasks = [{distribution = "U", size = 5}, {distribution = "E", size = 6}]
"""
each = pytest.mark.parametrize("algorithm", ALGORITHMS)


@pytest.fixture
def family(tmp_path):
    """Write a family of two tasks."""
    file = tmp_path / "family.toml"
    file.write_text(FAMILY)
    return file


def tiny(family, algorithm="fomaml", solver="pomo", **options):
    """Return a pretraining that takes a fraction of a second."""
    fast = {
        "iterations": 4,
        "validate_every": 2,
        "inner_steps": 2,
        "inner_learning_rate": 1e-2,
        "meta_learning_rate": 0.5 if algorithm == "reptile" else 1e-2,
    }
    return configure(
        algorithm=algorithm,
        options={**fast, **options},
        solver=solver,
        problem="tsp",
        tasks_file=family,
        tests=3,
        solver_options=dict(MODEL),
    )


# The algorithms, on theta = 1 with inner losses theta^2 and the outer loss theta^4 / 4.


def quadratic(rate=0.1, k=2):
    """Return the losses of one call after another, theta and plain gradient descent."""
    calls = iter(range(100))

    def loss(given):
        return given["x"] ** 2 if next(calls) < k else given["x"] ** 4 / 4

    theta = {"x": torch.nn.Parameter(torch.tensor(1.0, dtype=torch.float64))}
    return loss, theta, Inner("sgd", rate, 0.0, k)


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        ("reptile", 1 - 0.8**2),  # each inner step multiplies theta by 1 - 2 * 0.1
        ("fomaml", 0.8**6),  # (0.8^2)^3
        ("maml", 0.8**6 * 0.8**2),  # times the derivative of theta_k by theta
    ],
)
def test_each_algorithm_by_hand(algorithm, expected):
    """Reptile's difference, the first-order gradient and the second-order one; theta stays."""
    loss, theta, inner = quadratic()
    found = ALGORITHMS[algorithm].gradient(loss, theta, inner, None)
    assert found["x"].item() == pytest.approx(expected, abs=1e-15)
    assert not found["x"].requires_grad
    assert theta["x"].item() == 1
    assert theta["x"].grad is None


def test_weight_decay_by_hand():
    """Decay 0.5 adds theta / 2 to the gradient 2 theta: one step of 0.1 leaves 0.75."""
    loss, theta, _ = quadratic(k=1)
    inner = Inner("sgd", 0.1, 0.5, 1)
    assert ALGORITHMS["reptile"].gradient(loss, theta, inner, None)["x"].item() == pytest.approx(
        0.25
    )


def test_an_unused_parameter_gets_a_zero():
    """A parameter that the loss does not depend on has a gradient all the same."""
    theta = leaves({"x": torch.ones(2), "unused": torch.ones(3)})
    assert gradient(theta["x"].sum(), theta)["unused"].tolist() == [0, 0, 0]


def test_a_solver_that_ignores_its_module_is_refused():
    """A loss that depends on none of the parameters given would teach nothing."""
    with pytest.raises(ConfigError, match="depends on none of them"):
        gradient(torch.ones((), requires_grad=True) * 2, leaves({"x": torch.ones(2)}))


def test_inner_adam_is_torchs():
    """Three steps, with weight decay, from nothing and from an optimizer's moments."""
    torch_made = torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64))
    theirs = torch.optim.Adam([torch_made], lr=0.1, weight_decay=0.01)
    start = {"x": torch_made.detach().clone()}
    assert moments_of(theirs, {"x": torch_made}) is None
    fresh = Inner("adam", 0.1, 0.01, 3).begin()
    ours = start
    for number in range(4):
        if number == 2:
            borrowed = Inner("adam", 0.1, 0.01, 3).begin(moments_of(theirs, {"x": torch_made}))
            going_on = {"x": torch_made.detach().clone()}
        theirs.zero_grad()
        (torch_made**3).sum().backward()
        ours = fresh(ours, {"x": 3 * ours["x"] ** 2})
        if number >= 2:
            going_on = borrowed(going_on, {"x": 3 * going_on["x"] ** 2})
        theirs.step()
        torch.testing.assert_close(ours["x"], torch_made.detach(), rtol=0, atol=1e-12)
    torch.testing.assert_close(going_on["x"], torch_made.detach(), rtol=0, atol=1e-12)


def test_inner_adam_can_be_differentiated():
    """Autograd agrees with differences, and where all is zero it gives zero and not NaN."""
    past = Moments(
        3,
        {"x": torch.tensor([0.1, -0.2, 0.0], dtype=torch.float64)},
        {"x": torch.tensor([0.3, 0.1, 0.0], dtype=torch.float64)},
    )

    def moved(by):
        return adam({"x": torch.zeros(3, dtype=torch.float64)}, {"x": by}, 0.1, past)[0]["x"]

    by = torch.tensor([0.5, -0.1, 0.3], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(moved, (by,))
    still = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(moved(still).sum(), still)
    assert found.isfinite().all()


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_maml_through_a_solver(problem):
    """The gradient through two inner steps of POMO is that of differences, and not FOMAML's."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        solver = registry.solver("pomo", problem, **MODEL)
    solver.module.double()
    objective = solver.objective()
    source = registry.distribution("U", problem)
    batches = [
        records.transform(
            source.sample(3, 5, generator=generator(seed, "instances")),
            lambda x: x.double() if x.is_floating_point() else x,
        )
        for seed in range(3)
    ]
    theta = {name: value.detach() for name, value in solver.module.named_parameters()}
    inner = Inner("sgd", 0.1, 0.0, 2)

    def same_every_time():
        """Return a loss whose calls have fixed batches and random numbers."""
        calls = iter(range(3))

        def loss(given):
            number = next(calls)

            def learn():
                stream = generator(number, "actions")
                rollout = solver.rollout(batches[number], "sample", generator=stream)
                return objective.loss(batches[number], rollout)

            return with_parameters(solver.module, given, learn)

        return loss

    def outer(given):
        loss = same_every_time()
        adapted = adapt(loss, leaves(given), inner.begin(), 2, differentiable=False)
        return float(loss(adapted).detach())

    found = maml(same_every_time(), theta, inner, None)
    direction = {
        name: torch.randn(value.shape, dtype=torch.float64, generator=generator(2, name))
        for name, value in theta.items()
    }
    h = 1e-5
    ends = [
        outer({name: value + sign * h * direction[name] for name, value in theta.items()})
        for sign in (1, -1)
    ]
    slope = sum(float((found[name] * direction[name]).sum()) for name in theta)
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5)
    first = ALGORITHMS["fomaml"].gradient(same_every_time(), theta, inner, None)
    order = sum(float((first[name] * direction[name]).sum()) for name in theta)
    assert order != pytest.approx(slope, rel=1e-3)
    now = dict(solver.module.named_parameters())
    assert all(torch.equal(value, now[name]) for name, value in theta.items())


# The loop.


def saved(folder: Path):
    """Return the last checkpoint's bytes and its log, but for times."""
    found = checkpoint.latest(folder / "checkpoints")
    assert found is not None
    tree = found[1]
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    for entry in (*tree["log"], *log):
        entry.pop("seconds", None)
    tree["sums"].pop("seconds", None)
    assert log == tree["log"]
    return found[0].name, tree


def equal(first, second) -> bool:
    """Return whether two checkpoints hold the same bits."""
    if isinstance(first, torch.Tensor):
        return torch.equal(first, second)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(equal(x, second[k]) for k, x in first.items())
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(equal, first, second))
    return bool(first == second)


@each
def test_twice_the_same_and_resumed_the_same(algorithm, family, tmp_path):
    """Two runs, and one stopped between two validations and resumed, end with the same bits."""
    config = tiny(family, algorithm)
    for name in ("one", "two"):
        loop.pretrain(config, tmp_path / name)
    asked = iter(range(1, 100))
    with pytest.raises(Interrupted, match="resume it from the folder"):
        loop.pretrain(config, tmp_path / "stopped", stop=lambda: next(asked) == 3)
    assert saved(tmp_path / "stopped")[0] == "checkpoint-00000003.safetensors"
    # Killed after that: what has happened since the checkpoint is done again.
    loop.pretrain(RunFolder(tmp_path / "stopped").config(), tmp_path / "stopped", resume=True)
    first = saved(tmp_path / "one")
    assert equal(first, saved(tmp_path / "two"))
    assert equal(first, saved(tmp_path / "stopped"))


def test_an_objective_with_a_state_is_kept(family, tmp_path, fresh_registry, plugin):  # noqa: ARG001
    """A greedy baseline is saved, restored, and replaced at a validation it deserves it."""
    loaded = []

    @attrs.frozen(eq=False)
    class Greedy:
        pomo: object

        def __getattr__(self, name):
            return getattr(self.pomo, name)

        def objective(self):
            made = greedy_baseline(self.pomo)

            def load(learner, state):
                loaded.append(state)
                made.load_state_dict(learner, state)

            return attrs.evolve(made, load_state_dict=load)

    pomo = present_plugins.catalog().find("solver", "pomo").thing
    registry.register_plugin(
        plugin("register_solvers", "greedy", lambda problem, **o: Greedy(pomo(problem, **o)))
    )
    config = tiny(family, solver="greedy")
    loop.pretrain(config, tmp_path / "one")
    asked = iter(range(1, 100))
    with pytest.raises(Interrupted):
        loop.pretrain(config, tmp_path / "two", stop=lambda: next(asked) == 3)
    assert loaded == []
    loop.pretrain(config, tmp_path / "two", resume=True)
    assert len(loaded) == 1
    one, two = saved(tmp_path / "one"), saved(tmp_path / "two")
    assert equal(one, two)
    initial = loop.start(config, tmp_path / "three").learner.initial
    assert not same(one[1]["objective"]["best"], initial)


@each
def test_meta_training_helps(algorithm, family, tmp_path):
    """On a tiny network the costs of every task fall, before and after adaptation to it."""
    family.write_text(FAMILY.replace("size = 5", "size = 9").replace("size = 6", "size = 8"))
    config = tiny(
        family,
        algorithm,
        iterations=15,
        validate_every=15,
        inner_steps=1,
        inner_learning_rate=3e-3,
        meta_learning_rate=1.0 if algorithm == "reptile" else 3e-3,
    )
    first, last = loop.pretrain(attrs.evolve(config, tests=32), tmp_path / "run").history
    for costs in ("costs", "adapted_costs"):
        assert all(last[costs][task] < 0.97 * first[costs][task] for task in ("U9", "E8"))


def test_the_log(family, tmp_path):
    """One line before the first iteration and one for every validation, the last included."""
    said = []
    loop.pretrain(tiny(family, iterations=5), tmp_path / "run", log=said.append)
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert [entry["iteration"] for entry in log] == [0, 2, 4, 5]
    assert all(entry["costs"].keys() == entry["adapted_costs"].keys() for entry in log)
    assert list(log[0]["costs"]) == ["U5", "E6"]
    assert log[0].keys() == {"iteration", "costs", "adapted_costs"}
    assert log[1].keys() == log[0].keys() | {"train_cost", "losses", "seconds"}
    assert said[-1].startswith("iteration 5/5: cost, adapted: U5 ")


def test_a_validation_leaves_no_trace(family, tmp_path):
    """Parameters, running statistics and gradients are as before, whatever was adapted."""
    config = tiny(family, solver="omni")
    config = attrs.evolve(config, solver_options={**MODEL, "norm": "batch"})
    state = loop.start(config, tmp_path / "run")
    loop.iterate(state)  # so that the running statistics are not the initial ones
    before = {name: value.clone() for name, value in state.solver.module.state_dict().items()}
    assert any("running_mean" in name for name in before)
    first = loop.validate_task(state, 0)
    after = state.solver.module.state_dict()
    assert same(before, after)
    assert loop.validate_task(state, 0) == first


def test_the_result_is_a_start(family, tmp_path):
    """`load_solver` reads it, and another pretraining begins with it, which it outlives."""
    done = loop.pretrain(tiny(family), tmp_path / "one")
    found = load_solver(tmp_path / "one").module.state_dict()
    assert same(found, done.solver.module.state_dict())
    config = attrs.evolve(tiny(family), start_from=str(tmp_path / "one"))
    with pytest.raises(Interrupted):
        loop.pretrain(config, tmp_path / "two", stop=lambda: True)
    shutil.rmtree(tmp_path / "one")
    second = loop.pretrain(config, tmp_path / "two", resume=True)
    assert second.history[0]["costs"] == done.history[-1]["costs"]


def test_a_start_that_does_not_fit_is_refused(family, tmp_path):
    """Parameters of another width are named, and nothing is written."""
    loop.pretrain(tiny(family, iterations=1), tmp_path / "one")
    config = attrs.evolve(
        tiny(family), start_from=str(tmp_path / "one"), solver_options={**MODEL, "head_num": 4}
    )
    with pytest.raises(CheckpointError, match=r"start_from .*one: does not fit"):
        loop.pretrain(config, tmp_path / "two")
    assert not (tmp_path / "two").exists()


def test_defaults_are_filled_in():
    """All settings are in the configuration, and survive it; every preset has a scale."""
    for algorithm, preset in (("reptile", "demo"), ("fomaml", "small"), ("maml", "paper")):
        config = configure(algorithm=algorithm, preset=preset)
        settings = settings_of(config, Path("folder"))
        assert config.method == algorithm
        assert config.method_options == attrs.asdict(settings)
        assert settings.meta_learning_rate == ALGORITHMS[algorithm].meta_learning_rate
        assert len(config.tasks) > 1


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({"algorithm": "mamal"}, "Unknown meta-training algorithm 'mamal'.*Did you mean 'maml'"),
        ({"options": {"inner_step": 1}}, "pretraining: Unknown option 'inner_step'"),
        ({"options": {"inner_optimizer": "Adam"}}, "inner_optimizer 'Adam'.*Did you mean 'adam'"),
        ({"options": {"meta_learning_rate": 0.0}}, "meta_learning_rate: expected more than 0"),
        ({"options": {"inner_steps": 0}}, "inner_steps: expected a whole number of at least 1"),
        ({"options": {"iterations": 2.5}}, "iterations: expected a whole number"),
    ],
)
def test_settings_that_cannot_be_used(keywords, expected):
    """The setting is named, with what it takes."""
    with pytest.raises((ConfigError, UnknownNameError), match=expected):
        configure(**keywords)


def test_folders_of_something_else(family, tmp_path):
    """A lifelong run is not continued as a pretraining, and nothing is overwritten."""
    other = attrs.evolve(tiny(family), method="llr-bc")
    with pytest.raises(ConfigError, match="expected a pretraining by reptile, fomaml, maml"):
        loop.pretrain(other, tmp_path / "run", resume=True)
    loop.pretrain(tiny(family, iterations=1), tmp_path / "run")
    with pytest.raises(FolderError, match="a new or empty folder, got pretrained parameters"):
        loop.pretrain(tiny(family), tmp_path / "run")


def test_what_is_no_lifelong_run_is_refused_as_one(family):
    """Every algorithm and the import are known as starts, and the error says which start it is."""
    for method in (*ALGORITHMS, official_checkpoints.METHOD):
        config = attrs.evolve(tiny(family), method=method)
        with pytest.raises(FolderError, match="folder: expected a lifelong run") as refused:
            starts.refuse_start(config, Path("folder"))
        assert refused.value.found == (PRETRAINED if method in ALGORITHMS else IMPORTED)
    starts.refuse_start(attrs.evolve(config, method="llr-bc"), Path("folder"))
