"""Where a task's instances come from, to train on and to test on."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest
import torch
from strategies import identical
from tiny_runs import tiny_config

import lifelong_co as lco
from lifelong_co.config.resolve import resolve
from lifelong_co.errors import ComponentError
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import start
from lifelong_co.seeding import generator
from lifelong_co.tasks import instances as streams
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records

BUDGET = {"epochs": 1, "batches": 1, "batch_size": 6}


def uniform(size: int, **settings: Any) -> Task:
    """Return a task of uniform instances."""
    return Task(distribution="U", size=size, **BUDGET, **settings)


@pytest.fixture
def npz(tmp_path: Path) -> Path:
    """Return a file of twelve TSP instances of five nodes."""
    path = tmp_path / "mine.npz"
    np.savez(path, nodes=np.random.default_rng(0).random((12, 5, 2), dtype=np.float32))
    return path


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_tasks_of_the_paper_have_its_published_tests(problem: str) -> None:
    """As in the preset `paper`: 1,000 tests of a published size."""
    config = resolve(preset="paper", problem=problem)
    made = lco.problem(problem)
    for task in config.tasks:
        if task.distribution in ("U", "R"):  # the small ones: the others take seconds to draw
            (tests,) = streams.testing(task, made, config.tests)
            assert identical(tests, lco.testset(problem, task.distribution))
            assert records.rows(tests) == 1000


def test_task_can_be_tested_on_the_published_file() -> None:
    """R of the CVRP has other demands there, and another signature; the nodes are the same."""
    config = resolve(preset="paper", tests_of="published")
    task = next(task for task in config.tasks if task.distribution == "R")
    problem = lco.problem("cvrp")
    (tests,) = streams.testing(task, problem, 1000)
    assert identical(tests, lco.testset("cvrp", "R", "published"))
    plain = attrs.evolve(task, tests_of="generator")
    (others,) = streams.testing(plain, problem, 1000)
    assert torch.equal(tests.nodes, others.nodes)
    assert not torch.equal(tests.demand, others.demand)
    assert task.tested != plain.tested
    assert resolve(preset="paper").tasks[4] == plain


@pytest.mark.parametrize(
    ("task", "tests"),
    [
        (uniform(20, tests_of="published"), 100),
        (uniform(10, tests_of="published"), 1000),
        (Task(files="some.npz", tests_of="published", **BUDGET), 1000),
    ],
)
def test_published_file_needs_a_task_of_the_paper(task: Task, tests: int) -> None:
    """The error names the task and its number of tests."""
    with pytest.raises(lco.ConfigError, match=f"tests_of 'published': .* got .* with {tests}"):
        streams.testing(task, lco.problem("cvrp"), tests)


@pytest.mark.parametrize(
    ("task", "tests"),
    [
        (uniform(20), 100),
        (uniform(21), 1000),
        (uniform(20, capacity=77), 1000),
        (uniform(20, variant="paper"), 1000),
    ],
)
def test_other_tests_are_drawn(task: Task, tests: int) -> None:
    """Their number and size are the given ones, they never change, and none is a published one."""
    problem = lco.problem("cvrp")
    (drawn,) = streams.testing(task, problem, tests)
    (again,) = streams.testing(task, problem, tests)
    assert identical(drawn, again)
    assert drawn.nodes.shape == (tests, task.size, 2)
    published = lco.testset("cvrp", "U").nodes[:tests]
    assert drawn.nodes.shape != published.shape or not torch.equal(drawn.nodes, published)


def test_tests_of_a_task_with_attributes_have_them() -> None:
    """Even if their number and size are those of a published set, which has none."""
    task = uniform(20, attributes=("time-windows",))
    (drawn,) = streams.testing(task, lco.problem("mtvrp"), 1000)
    assert drawn.horizon.isfinite().all()


def test_tests_do_not_depend_on_the_seed_of_the_run(tmp_path: Path) -> None:
    """Runs of several seeds have the same tests and different training instances."""
    config = tiny_config("fine-tuning")
    runs = [
        start(attrs.evolve(config, seed=seed), RunFolder(tmp_path / str(seed))) for seed in (0, 1)
    ]
    for ours, others in zip(runs[0].tests, runs[1].tests, strict=True):
        assert [identical(*pair) for pair in zip(ours, others, strict=True)] == [True]
    assert not identical(*(run.learner.draw(0) for run in runs))


def test_tests_differ_between_tasks() -> None:
    """Each distribution, size and problem has different tests."""
    tasks = [uniform(8), uniform(9), Task(distribution="G", size=8, **BUDGET)]
    drawn = [
        streams.testing(task, lco.problem(problem), 4)[0].nodes.flatten()[:16]
        for task in tasks
        for problem in ("tsp", "cvrp")
    ]
    assert len({tuple(nodes.tolist()) for nodes in drawn}) == len(drawn)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_training_batches_are_new(problem: str) -> None:
    """They have the task's size, come from the generator alone, and are never the tests."""
    made, task = lco.problem(problem), uniform(7)
    draw = streams.training(task, made)
    stream = generator(0, "instances")
    first, second = draw(stream, 6), draw(stream, 6)
    assert first.nodes.shape == (6, 7, 2)
    assert not identical(first, second)
    assert identical(draw(generator(0, "instances"), 6), first)
    (tests,) = streams.testing(task, made, 6)
    assert not torch.equal(tests.nodes, first.nodes)


def test_files_are_drawn_with_replacement_and_tested_in_order(npz: Path) -> None:
    """A stream can be longer than its files; without test files, the first files are the tests."""
    problem = lco.problem("tsp")
    task = Task(files=str(npz), **{**BUDGET, "batch_size": 50})
    stored = torch.from_numpy(np.load(npz)["nodes"])
    batch = streams.training(task, problem)(generator(0, "instances"), 50)
    assert batch.nodes.shape == (50, 5, 2)
    matches = (batch.nodes[:, None] == stored).flatten(2).all(dim=2)
    assert matches.any(dim=1).all()
    (tests,) = streams.testing(task, problem, 4)
    assert torch.equal(tests.nodes, stored[:4])
    (tests,) = streams.testing(task, problem, 1000)
    assert torch.equal(tests.nodes, stored)


def test_size_that_the_files_lack_is_refused(npz: Path) -> None:
    """The error comes before the run begins, for training and for tests."""
    problem, task = lco.problem("tsp"), Task(files=str(npz), size=6, **BUDGET)
    with pytest.raises(lco.ConfigError, match="expected an instance of size 6"):
        streams.training(task, problem)
    with pytest.raises(lco.ConfigError, match="expected a test instance of size 6"):
        streams.testing(task, problem, 4)


@pytest.mark.usefixtures("fresh_registry")
def test_distribution_that_returns_nothing_is_named(plugin: Any) -> None:
    """A forgotten ``return``."""
    forgets = SimpleNamespace(sample=lambda *_, **__: None)
    lco.register_plugin(plugin("register_distributions", "forgets", lambda *_, **__: forgets))
    task = Task(distribution="forgets", size=5, epochs=1, batches=1, batch_size=4)
    with pytest.raises(ComponentError, match="'forgets': expected TSPInstances, got NoneType"):
        streams.testing(task, lco.problem("tsp"), 4)


@pytest.mark.usefixtures("fresh_registry")
@pytest.mark.parametrize(("rows", "size"), [(-1, 0), (0, 4)])
def test_other_instances_than_asked_for_are_refused(rows: int, size: int, plugin: Any) -> None:
    """A distribution that ignores the size would have its costs under a wrong name."""
    usual = lco.distribution("U", "tsp")

    class Other:
        def sample(self, B: int, n: int, **options: Any) -> Any:
            return usual.sample(B + rows, n + size, **options)

    def other(problem: Any, *, variant: str, capacity: int | None) -> Other:  # noqa: ARG001
        return Other()

    lco.register_plugin(plugin("register_distributions", "other", other))
    task = Task(distribution="other", size=5, epochs=1, batches=1, batch_size=4)
    said = f"'other': expected 4 instances of size 5, got {4 + rows} of size {5 + size}"
    with pytest.raises(ComponentError, match=said):
        streams.testing(task, lco.problem("tsp"), 4)
    with pytest.raises(ComponentError, match=said):
        streams.training(task, lco.problem("tsp"))(torch.Generator().manual_seed(0), 4)


@pytest.mark.usefixtures("fresh_registry")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (torch.Tensor.double, "expected float32, got torch.float64"),
        (torch.Tensor.requires_grad_, "expected a tensor without gradients"),
        (lambda nodes: nodes * torch.nan, "expected numbers, got NaN"),
    ],
    ids=["double", "gradients", "NaN"],
)
def test_tensors_that_a_network_cannot_take_are_refused(
    plugin: Any, change: Any, said: str
) -> None:
    """Double precision is NumPy's default type. Gradients would look like a solver's parameter."""
    usual = lco.distribution("U", "tsp")

    class Changed:
        def sample(self, B: int, n: int, **options: Any) -> Any:
            drawn = usual.sample(B, n, **options)
            return attrs.evolve(drawn, nodes=change(drawn.nodes))

    lco.register_plugin(plugin("register_distributions", "changed", lambda *_, **__: Changed()))
    task = Task(distribution="changed", size=5, epochs=1, batches=1, batch_size=4)
    with pytest.raises(ComponentError, match=f"'changed': nodes: {said}"):
        streams.testing(task, lco.problem("tsp"), 4)


def test_attributes_of_a_task_reach_the_sampler(plugin: Any) -> None:
    """Training and tests have them; without attributes the test nodes are the same."""

    def heavier(attributes: tuple[str, ...] = ()) -> Any:
        factor = 0.5 if "light" in attributes else 1.0
        return lambda known, generator: {"demand": factor * known["demand"]}  # noqa: ARG005

    lco.register_plugin(plugin("register_samplers", "cvrp", heavier))
    problem = lco.problem("cvrp")
    (plain,) = streams.testing(uniform(6), problem, 4)
    (light,) = streams.testing(uniform(6, attributes=("light",)), problem, 4)
    assert torch.equal(plain.nodes, light.nodes)
    assert torch.equal(plain.demand, 2 * light.demand)
    draw = streams.training(uniform(6, attributes=("light",)), problem)
    drawn = draw(torch.Generator().manual_seed(0), 4)
    assert torch.equal(drawn.demand * 200, (drawn.demand * 200).round())


def test_attributes_that_the_problem_lacks_are_refused() -> None:
    """Before the first batch, with a note that names the task."""
    with pytest.raises(lco.ConfigError, match="'tsp' has no sampler") as caught:
        streams.training(uniform(6, attributes=("open",)), lco.problem("tsp"))
    assert caught.value.__notes__ == ["task U6 open"]


@pytest.mark.usefixtures("fresh_registry")
def test_test_set_of_another_number_is_not_that_of_a_task(plugin: Any) -> None:
    """A run with 1,000 tests is tested on 1,000 instances, and those must be usable."""
    usual = lco.distribution("U", "tsp")
    rows, change = [7], [torch.Tensor.float]

    class Mine:
        def sample(self, B: int, n: int, **options: Any) -> Any:
            return usual.sample(B, n, **options)

        def testset(self) -> Any:
            drawn = usual.sample(rows[0], 5)
            return attrs.evolve(drawn, nodes=change[0](drawn.nodes))

    lco.register_plugin(plugin("register_distributions", "mine", lambda *_, **__: Mine()))
    task, tsp = (
        Task(distribution="mine", size=5, epochs=1, batches=1, batch_size=4),
        lco.problem("tsp"),
    )
    (found,) = streams.testing(task, tsp, 1000)
    assert len(found.nodes) == 1000
    rows[0], change[0] = 1000, torch.Tensor.double
    with pytest.raises(ComponentError, match="'mine': nodes: expected float32"):
        streams.testing(task, tsp, 1000)
