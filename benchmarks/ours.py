"""Our side of the benchmarks: the code of ``lifelong-co run``, with the paper's sizes."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import timing
import torch

from lifelong_co import registry
from lifelong_co.config.resolve import resolve
from lifelong_co.evaluation import best_costs
from lifelong_co.learner import train_batch
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Run, new_optimizer, start
from lifelong_co.seeding import generator
from lifelong_co.tasks.task import Task

WHOLE = {"replay_size": 16, "replay_rows": 1.0, "bundle_size": 1}
"""The replay of the paper: 16 whole steps."""
BUNDLED = {"replay_size": 16, "replay_rows": 1.0, "bundle_size": 4}
"""The same number of steps from four batches; each batch is encoded once for four of its steps."""
TASK_BATCHES = {20: 157, 50: 125, 100: 125}
"""Batches of an epoch, in the paper."""


def prepared(problem: str, n: int, batch: int, method: str, **options: Any) -> Run:
    """Return a run of preset `paper` at the second step of the second of two equal tasks.

    The run is on torch's default device.
    """
    config = resolve(
        method=method,
        preset="paper",
        problem=problem,
        device=str(torch.empty(0).device),
        method_options=options or None,
    )
    task = Task(distribution="U", size=n, epochs=2, batches=1, batch_size=batch)
    config = attrs.evolve(config, tasks=(task, task), tests=2)
    with tempfile.TemporaryDirectory() as folder:  # nothing is written to it
        run = start(config, RunFolder(Path(folder)))
    learner = run.learner
    learner.optimizer = new_optimizer(config, learner)
    run.method.before_task(learner)
    if method == "llr-bc":
        learner.epoch = 1  # the last epoch: it fills the buffer
        for _ in range(2):
            train_batch(run)
    learner.task, learner.epoch, learner.batch = 1, 0, 1  # the first step checks the solver
    run.method.before_task(learner)
    return run


def training_step(
    problem: str, n: int, batch: int, *, precision: str = "float32", **options: Any
) -> Callable[[], object]:
    """Return one step of fine-tuning; with options, one step of LLR-BC."""
    run = prepared(problem, n, batch, "llr-bc" if options else "fine-tuning", **options)
    run.config = attrs.evolve(run.config, precision=precision)
    return lambda: train_batch(run)


def reduced(problem: str) -> dict[str, Any]:
    """Return the options of LLR-BC in preset `paper-economy`."""
    return dict(resolve(method="llr-bc", preset="paper-economy", problem=problem).method_options)


def stock_pass(tokens: int, batch: int) -> Callable[[], object]:
    """Return a forward and backward pass of torch's encoder, as wide and deep as the paper's.

    It is a reference without the official code, because it does not change when our code does.
    """
    layer = torch.nn.TransformerEncoderLayer(128, 8, 512, dropout=0.0, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
    nodes = torch.rand(batch, tokens, 128)

    def step() -> None:
        encoder(nodes).sum().backward()

    return step


@attrs.define
class Watched:
    """The seconds in which a method observes and stores, and those of the whole steps."""

    recording: float = 0.0
    whole: float = 0.0


def recording(problem: str, n: int, batch: int, batches: int) -> Watched:
    """Time a last epoch of ``batches`` batches in a first task; the buffer is reduced like it."""
    capacity = max(1, round(1000 * batches / TASK_BATCHES[n]))
    run = prepared(problem, n, batch, "llr-bc", **{**reduced(problem), "buffer_size": capacity})
    run.learner.task, run.learner.epoch = 0, 1
    run.method.before_task(run.learner)  # with an empty buffer
    observer, store, watched = run.method.observer, run.method.after_step, Watched()

    def timed(learner: Any, instances: Any) -> Any:
        observe = observer(learner, instances)
        assert observe is not None

        def watch(state: Any, log_probs: torch.Tensor) -> None:
            timing.wait()
            began = time.perf_counter()
            observe(state, log_probs)
            timing.wait()
            watched.recording += time.perf_counter() - began

        return watch

    def timed_store(learner: Any) -> None:
        timing.wait()
        began = time.perf_counter()
        store(learner)  # packs the experiences of the step and puts them into the buffer
        timing.wait()
        watched.recording += time.perf_counter() - began

    run.method = attrs.evolve(run.method, observer=timed, after_step=timed_store)
    began = time.perf_counter()
    for _ in range(batches):
        train_batch(run)
    timing.wait()
    watched.whole = time.perf_counter() - began
    return watched


def test(problem: str, n: int, tests: int) -> Callable[[], object]:
    """Return a greedy test of ``tests`` uniform instances, as after every task."""
    run = prepared(problem, n, 2, "fine-tuning")
    instances = distribution("U", problem).sample(tests, n, generator=generator(0, "tests"))
    return lambda: best_costs(run.learner.solver, instances)


def encoder(problem: str, n: int, rows: int, batch: int, *, learns: bool) -> Callable[[], object]:
    """Return the encoder's passes for instances, ``batch`` at once; both ways if it ``learns``."""
    learner = prepared(problem, n, 2, "fine-tuning").learner
    whole, rest = divmod(rows, batch)
    sample = distribution("U", problem).sample
    sizes = [batch] * whole + [rest] * (rest > 0)
    parts = [learner.problem.features(sample(size, n)) for size in sizes]
    nodes: list[torch.Tensor] = []
    network = learner.solver.module
    network.layers[-1].register_forward_hook(lambda *passed: nodes.append(passed[2]))

    def encode() -> None:
        with torch.set_grad_enabled(learns):
            for part in parts:
                network.prepared(part)
                encoded = nodes.pop()
                if learns:
                    encoded.sum().backward()

    return encode


def sampling(problem: str, n: int, batch: int, name: str) -> Callable[[], object]:
    """Return a function that draws a training batch."""
    source = distribution(name, problem)
    stream = generator(0, "sampling", torch.empty(0).device)  # draws on its device, as a run
    return lambda: source.sample(batch, n, generator=stream)


def distribution(name: str, problem: str) -> Any:
    """Return a registered distribution."""
    return registry.distribution(name, registry.problem(problem))


def bytes_a_state(problem: str, n: int, batch: int) -> float:
    """Return the bytes of a buffered experience, divided by the number of its states.

    The instances count once for every step, although the steps of a batch share them.
    """
    run = prepared(problem, n, batch, "llr-bc", **reduced(problem))
    units: list[dict[str, Any]] = run.method.state_dict()["snapshot"]
    held = [step for unit in units for step in unit.get("steps", [unit])]
    taken = 0
    for step in held:
        parts = [step["behavior"], *step["packed"].values(), *step["instances"].values()]
        taken += sum(part.numel() * part.element_size() for part in parts)
    return taken / (len(held) * batch * n)
