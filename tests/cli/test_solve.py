"""`lifelong-co solve`: library files, costs in their units, solution files."""

import io
import re
import shutil
import sys

import pytest
from command_line import MODEL, call, contents
from lifelong_co_adapters import shipped
from lifelong_co_cli import progress
from paths import FIXTURES

from lifelong_co import registry
from lifelong_co.instance_files.formats import read_file
from lifelong_co.instance_files.solutions import check, read_solution
from lifelong_co.instance_files.vrplib_instances import read_instance

PNG = b"\x89PNG\r\n\x1a\n"
CASES = {"cvrp": ("four.vrp", "four.sol"), "tsp": ("five.tsp", "five.tour")}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("problem", CASES)
def test_solution_of_a_file_is_checked_and_written(problem, place, finished):
    """The solution file is in the current folder, has the stem of FILE, and the printed cost."""
    file, written = CASES[problem]
    solved = call("solve", FIXTURES / file, "--checkpoint", finished("llr-bc", problem).folder)
    assert solved.status == 0, solved.err
    instance = read_instance(FIXTURES / file)
    solution = read_solution(place / written)
    report = check(instance, solution.actions)
    assert solution.cost == report.cost
    first, second, third = solved.out.splitlines()
    assert first.startswith(f"{instance.name}: cost {report.cost}, best known ")
    assert "; feasible (" in first
    assert re.search(r"\), \d+\.\d s$", first)
    rule = second.removesuffix(", less than the solver's")
    assert re.fullmatch(r"nearest neighbor: cost \d+, gap \d+\.\d\d% \(best of \d starts\)", rule)
    assert third == f"solution: {written}"


def test_town_in_kilometers_is_warned_of(place):
    """Its distances are rounded away."""
    text = (FIXTURES / "five.tsp").read_text().replace("10", "1").replace("5 -2.5", "0.5 -0.25")
    (place / "town.tsp").write_text(text)
    solved = call("solve", "town.tsp")
    assert solved.status == 0
    assert "warning: five: EUC_2D rounds each distance to a whole unit" in solved.err
    assert "rounds" not in call("solve", FIXTURES / "five.tsp").err


def test_solution_files_have_the_format_of_the_libraries(place, finished):
    """A .sol has routes and a cost, a .tour a TOUR_SECTION with nodes from 1 on."""
    for problem, (file, _) in CASES.items():
        call("solve", FIXTURES / file, "--checkpoint", finished("llr-bc", problem).folder)
    sol = (place / "four.sol").read_text().splitlines()
    assert sol[0].startswith("Route #1: ")
    assert sol[-1].startswith("Cost ")
    tour = (place / "five.tour").read_text().splitlines()
    nodes = tour[tour.index("TOUR_SECTION") + 1 : -2]
    assert sorted(nodes) == ["1", "2", "3", "4", "5"]
    assert tour[-2:] == ["-1", "EOF"]


def test_gap_is_to_the_given_or_stored_cost(place, finished):
    """--best-known comes first, then a solution beside the file, then the comment in it."""
    folder = finished().folder
    solve = ("solve", "four.vrp", "--checkpoint", folder, "--overwrite")
    shutil.copy(FIXTURES / "four.vrp", place)
    assert "cost 43, best known 43, gap 0.00%" in call(*solve).out
    assert "cost 43, best known 40, gap 7.50%" in call(*solve, "--best-known", 40).out
    text = (place / "four.vrp").read_text().replace("Optimal value", "Something")
    (place / "four.vrp").write_text(text)
    (place / "four.found.sol").unlink()
    unknown = call(*solve, "--out", "elsewhere.sol").out
    assert unknown.splitlines()[0].startswith("four: cost 43; feasible (2 routes), ")
    assert unknown.splitlines()[1] == "nearest neighbor: cost 43 (best of 4 starts)"
    (place / "elsewhere.sol").rename(place / "four.sol")
    assert "best known 43, gap 0.00%" in call(*solve, "--out", "again.sol").out


def test_plot_is_drawn(place, finished):
    """--plot writes a PNG beside the solution."""
    solve = ("solve", FIXTURES / "four.vrp", "--checkpoint", finished().folder)
    solved = call(*solve, "--plot", "routes.png", "--out", "mine.sol")
    assert solved.out.splitlines()[2:] == ["solution: mine.sol", "plot: routes.png"]
    assert (place / "routes.png").read_bytes().startswith(PNG)
    assert sorted(contents(place)) == ["mine.sol", "routes.png"]


@pytest.mark.parametrize("taken", ["mine.sol", "routes.png"])
def test_existing_solution_and_plot_are_not_overwritten(taken, place, finished):
    """The error names the file; --overwrite replaces it."""
    (place / taken).write_text("precious")
    files = ("--out", "mine.sol", "--plot", "routes.png")
    solve = ("solve", FIXTURES / "four.vrp", "--checkpoint", finished().folder, *files)
    refused = call(*solve)
    assert refused.status == 2
    assert refused.err == (
        f"lifelong-co: {taken}: exists already; choose another name or --overwrite\n"
    )
    assert contents(place) == {taken: b"precious"}
    assert call(*solve, "--overwrite").status == 0
    assert contents(place)[taken] != b"precious"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((FIXTURES / "five.tsp",), "five.tsp: the file is a tsp instance, "),
        (("absent.vrp",), "absent.vrp: cannot be read (No such file or directory)"),
        (("broken.vrp",), "broken.vrp: "),
        (("m y.npz",), "got .npz; for the mean cost of its instances: lifelong-co evaluate RUN"),
        ((FIXTURES / "four.vrp", "--out=no/x.sol"), "no/x.sol: cannot be written"),
        ((FIXTURES / "four.vrp", "--after=9"), "tasks learned: expected 1 to 3, got 9"),
        ((FIXTURES / "four.vrp", "--out=x", "--plot=x"), "x: expected different files"),
        ((FIXTURES / "four.vrp", "--device=gpu"), "--device: expected auto, cpu"),
    ],
)
def test_wrong_file_or_option_of_solve_is_refused(arguments, expected, place, finished):
    """The error is one line with the file or option; nothing is written."""
    text = (FIXTURES / "four.vrp").read_text()
    (place / "broken.vrp").write_text(text.replace("CAPACITY : 10", "CAPACITY : 5"))
    before = contents(place)
    refused = call("solve", *arguments, "--checkpoint", finished().folder)
    assert refused.status == 2
    [line] = refused.err.splitlines()
    assert line.startswith("lifelong-co: ")
    assert expected in line
    assert contents(place) == before


def test_augmentation_and_starts_can_be_limited(place, finished):
    """--no-augment, --trajectories and --after still give a valid solution."""
    limits = ("--no-augment", "--trajectories", 1, "--after", 1, "--out", "one.sol")
    solved = call("solve", FIXTURES / "four.vrp", "--checkpoint", finished().folder, *limits)
    assert solved.status == 0, solved.err
    solution = read_solution(place / "one.sol")
    assert check(read_instance(FIXTURES / "four.vrp"), solution.actions).cost == solution.cost


def test_several_files_are_solved_into_a_folder(place, finished):
    """Each file has its lines, its solution and its picture; the folder is made."""
    shutil.copy(FIXTURES / "four.vrp", place / "again.vrp")
    files = (FIXTURES / "four.vrp", "again.vrp")
    solve = ("solve", *files, "--checkpoint", finished().folder)
    solved = call(*solve, "--out", "out", "--plot", "out")
    assert solved.status == 0, solved.err
    assert [line for line in solved.out.splitlines() if line.startswith("solution")] == [
        "solution: out/four.sol",
        "solution: out/again.sol",
    ]
    assert sorted(path.name for path in (place / "out").iterdir()) == sorted(
        ["again.png", "again.sol", "four.png", "four.sol"]
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--out=mine.sol",), "--out: expected a folder (several FILEs), got mine.sol"),
        (("--best-known=3",), "--best-known: expected one FILE, got 2"),
        (("--compare",), "--compare: expected --improve SECONDS beside it"),
        (("--improve=-1",), "--improve: expected seconds of at least 0, got -1.0"),
        ((FIXTURES / "four.vrp",), "four.sol: expected one FILE with this solution file"),
    ],
)
def test_wrong_use_of_several_files_is_refused(arguments, expected, place, finished):
    """Before any file is solved."""
    shutil.copy(FIXTURES / "four.vrp", place / "again.vrp")
    files = (FIXTURES / "four.vrp", "again.vrp")
    refused = call("solve", *files, *arguments, "--checkpoint", finished().folder)
    assert refused.status == 2
    assert expected in refused.err
    assert sorted(contents(place)) == ["again.vrp"]


def test_two_files_with_one_picture_are_refused(place):
    """A TSP and a CVRP of one name have different solution files."""
    shutil.copy(FIXTURES / "four.vrp", place / "four.vrp")
    shutil.copy(FIXTURES / "five.tsp", place / "four.tsp")
    (place / "out").mkdir()
    refused = call("solve", "four.vrp", "four.tsp", "--plot", "out")
    assert refused.status == 2
    assert "four.png: expected one FILE with this picture, got several" in refused.err


def test_improved_solution_is_written(place, finished):
    """Both costs are shown, and PyVRP alone beside them."""
    pytest.importorskip("pyvrp")
    solve = ("solve", FIXTURES / "four.vrp", "--checkpoint", finished().folder)
    solved = call(*solve, "--improve", 0.1, "--compare")
    assert solved.status == 0, solved.err
    *_, started, alone, written = solved.out.splitlines()
    assert started == "PyVRP from the solver's solution, 0.1 s: cost 43, gap 0.00% (2 routes)"
    assert alone == "PyVRP alone, 0.1 s: cost 43, gap 0.00%"
    assert written == "solution: four.sol"
    assert read_solution(place / "four.sol").cost == 43


def test_interrupted_solve_says_that_nothing_is_written(place, finished, monkeypatch):
    """The solution so far is lost; the message says so."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("lifelong_co.experiments.benchmark.answer.answer", interrupted)
    stopped = call("solve", FIXTURES / "four.vrp", "--checkpoint", finished().folder)
    assert contents(place) == {}
    assert "stopped: no solution of four is written" in stopped.err


def test_missing_pyvrp_is_found_before_the_work(place, finished, monkeypatch):
    """The message names the extra; nothing is written."""
    monkeypatch.setitem(sys.modules, "pyvrp", None)
    solve = ("solve", FIXTURES / "four.vrp", "--checkpoint", finished().folder)
    refused = call(*solve, "--improve", 1)
    assert refused.status == 2
    assert "pip install 'lifelong-co[reference]'" in refused.err
    assert contents(place) == {}


def test_shipped_weights_are_the_default(place, monkeypatch):
    """Without --checkpoint; if none are shipped for the problem, a message says what to do."""
    refused = call("solve", FIXTURES / "four.atsp")
    assert refused.status == 2
    assert "no weights are shipped for atsp" in refused.err
    assert "give a run folder" in refused.err
    solver = registry.solver("pomo", "cvrp", **MODEL)
    tasks = [{"name": "U1", "size": 1}]
    monkeypatch.setattr(shipped.load, "__kwdefaults__", {"device": "cpu", "folder": place / "w"})
    shipped.write(solver, {"solver": "pomo", "solver_options": MODEL, "tasks": tasks}, place / "w")
    solved = call("solve", FIXTURES / "four.vrp")
    assert solved.status == 0, solved.err
    assert "solution: four.sol" in solved.out
    assert solved.err.startswith("warning: four: 4 nodes are more than twice the largest size")


def test_solomon_file_is_solved_drawn_and_verified(place):
    """In its own units, without rounding; the routes are in time."""
    solver = registry.solver("pomo", "mtvrp", **MODEL)
    card = {"solver": "pomo", "solver_options": MODEL, "tasks": [{"name": "C20", "size": 20}]}
    shipped.write(solver, card, place / "weights")
    with pytest.MonkeyPatch.context() as patch:
        defaults = {"device": "cpu", "folder": place / "weights"}
        patch.setattr(shipped.load, "__kwdefaults__", defaults)
        solved = call("solve", FIXTURES / "seven.txt", "--plot", "seven.png", "--best-known", 150)
    assert solved.status == 0, solved.err
    assert solved.err == ""
    report = check(read_file(FIXTURES / "seven.txt"), read_solution(place / "seven.sol").actions)
    assert solved.out.startswith(f"SEVEN: cost {report.cost:.10g}, best known 150, gap ")
    assert read_solution(place / "seven.sol").cost == pytest.approx(report.cost)
    assert (place / "seven.png").read_bytes().startswith(PNG)


def test_progress_is_shown_on_a_terminal_only(monkeypatch):
    """The bar goes to standard error, because standard output holds the results."""
    with progress.share_of_work("four") as shown:
        assert shown is None
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    with progress.share_of_work("four") as shown:
        assert shown is not None
        shown(0.25)
    assert "four" in terminal.getvalue()


def test_solution_is_not_taken_for_the_best_known_one(place, finished):
    """Beside its instance it has a name of its own, and the name of the best known is refused."""
    shutil.copy(FIXTURES / "four.vrp", place)
    solve = ("solve", "four.vrp", "--checkpoint", finished("llr-bc", "cvrp").folder)
    first = call(*solve).out
    assert first.splitlines()[-1] == "solution: four.found.sol"
    assert call(*solve, "--overwrite").out.split(";")[0] == first.split(";")[0]
    refused = call(*solve, "--out", "four.sol")
    assert refused.status == 2
    assert "best known solution of four.vrp" in refused.err
    shutil.copy(FIXTURES / "four.vrp", "same.vrp")
    several = call("solve", "same.vrp", *solve[1:], "--overwrite").out.splitlines()
    assert several[2::3] == ["solution: same.found.sol", "solution: four.found.sol"]
    assert not (place / "four.sol").exists()


def test_tour_is_not_taken_for_the_best_known_one(place, finished):
    """Without a depot the best known solution is ``.opt.tour``; ``.sol`` is a name like others."""
    shutil.copy(FIXTURES / "five.tsp", place)
    solve = ("solve", "five.tsp", "--checkpoint", finished("llr-bc", "tsp").folder)
    refused = call(*solve, "--out", "five.opt.tour")
    assert refused.status == 2
    assert "best known solution of five.tsp" in refused.err
    assert call(*solve, "--out", "five.sol").status == 0


def test_tasks_learned_need_a_checkpoint():
    """The shipped weights have no tasks to choose from."""
    refused = call("solve", FIXTURES / "four.vrp", "--after=2")
    assert refused.status == 2
    assert "--after: expected --checkpoint DIR beside it" in refused.err
