"""The check of a method: it learns, and it goes on exactly after an interruption."""

import copy
from collections.abc import Callable

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import Method, Solver
from lifelong_co.testing.contract import expect, expect_everywhere
from lifelong_co.testing.trial import CHECK, Trial, new_trial

STOPS = ((1, False), (2, False), (2, True), (5, False), (6, True))
"""The steps after which a run of eight steps is interrupted, and whether the epoch has ended: each
epoch has two steps, and each task two epochs."""


def check_method(
    method: Callable[[], Method],
    solver: Callable[[], Solver],
    *,
    distribution: str = "U",
    sizes: tuple[int, int] = (5, 6),
    seed: int = 0,
) -> None:
    """Check a method on two small tasks of two epochs with two batches of four instances.

    - The parameters change, and they stay finite.
    - ``instances`` returns instances of the problem, and ``batches`` a whole number of at least 1.
    - ``loss_terms`` yields pairs of a name and a finite scalar that depends on the parameters.
    - The same seed gives the same parameters, bit for bit, also with more calls of ``batches``.
    - ``state_dict`` can be saved in a checkpoint. A new method that loads it goes on to the same
      parameters, bit for bit, as without an interruption, also if another run came in between.
    - It goes on to the same parameters, too, if the second task arrives when the first one is
      learned, unless it `Method.knows_all_tasks`: what is learned must not depend on later tasks.

    Parameters
    ----------
    method
        Makes the method, for example ``functools.partial(l2_init, strength=0.1)``.
    solver
        Makes a solver with the same options at each call.
    distribution, sizes
        Distribution and size of the tasks.
    seed
        Seed of the run.

    Raises
    ------
    ContractError
        If the method breaks its contract.
    """
    first = solver()
    start = copy.deepcopy(first.module.state_dict())

    def make(tasks: int = 2) -> Trial:
        made = solver()
        made.module.load_state_dict(start)
        return new_trial(method(), made, distribution, sizes[:tasks], seed)

    went = make()
    went.run()
    before = {name: value for name, value in start.items() if value.is_floating_point()}
    after = went.learner.solver.module.state_dict()
    for name in before:
        expect_everywhere(CHECK, f"finite parameters {name}", after[name].isfinite(), after[name])
    changed = any(not torch.equal(before[name], after[name]) for name in before)
    expect(changed, CHECK, "parameters that change while learning", "the parameters of the start")
    again = make()
    again.run()
    _check_same("from the same seed", again, after)
    estimated = attrs.evolve(make(), asked=2)
    estimated.run()
    _check_same("when batches is called twice before each step", estimated, after)
    for stop, ended in STOPS:
        stopped, resumed = make(), make()
        stopped.run(until=stop, ended=ended)
        state = stopped.saved()
        _clutter(make)
        resumed.load(state)
        resumed.run()
        where = f"step {stop}{' and the end of its epoch' * ended}"
        _check_same(f"when stopped after {where} and resumed", resumed, after)
    if not went.method.knows_all_tasks:
        one, both = make(tasks=1), make()
        one.run()
        state = {**one.saved(), "place": (1, 0, 0)}
        _clutter(make)
        both.load(state)
        both.run()
        _check_same("when the second task arrives after the first is learned", both, after)


def _clutter(make: Callable[..., Trial]) -> None:
    """Change what methods share outside of their objects: a new process would not have it."""
    other = make()
    other.learner.stream.generator.manual_seed(1)
    other.run()


def _check_same(when: str, trial: Trial, after: dict[str, Tensor]) -> None:
    came = trial.learner.solver.module.state_dict()
    for name, value in after.items():
        same = torch.equal(value, came[name])
        expect(same, CHECK, f"the same parameters {when}", f"others, for example {name}")
