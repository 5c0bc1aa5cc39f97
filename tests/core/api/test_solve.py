"""`lco.solve` solves a file with the solver of a run."""

import attrs
import pytest
import torch
from command_line import call
from paths import FIXTURES

import lifelong_co as lco
from lifelong_co.instance_files.formats import Format
from lifelong_co.instance_files.vrplib_instances import read_instance
from lifelong_co.problems.tsp import TSP


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


def test_solver_solves_as_its_run_does(tiny):
    """The solution is the same; a number of learned tasks belongs to a run."""
    solver = tiny.solver()
    ours, of_run = (lco.solve(FIXTURES / "five.tsp", one, device="cpu") for one in (solver, tiny))
    assert (ours.cost, list(ours.actions)) == (of_run.cost, list(of_run.actions))
    assert ours.seconds > 0
    assert ours.alone is None
    with pytest.raises(lco.ConfigError, match="after: expected a run"):
        lco.solve(FIXTURES / "five.tsp", solver, after=1)
    with pytest.raises(lco.ConfigError, match="compare: expected improve"):
        lco.solve(FIXTURES / "five.tsp", solver, compare=True)


def test_solver_in_training_mode_is_left_unchanged():
    """Its batch normalisation does not note the file, and its mode stays."""
    solver = lco.solver("omni", "tsp", embedding_dim=16, encoder_layer_num=1, norm="batch")
    solver.module.train()
    before = {name: tensor.clone() for name, tensor in solver.module.state_dict().items()}
    lco.solve(FIXTURES / "five.tsp", solver, device="cpu")
    assert solver.module.training
    after = solver.module.state_dict()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())


def test_file_far_above_the_learned_sizes_is_warned_of(tiny, tmp_path):
    """The message has both sizes."""
    nodes = "".join(f"{i} {9 * (i % 7)} {9 * (i % 5)}\n" for i in range(1, 41))
    head = "NAME: long\nTYPE: TSP\nDIMENSION: 40\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    (tmp_path / "long.tsp").write_text(f"{head}{nodes}EOF\n")
    with pytest.warns(UserWarning, match="long: 40 nodes are more than twice"):
        lco.solve(tmp_path / "long.tsp", tiny, augment=False, trajectories=1, device="cpu")


def test_file_whose_distances_are_rounded_away_is_warned_of(tiny, tmp_path):
    """A town in kilometers: the message says which unit to take."""
    text = (FIXTURES / "five.tsp").read_text()
    (tmp_path / "town.tsp").write_text(text.replace("10", "1").replace("5 -2.5", "0.5 -0.25"))
    with pytest.warns(UserWarning, match="meters in place of kilometers"):
        lco.solve(tmp_path / "town.tsp", tiny, device="cpu")


def test_file_of_another_problem_is_refused(tiny):
    """The error names both problems."""
    with pytest.raises(lco.ConfigError, match="is a cvrp instance"):
        lco.solve(FIXTURES / "four.vrp", tiny, device="cpu")


@pytest.mark.usefixtures("fresh_registry")
def test_the_format_is_that_of_the_solvers_problem(plugin):
    """A plugin's problem may have a suffix that another problem has, too."""

    class Sailing:
        name = "sailing"

        def __getattr__(self, member):
            return getattr(TSP(), member)

    def read(path, *, best_known=None):
        return attrs.evolve(read_instance(path, best_known=best_known), problem="sailing")

    lco.register_plugin(plugin("register_problems", "sailing", Sailing()), "problem")
    form = Format((".tsp",), read)
    lco.register_plugin(plugin("register_file_formats", "sailing", form), "format")
    solver = lco.solver("pomo", "sailing", embedding_dim=16, encoder_layer_num=1)
    assert sorted(lco.solve(FIXTURES / "five.tsp", solver, device="cpu").actions) == [*range(5)]
