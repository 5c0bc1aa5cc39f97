"""`lco.solve` solves a file with the solver of a run."""

import pytest
from command_line import call
from paths import FIXTURES

import lifelong_co as lco


def test_solution_has_the_cost_of_the_command(tiny, tmp_path):
    """It is complete, and its gap is that to the file beside the instance."""
    solved = lco.solve(FIXTURES / "five.tsp", tiny, device="cpu")
    command = ("solve", FIXTURES / "five.tsp", "--checkpoint", tiny.folder, "--device=cpu")
    done = call(*command, "--out", tmp_path / "five.tour")
    assert f"cost {solved.cost}" in done.out
    assert sorted(solved.actions) == [0, 1, 2, 3, 4]
    if solved.best_known is None:
        assert solved.gap is None
    else:
        assert solved.gap == pytest.approx(solved.cost / solved.best_known - 1)


def test_file_of_another_problem_is_refused(tiny):
    """The error names both problems."""
    with pytest.raises(lco.ConfigError, match="is a cvrp instance"):
        lco.solve(FIXTURES / "four.vrp", tiny, device="cpu")
