"""`check_distribution` passes the shipped distributions and names the fault of a wrong one."""

import itertools
from collections.abc import Callable
from typing import Any

import attrs
import pytest
import torch
from contract_faults import assert_named

import lifelong_co as lco
from lifelong_co import testing
from lifelong_co.tensors import records

TSP = lco.problem("tsp")


@attrs.frozen
class Changed:
    """The uniform distribution, with its result changed."""

    change: Callable[[Any], Any]

    def sample(self, batch: int, size: int, *, generator: Any = None) -> Any:
        """Draw and change."""
        return self.change(lco.distribution("U", "tsp").sample(batch, size, generator=generator))


class Torch:
    """Ignores the generator."""

    def sample(self, batch: int, size: int, *, generator: Any = None) -> Any:  # noqa: ARG002
        """Draw from torch's stream."""
        return TSP.instances(nodes=torch.rand(batch, size, 2))


class Fixed:
    """Draws the same every time."""

    def sample(self, batch: int, size: int, *, generator: Any = None) -> Any:  # noqa: ARG002
        """Return points of a line."""
        line = torch.linspace(0, 1, batch * size * 2)
        return TSP.instances(nodes=line.view(batch, size, 2))


class Grows:
    """Draws other instances at every call."""

    calls = 0

    def sample(self, batch: int, size: int, *, generator: Any = None) -> Any:
        """Shrink the square."""
        self.calls += 1
        drawn = lco.distribution("U", "tsp").sample(batch, size, generator=generator)
        return TSP.instances(nodes=drawn.nodes / self.calls)


def moved(amount: float) -> Changed:
    """Return instances moved to the right."""
    return Changed(lambda drawn: attrs.evolve(drawn, nodes=drawn.nodes + amount))


MUTANTS: dict[str, tuple[str, Any]] = {
    "no sample": ("without sample", object()),
    "a tensor": ("TSPInstances of sample(1, 5), got Tensor", Changed(lambda drawn: drawn.nodes)),
    "twice": ("nodes of 1 instances", Changed(lambda drawn: records.concatenate([drawn] * 2))),
    "a node less": (
        "instances of 5 nodes of sample(1, 5), got 4",
        Changed(lambda drawn: TSP.instances(nodes=drawn.nodes[:, 1:])),
    ),
    "NaN": ("no NaN in nodes", moved(torch.nan)),
    "outside": ("nodes in the unit square", moved(1.0)),
    "torch's stream": ("some of torch's global stream", Torch()),
    "double": (
        "nodes of sample(1, 5) in float32, got torch.float64",
        Changed(lambda drawn: TSP.instances(nodes=drawn.nodes.double())),
    ),
    "gradients": (
        "nodes of sample(1, 5) without gradients, got one with them",
        Changed(lambda drawn: attrs.evolve(drawn, nodes=drawn.nodes.requires_grad_())),
    ),
    "fixed": ("other instances from another state", Fixed()),
    "other at each call": ("the same instances from the same seed", Grows()),
}


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        *itertools.product(("U", "GM", "E", "C", "G", "R"), ("tsp", "cvrp", "mtvrp")),
        ("tmat", "atsp"),
    ],
)
def test_shipped_distribution_passes(name: str, problem: str) -> None:
    """The six distributions, and that of matrices, keep the contract."""
    testing.check_distribution(lco.distribution(name, problem), lco.problem(problem))


def test_numbers_that_the_problem_refuses_are_named() -> None:
    """Some fields may be infinite, so the problem decides."""

    class Endless:
        def sample(self, batch: int, size: int, *, generator: Any = None) -> Any:
            drawn = lco.distribution("U", "cvrp").sample(batch, size, generator=generator)
            return attrs.evolve(drawn, demand=drawn.demand * torch.inf)

    says = "instances of sample(1, 5) that cvrp accepts, got demand: expected finite numbers"
    assert_named(says, testing.check_distribution, Endless(), lco.problem("cvrp"))


@pytest.mark.parametrize("mutant", MUTANTS)
def test_fault_of_a_distribution_is_named(mutant: str) -> None:
    """One line says what is wrong."""
    says, distribution = MUTANTS[mutant]
    assert_named(says, testing.check_distribution, distribution, TSP)
