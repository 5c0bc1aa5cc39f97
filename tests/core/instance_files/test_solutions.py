"""Solutions: the independent check, writing and reading."""

from pathlib import Path

import numpy as np
import pytest
from file_strategies import solved
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import FIXTURES

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.benchmark.known import best_known
from lifelong_co.experiments.comparison.routes import plot_routes
from lifelong_co.instance_files.file_instance import FileInstance, InvalidSolutionError, cost
from lifelong_co.instance_files.solutions import check, read_solution, routes, write_solution
from lifelong_co.instance_files.vrplib_instances import read_instance

FOUR = read_instance(FIXTURES / "four.vrp")

FIVE = read_instance(FIXTURES / "five.tsp")

BEST = [0, 1, 2, 0, 3, 4, 0]


def test_check_reports_cost_routes_and_loads() -> None:
    """The report of a feasible solution agrees with values computed by hand."""
    report = check(FOUR, BEST)
    assert (report.cost, report.routes, report.loads) == (43, [[1, 2], [3, 4]], [10, 10])
    tour = check(FIVE, np.array([4, 0, 1, 2, 3]))
    assert (tour.cost, tour.routes, tour.loads) == (42, [[4, 0, 1, 2, 3]], [])


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 1, 2, 0, 3, 0], "expected every node once, got node 4 0 times"),
        ([0, 1, 2, 0, 3, 4, 4, 0], "expected every node once, got node 4 2 times"),
        ([0, 1, 3, 0, 2, 4, 0], "capacity 10 on every route, got 11 on route #2"),
        ([1, 2, 0, 3, 4, 0], "start and end at the depot 0, got 1 and 0"),
        ([0, 1, 2, 0, 3, 4], "start and end at the depot 0, got 0 and 4"),
        ([], r"got node 1 0 times \(and 3 more such nodes\)"),
        ([0, 1, 2, 0, 3, 5, 0], "expected 0 to 4, got 5"),
    ],
)
def test_infeasible_solutions_are_refused(actions: list[int], message: str) -> None:
    """Each fault of a solution has its message."""
    with pytest.raises(InvalidSolutionError, match=message):
        check(FOUR, actions)


def test_tour_without_node_0_is_refused() -> None:
    """For the TSP, node 0 is a node like any other."""
    with pytest.raises(InvalidSolutionError, match=r"five: .* got node 0 0 times"):
        check(FIVE, [1, 2, 3, 4])


@given(solved("cvrp"), st.data())
def test_check_finds_any_change(drawn: tuple[FileInstance, list[int]], data: st.DataObject) -> None:
    """Feasible solutions pass; with one visit replaced by another customer they never do."""
    instance, actions = drawn
    report = check(instance, actions)
    assert sorted(node for route in report.routes for node in route) == list(
        range(1, instance.size + 1)
    )
    assert sum(report.loads) == instance.demand.sum()
    assert max(report.loads) <= instance.capacity
    place = data.draw(st.integers(0, len(actions) - 1))
    other = data.draw(st.integers(1, instance.size).filter(lambda node: node != actions[place]))
    with pytest.raises(InvalidSolutionError):
        check(instance, [*actions[:place], other, *actions[place + 1 :]])


def test_routes_are_split_at_the_depot() -> None:
    """Routes lie between visits to the depot; repeated visits make no route."""
    assert routes([0, 0, 3, 1, 0, 0, 2, 0, 0]) == [[3, 1], [2]]
    assert routes([2, 0, 1]) == [[2], [1]]
    assert routes([0, 0]) == []


def test_sol_file_has_the_form_of_cvrplib(tmp_path: Path) -> None:
    """The text of a .sol file agrees with one written by hand."""
    write_solution(tmp_path / "four.sol", FOUR, BEST, 43)
    assert (tmp_path / "four.sol").read_text() == "Route #1: 1 2\nRoute #2: 3 4\nCost 43\n"


def test_tour_file_has_the_form_of_tsplib(tmp_path: Path) -> None:
    """The text of a .tour file agrees with one written by hand; nodes count from 1."""
    write_solution(tmp_path / "five.tour", FIVE, [4, 0, 1, 2, 3], 42)
    assert (tmp_path / "five.tour").read_text() == (
        "NAME : five.tour\nCOMMENT : Length = 42\nTYPE : TOUR\nDIMENSION : 5\n"
        "TOUR_SECTION\n5\n1\n2\n3\n4\n-1\nEOF\n"
    )


@pytest.mark.parametrize(
    ("stated", "length"),
    [("Length = 42", 42), ("Length 42.5", 42.5), ("Length 1,234", None), ("Cost 1.5e+12", None)],
)
def test_length_of_a_tour_is_read_where_it_is_clear(
    tmp_path: Path, stated: str, length: float | None
) -> None:
    """The first digits of another form of numbers are no length."""
    write_solution(tmp_path / "five.tour", FIVE, [4, 0, 1, 2, 3], 42)
    text = (tmp_path / "five.tour").read_text().replace("Length = 42", stated)
    (tmp_path / "other.tour").write_text(text)
    assert read_solution(tmp_path / "other.tour").cost == length


@settings(deadline=None)
@given(solved())
def test_solutions_round_trip(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[FileInstance, list[int]]
) -> None:
    """A written solution is read with the same routes and cost."""
    instance, actions = drawn
    path = tmp_path_factory.getbasetemp() / "solution"
    write_solution(path, instance, actions, cost(instance, actions), overwrite=True)
    read = read_solution(path)
    assert read.cost == cost(instance, read.actions) == cost(instance, actions)
    assert check(instance, read.actions).routes == check(instance, actions).routes


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    """An existing file stays, byte for byte, unless ``overwrite`` is true."""
    path = tmp_path / "four.sol"
    path.write_text("mine")
    with pytest.raises(ConfigError, match=r"four\.sol: .* exists already"):
        write_solution(path, FOUR, BEST, 43)
    with pytest.raises(ConfigError, match=r"four\.sol: .* exists already"):
        plot_routes(FOUR, BEST, path)
    assert path.read_text() == "mine"
    write_solution(path, FOUR, BEST, 43, overwrite=True)
    assert read_solution(path).cost == 43
    assert list(tmp_path.iterdir()) == [path]


def test_wrong_solutions_are_not_written(tmp_path: Path) -> None:
    """No file is written for an infeasible solution or a wrong cost."""
    with pytest.raises(InvalidSolutionError, match="expected the cost 43 of the actions, got 42"):
        write_solution(tmp_path / "four.sol", FOUR, BEST, 42)
    with pytest.raises(InvalidSolutionError, match="node 4"):
        write_solution(tmp_path / "four.sol", FOUR, BEST[:-2], 43)
    assert not list(tmp_path.iterdir())


def test_unwritable_paths_are_refused(tmp_path: Path) -> None:
    """A missing folder, and a folder at the path of the file, are named."""
    with pytest.raises(ConfigError, match=r"missing/four\.sol: cannot be written"):
        write_solution(tmp_path / "missing" / "four.sol", FOUR, BEST, 43)
    with pytest.raises(ConfigError, match="expected a file to write, got a folder"):
        write_solution(tmp_path, FOUR, BEST, 43, overwrite=True)


def test_failed_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the disk fails halfway, no part of the file and no temporary file stays."""

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ConfigError, match=r"four\.sol: cannot be written \(No space left"):
        write_solution(tmp_path / "four.sol", FOUR, BEST, 43)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected 'Route #1"),
        ("hello world\n", "expected 'Route #1"),
        ("Route #1: 1 x\nCost 3\n", "not in the CVRPLIB form"),
        ("Route 1 2\n", "not in the CVRPLIB form"),
        ("Vehicle 1: 1 2\nCost 7\n", "expected 'Route #1: …' for each route, got 'Vehicle 1: 1 2'"),
        ("7\n1 0 2 3 0\n", "expected 'Route #1: …' for each route"),
        ("1 2\r\n3 4 5\r\nCost 20\r\n", "expected 'Route #1: …' for each route, got '1 2'"),
        (f"Route #1: {10**30}\n", "not in the CVRPLIB form"),
        ("Route #1: 1 2\nCost cheap\n", "Cost: expected a number of at least 0, got 'cheap'"),
        ("Route #1: 1 2\nCost -3\n", "Cost: expected a number of at least 0, got -3"),
        ("DIMENSION: 3\nTOUR_SECTION\n1\n2\n-1\n", "expected 3 nodes as DIMENSION says, got 2"),
        ("TOUR_SECTION\n1\n0\n-1\n", "expected node numbers from 1 on, got '0'"),
        ("TOUR_SECTION\n1\ntwo\n-1\n", "expected node numbers from 1 on, got 'two'"),
        (f"TOUR_SECTION\n{10**30}\n", "expected node numbers from 1 on"),
    ],
)
def test_bad_solution_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """The error names the solution file."""
    path = tmp_path / "bad.sol"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=rf"bad\.sol: .*{message}"):
        read_solution(path)


def instance_beside(folder: Path, solution: str | None) -> Path:
    """Write the CVRP fixture without its COMMENT, and a solution in the same folder."""
    path = folder / "four.vrp"
    lines = (FIXTURES / "four.vrp").read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("COMMENT")))
    if solution is not None:
        path.with_suffix(".sol").write_text(solution)
    return path


@pytest.mark.parametrize(
    ("solution", "best"),
    [
        (None, None),
        ("Cost 41\n", 41),
        ("Route #1: 1 2\nRoute #2: 3 4\nCost 43\n", 43),
        ("Route #1:\t1 2\nRoute #2: 3  4\n", 43),
        ("Route #1: 1 2\nRoute #2: 3 4\nCost 43.4\n", 43),
        ("Routes: 2\nroute 1 : 1 2\nROUTE #2: 3 4\ncost 43\n", 43),
        ("#1: 1 2\n#2: 3 4\nCost 43\n", 43),
        ("Route #1: 1 2\nRoute #2: 3 4\nCost 43\n12:30 7\n10:45 done\n", 43),
        ("Cost 41\n2020-01-02 12:30:45\nTime 12 30 s\n", 41),
    ],
)
def test_best_known_uses_the_solution_file(
    tmp_path: Path, solution: str | None, best: float | None
) -> None:
    """Routes are measured; a stated cost counts where there are none."""
    path = instance_beside(tmp_path, solution)
    assert best_known(path, read_instance(path)) == best


def test_best_known_tour_is_measured() -> None:
    """An optimal tour file gives the length of the tour in the file's units."""
    assert best_known(FIXTURES / "five.tsp", FIVE) == 42


def test_best_known_falls_back_to_the_comment() -> None:
    """Without a solution file the instance's COMMENT counts."""
    assert best_known(FIXTURES / "four.vrp", FOUR) == 43


def test_best_known_refuses_routes_of_another_instance(tmp_path: Path) -> None:
    """The message names both files."""
    path = instance_beside(tmp_path, "Route #1: 1 2\n")
    with pytest.raises(FileFormatError, match=r"four\.sol: does not solve .*four\.vrp: .*node 3"):
        best_known(path, read_instance(path))


@pytest.mark.parametrize("stated", ["4", "430", "34"])
def test_best_known_is_what_the_routes_cost(tmp_path: Path, stated: str) -> None:
    """The cost is the last line, so it is what a download that breaks off damages."""
    path = instance_beside(tmp_path, f"Route #1: 1 2\nRoute #2: 3 4\nCost {stated}\n")
    with pytest.warns(UserWarning, match=rf"four\.sol: states a cost of {stated}; .* costs 43"):
        assert best_known(path, read_instance(path)) == 43
