"""What `solve` finds and prints for one file."""

from typing import Any

import attrs
import pytest
from synthetic_benchmarks import drawn, entrant

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.benchmark.answer import Effort, answer, nearest
from lifelong_co.instance_files.solutions import check


def test_answer_has_the_solver_and_the_rule() -> None:
    """Costs are in the units of the file; progress ends at 1."""
    shares: list[float] = []
    instance = attrs.evolve(drawn("a"), best_known=1000.0)
    solver = entrant().solver
    found = answer(solver, instance, Effort(), label="one", progress=shares.append)
    assert check(instance, found.actions).cost == found.cost == found.found
    assert (found.nearest, found.starts) == nearest(instance, solver.problem)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    first, second = found.lines()
    assert first.startswith(f"a: cost {found.found:.0f}, best known 1000, gap ")
    gap = f"{found.nearest / 1000 - 1:.2%}"
    rule = f"nearest neighbor: cost {found.nearest:.0f}, gap {gap} (best of 7 starts)"
    assert second.removesuffix(", less than the solver's") == rule
    for cost, said in (
        (found.nearest, rule),
        (found.nearest + 1, f"{rule}, less than the solver's"),
    ):
        assert list(attrs.evolve(found, found=cost).lines())[1] == said


def test_improved_answer_shows_all_costs() -> None:
    """The better solution is kept; PyVRP alone is shown where asked."""
    pytest.importorskip("pyvrp")
    effort = Effort(trajectories=1, augment=False, improve=0.1, compare=True)
    found = answer(entrant().solver, drawn("b", 12), effort, label="one")
    assert found.cost <= found.found
    assert check(drawn("b", 12), found.actions).cost == found.cost
    *_, started, alone = found.lines()
    assert started == f"PyVRP from the solver's solution, 0.1 s: cost {found.cost:.0f} (1 route)"
    assert alone == f"PyVRP alone, 0.1 s: cost {found.alone:.0f}"
    without = attrs.evolve(found, alone=None)
    assert list(without.lines())[-1] == "PyVRP alone, 0.1 s: no solution"
    longer = attrs.evolve(found, routes=3)
    assert "feasible (3 routes)" in next(longer.lines()), "those of the solver, not of PyVRP"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"trajectories": 0}, "trajectories: .*at least 1"),
        ({"improve": -1.0}, "improve: "),
        ({"augment": "no"}, "augment: expected true or false, got 'no'"),
        ({"compare": 1}, "compare: expected true or false"),
    ],
)
def test_wrong_effort_is_refused(given: dict[str, Any], expected: str) -> None:
    """A number out of range, and a text that is no boolean, are refused by name."""
    with pytest.raises(ConfigError, match=expected):
        Effort(**given)
