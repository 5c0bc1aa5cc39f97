"""Correctness on a device: costs and gradients beside the CPU's, and runs that were resumed."""

import copy
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import attrs
import torch
from gpu_pieces import paper
from gpu_pieces.replays import replay
from gpu_pieces.rollouts import (
    Difference,
    Draws,
    MultiStart,
    difference,
    drawn,
    new_graphs,
)

from lifelong_co import registry
from lifelong_co.config.resolve import resolve
from lifelong_co.errors import Interrupted
from lifelong_co.learner import learn
from lifelong_co.protocols import Decode, Rollout
from lifelong_co.rollout.one_pass import one_pass
from lifelong_co.runs.prepare import prepare
from lifelong_co.seeding import generator
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records
from lifelong_co.tensors.precision import learning_in

B = 2
"""Instances of a comparison."""
SOLVERS = ("pomo", "omni", "invit")
PROBLEMS = ("cvrp", "tsp")
TYPES = {"float64": torch.float64, "float32": torch.float32}
# The largest difference in each precision; see `Difference`.
BOUNDS = {"float64": 1e-9, "float32": 2e-5}
# In float32 a ReLU whose input is almost 0 may switch by rounding. A single one, of a hundred
# thousand, changed the gradient by 0.4 % (Omni on the CPU).
GRADIENTS = {"float64": 1e-9, "float32": 1e-2}
# The least share of trajectories with the same actions: in float32 rounding may change a choice
# between actions that are almost equally likely.
SAME = {"float64": 1.0, "float32": 0.95}
SMALL: dict[str, dict[str, Any]] = {
    "pomo": paper.SMALL,
    "omni": {**paper.SMALL, "norm": "batch_no_track"},
    "invit": {"dim_emb": 16, "dim_ff": 16, "nb_heads": 2, "action_k": 4, "state_k": [5, 6]},
}

Check = dict[str, Any]
"""What was compared, the differences, and ``holds``."""


@attrs.frozen(eq=False)
class Case:
    """A solver with the same parameters on the CPU and on a device, a batch, and its numbers."""

    reference: Any
    """On the CPU in float64."""
    solver: Any
    instances: Any
    """In float64, on the CPU."""
    numbers: torch.Tensor
    """Uniform, float64 ``[T, B, S, 1]``."""
    device: str
    dtype: torch.dtype

    @property
    def multi_start(self) -> bool:
        """Whether the solver may use graphs."""
        return hasattr(self.solver, "graphs")

    def ways(self) -> dict[str, Any]:
        """Return the solver on the device, with graphs and without them."""
        if not self.multi_start:
            return {"no graphs": self.solver}
        return {
            "no graphs": MultiStart(self.solver),
            "graphs": MultiStart(self.solver, new_graphs(self.device)),
        }

    def there(self) -> Any:
        """Return the batch on the device."""
        return records.transform(self.instances, lambda x: x.to(self.device, self.dtype))


def case(name: str, problem: str, n: int, precision: str, device: str, tiny: bool) -> Case:
    """Return a solver of preset `paper`, with new parameters, and instances."""
    options = SMALL[name] if tiny else resolve(preset="paper", solver=name, fresh=True)
    if not isinstance(options, dict):
        options = options.solver_options
    dtype = TYPES[precision]
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)
        reference = registry.solver(name, registry.problem(problem), **options)
    reference.module.double()
    solver = copy.deepcopy(reference)
    solver.module.to(device, dtype)
    instances = registry.distribution("U", registry.problem(problem)).sample(
        B, n, generator=generator(0, "instances")
    )
    steps, S = reference.problem.steps(n)[1], 1 if name == "invit" else n
    numbers = torch.rand((steps + 2, B, S, 1), dtype=torch.double, generator=generator(0, "draws"))
    return Case(
        reference=reference,
        solver=solver,
        instances=records.transform(instances, lambda x: x.double()),
        numbers=numbers,
        device=device,
        dtype=dtype,
    )


def of_solver(name: str, problem: str, device: str, tiny: bool) -> Iterator[Check]:
    """Compare a solver with the CPU, in both precisions, and its rollouts with each other."""
    sizes = (6,) if tiny else (20, 100)
    for n in sizes:
        for precision in TYPES:
            given = case(name, problem, n, precision, device, tiny)
            for what, compare in comparisons(given):
                yield checked({"n": n, "precision": precision, "what": what}, compare, precision)
        given = case(name, problem, n, "float32", device, tiny)
        if given.multi_start:
            for precision in ("float32", "bfloat16"):
                about = {
                    "n": n,
                    "precision": precision,
                    "what": "graphs, a generator of the device",
                }
                yield checked(about, partial(own_numbers, given, precision), "float32")


def checked(about: Check, compare: Callable[[], Difference], precision: str) -> Check:
    """Return a check with its differences, or with the error that it raised."""
    try:
        found = compare()
    except Exception as error:
        return {**about, "holds": False, "error": f"{type(error).__name__}: {error}"[:500]}
    holds = (
        max(found.cost, found.likelihood) <= BOUNDS[precision]
        and (found.gradient or 0.0) <= GRADIENTS[precision]
        and found.actions >= SAME[precision]
    )
    return {**about, "holds": holds, **attrs.asdict(found)}


def comparisons(given: Case) -> Iterator[tuple[str, Callable[[], Difference]]]:
    """Yield the name of each comparison with the CPU, and a function that does it."""
    there, ways = given.there(), given.ways()
    cpu = MultiStart(given.reference) if given.multi_start else given.reference

    @cache
    def expected(decode: Decode, step: int) -> Rollout:  # noqa: ARG001 - a key of the cache
        with Draws(given.numbers).given(), torch.set_grad_enabled(decode == "sample"):
            return cpu.rollout(given.instances, decode)  # type: ignore[no-any-return]

    def greedy(way: str, step: int) -> Difference:
        with torch.no_grad():
            return difference(ways[way].rollout(there), expected("greedy", step), None)

    def sampled(rollout: Callable[[], Rollout], learned: bool) -> Difference:
        with torch.set_grad_enabled(learned):
            found = drawn(Draws(given.numbers.to(given.device, given.dtype)), rollout)
        modules = (given.solver.module, given.reference.module) if learned else None
        return difference(found, expected("sample", 0), modules)

    for way, solver in ways.items():
        rollout, learned = (
            partial(solver.rollout, there, "sample"),
            partial(one_pass, solver, there),
        )
        yield f"greedy, {way}", partial(greedy, way, 0)
        yield f"sampled, {way}", partial(sampled, rollout, False)
        yield f"gradient of one pass, {way}", partial(sampled, learned, True)
    stepwise = partial(ways["no graphs"].rollout, there, "sample")
    yield "gradient step by step", partial(sampled, stepwise, True)
    yield "replay", partial(replay, given.reference, given.solver, given.instances)
    for module in (given.solver.module, given.reference.module):
        for parameter in module.parameters():
            parameter.data.mul_(1.1)
    for way in ways:
        yield f"greedy after a step, {way}", partial(greedy, way, 1)


def own_numbers(given: Case, precision: str) -> Difference:
    """Compare graphs with no graphs, both with the same generator of the device."""
    there, stream = given.there(), torch.Generator(given.device)
    with torch.no_grad(), learning_in(precision, given.device):
        plain, replayed = (
            solver.rollout(there, "sample", generator=stream.manual_seed(7))
            for solver in given.ways().values()
        )
    return difference(replayed, plain, None)


def resumed(name: str, problem: str, device: str, tiny: bool) -> Iterator[Check]:
    """Compare a run of LLR-BC that was stopped and resumed with one that was not.

    Learning the same twice says how much two runs differ anyway.
    """
    n, batch, options = (6, 4, SMALL[name]) if tiny else (20, 32, {})
    if name == "invit":
        options = {**options, "trial_batches": 1}
    config = resolve(
        solver=name, problem=problem, preset="paper-economy", method="llr-bc", device=device,
        fresh=True, solver_options=options, tests=8,
    )  # fmt: skip
    task = Task(distribution="U", size=n, epochs=2, batches=3, batch_size=batch)
    second = attrs.evolve(task, size=n + 1)
    config = attrs.evolve(config, tasks=(task, second), curve_every=1, learning_rate=1e-3)
    with tempfile.TemporaryDirectory() as folder:
        places = map(Path(folder).joinpath, ("whole", "again", "stopped"))
        whole, again, stopped = (costs_of(config, place, place.name) for place in places)
    bound = max(1e-6, apart(whole, again))
    found = apart(whole, stopped)
    yield {
        "what": "costs after resuming", "difference": found, "twice": apart(whole, again),
        "holds": found <= bound,
    }  # fmt: skip


def costs_of(config: Any, place: Path, way: str) -> list[float]:
    """Learn, with a stop in the fifth and the eighth step if ``way`` is ``stopped``."""
    for after in (5, 8) if way == "stopped" else ():
        try:
            run = prepare(config, place, resume=place.exists())
            learn(run, stop=lambda run=run, after=after: run.steps == after)
        except Interrupted:
            continue
        raise AssertionError(f"expected an interruption after step {after}")
    run = learn(prepare(config, place, resume=place.exists()))
    return [cost.cost for cost in run.costs]


def apart(costs: list[float], others: list[float]) -> float:
    """Return the largest relative difference."""
    return max(abs(a - b) / b for a, b in zip(costs, others, strict=True))
