"""The check of a distribution of instances."""

from typing import Any

import torch

from lifelong_co.errors import InvalidInstancesError
from lifelong_co.problems.images import COORDINATES
from lifelong_co.protocols import Distribution, Problem
from lifelong_co.seeding import generator
from lifelong_co.tensors import records
from lifelong_co.testing.contract import expect, expect_everywhere, expect_members
from lifelong_co.testing.samples import required_fields

CHECK = "check_distribution"
ROUNDING = 1e-5


def check_distribution(
    distribution: Distribution,
    problem: Problem,
    *,
    sizes: tuple[int, ...] = (5, 20),
    batches: tuple[int, ...] = (1, 3),
    seed: int = 0,
) -> None:
    """Check a distribution of instances of a problem.

    - ``sample(B, n)`` returns ``B`` instances of ``n`` nodes, of the problem's type; floats are in
      single precision.
    - Coordinates are in the unit square, where solvers expect them. No number is NaN, and
      `Problem.instances` accepts all of them.
    - The same state of the generator gives the same instances, and another state gives others.
    - With a generator, torch's global random stream is not used.

    Parameters
    ----------
    distribution
        Made for the problem.
    sizes, batches
        ``n`` and ``B`` of the drawn instances.
    seed
        Seed of the instances.

    Raises
    ------
    ContractError
        If the distribution breaks its contract.
    """
    expect_members(CHECK, distribution, Distribution)
    for n in sizes:
        for B in batches:
            before = torch.random.get_rng_state()
            first, second, other = (
                distribution.sample(B, n, generator=generator(seed + more, "testing instances"))
                for more in (0, 0, 1)
            )
            used = not torch.equal(before, torch.random.get_rng_state())
            what = "random numbers of the generator only"
            expect(not used, CHECK, what, "some of torch's global stream")
            _check_drawn(problem, first, B, n)
            expect(_same(first, second), CHECK, "the same instances from the same seed", "others")
            what = "other instances from another state of the generator"
            expect(not _same(first, other), CHECK, what, "the same")
    _check_drawn(problem, distribution.sample(batches[0], sizes[0]), batches[0], sizes[0])


def _check_drawn(problem: Problem, instances: Any, B: int, n: int) -> None:
    kind, where = problem.instances_type, f"sample({B}, {n})"
    what = f"{kind.__name__} of {where}"
    expect(isinstance(instances, kind), CHECK, what, type(instances).__name__)
    for name, tensor in records.tensors(instances).items():
        expect(len(tensor) == B, CHECK, f"{name} of {B} instances of {where}", len(tensor))
        single = tensor.dtype == torch.float32 or not tensor.is_floating_point()
        expect(single, CHECK, f"{name} of {where} in float32", tensor.dtype)
        expect(
            not tensor.requires_grad, CHECK, f"{name} of {where} without gradients", "one with them"
        )
        expect_everywhere(CHECK, f"no NaN in {name} of {where}", ~tensor.isnan(), tensor)
    size = problem.size(instances)
    expect(size == n, CHECK, f"instances of {n} nodes of {where}", size)
    for name in COORDINATES:
        points = getattr(instances, name, None)
        if points is not None:
            inside = (points >= -ROUNDING) & (points <= 1 + ROUNDING)
            expect_everywhere(CHECK, f"{name} in the unit square of {where}", inside, points)
    try:
        problem.instances(**required_fields(problem, instances))
    except InvalidInstancesError as error:
        expect(False, CHECK, f"instances of {where} that {problem.name} accepts", error)


def _same(first: Any, second: Any) -> bool:
    fields = records.tensors(second)
    return all(torch.equal(value, fields[name]) for name, value in records.tensors(first).items())
