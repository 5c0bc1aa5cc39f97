"""The parser of TSPLIB and CVRPLIB files: each fault is refused, with the file's name."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library_texts import TSP_TEXT, VRP_TEXT, read_text

from lifelong_co.errors import FileFormatError
from lifelong_co.instance_files.file_instance import to_instances
from lifelong_co.instance_files.vrplib_instances import read_instance
from lifelong_co.problems.cvrp import CVRP
from lifelong_co.problems.tsp import TSP

PROBLEMS = {"tsp": TSP(), "cvrp": CVRP()}


@pytest.mark.filterwarnings("ignore:.*the file may be cut")
@settings(deadline=None, max_examples=300)
@given(st.data())
def test_damaged_files_are_refused_by_name(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A truncated or altered file is read or refused with its name; no other error is raised."""
    text = data.draw(st.sampled_from((TSP_TEXT, VRP_TEXT)))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.one_of(st.just(len(text)), st.integers(start, min(len(text), start + 20))))
    filling = data.draw(
        st.sampled_from(("", "x", "-", "9", "nan", "1e999", ":", "\n", "EOF", "_SECTION", "\0"))
    )
    refusal = ""
    try:
        read = read_text(tmp_path_factory.getbasetemp(), text[:start] + filling + text[end:])
    except FileFormatError as error:
        refusal = str(error)
    if refusal:
        assert "given.vrp: " in refusal
    else:
        assert np.isfinite(read.coordinates).all()
        assert to_instances(read, PROBLEMS[read.problem]).nodes.shape == (1, read.size, 2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TYPE : CVRP\n", "", "'TYPE : …'"),
        ("TYPE : CVRP", "TYPE : ATSP", "expected EXPLICIT with TYPE ATSP, got EUC_2D"),
        ("TYPE : CVRP", "TYPE : HCP", "TYPE: expected TSP, ATSP, CVRP or VRPTW, got HCP"),
        ("TYPE : CVRP", "TYPE : VRPTW", "expected a TIME_WINDOW_SECTION, got none"),
        ("EUC_2D", "EXPLICIT", "expected a line 'EDGE_WEIGHT_FORMAT : …'"),
        ("EUC_2D", "GEO", "GEO is not supported; expected EUC_2D, CEIL_2D, FLOOR_2D, EXACT_2D or"),
        ("EUC_2D", "ATT", "ATT is not supported; expected EUC_2D, CEIL_2D, FLOOR_2D, EXACT_2D or"),
        ("EDGE_WEIGHT_TYPE : EUC_2D\n", "", "'EDGE_WEIGHT_TYPE : …'"),
        ("DIMENSION : 5", "DIMENSION : 6", "NODE_COORD_SECTION: expected 6 rows .* got 5"),
        ("DIMENSION : 5", "DIMENSION : many", "DIMENSION: expected a whole number .* got 'many'"),
        ("DIMENSION : 5", "DIMENSION : 2", "DIMENSION: expected .* at least 3, got '2'"),
        ("CAPACITY : 10\n", "", "'CAPACITY : …'"),
        ("CAPACITY : 10", "CAPACITY : 0", "CAPACITY: expected .* at least 1"),
        ("CAPACITY : 10", "CAPACITY : 5", "CAPACITY 5, got 6 at node 3"),
        ("CAPACITY : 10", "CAPACITY : 10\nSERVICE_TIME : 2", "SERVICE_TIME: not supported"),
        ("CAPACITY : 10", "CAPACITY : 10\nDISTANCE : 2.5", "DISTANCE: expected a whole number"),
        ("CAPACITY : 10", "CAPACITY : 10\nDISTANCE : 9", "node 1 cannot be served, even alone"),
        (
            "CAPACITY : 10",
            "CAPACITY : 10\nVEHICLES_MAX_DISTANCE : 20",
            "VEHICLES_MAX_DISTANCE: not supported",
        ),
        ("TYPE : CVRP", "TYPE : VRPB", "backhauls are not supported: in files of TYPE VRPB"),
        ("DEPOT_SECTION", "BACKHAUL_SECTION\n1 0\nDEPOT_SECTION", "backhauls are not supported"),
        (
            "CAPACITY : 10\n",
            "CAPACITY : 10\nDISTANCE : 99\nTIME_WINDOW_SECTION\n",
            "DISTANCE: not supported for TYPE CVRP with a TIME_WINDOW_SECTION",
        ),
        ("3 6 8", "3 6", "NODE_COORD_SECTION: expected a node number and 2"),
        ("3 6 8", "3 6 nan", "expected finite numbers .* at node 3"),
        ("3 6 8", "3 6 1e300", "expected finite numbers .* at node 3"),
        ("3 6 8", "3 6 x", "NODE_COORD_SECTION: expected a node number and 2"),
        ("3 6 8", "2 6 8", "NODE_COORD_SECTION: expected every node once, got node 2 twice"),
        ("3 6 8", "7 6 8", "NODE_COORD_SECTION: expected node numbers 1 to 5, got '7'"),
        ("3 6\n", "2 6\n", "DEMAND_SECTION: expected every node once, got node 2 twice"),
        ("3 6\n", "", "DEMAND_SECTION: expected 5 rows .* got 4"),
        ("3 6\n", "3 6.5\n", "DEMAND_SECTION: expected whole numbers .* got 6.5 at node 3"),
        ("3 6\n", "3 -6\n", "DEMAND_SECTION: expected whole numbers .* got -6 at node 3"),
        ("1 0\n2 4", "1 3\n2 4", "DEMAND_SECTION: expected 0 at the depot, got 3"),
        (" 1\n -1", " 2\n -1", "DEPOT_SECTION: expected the one depot 1, .* got 2"),
        (" 1\n -1", " 1\n 2\n -1", "DEPOT_SECTION: expected the one depot 1, .* got 1, 2"),
        (" 1\n -1", " 1 2 -1", "DEPOT_SECTION: expected the one depot 1, .* got 1, 2"),
        ("DEPOT_SECTION\n 1\n -1\n", "", "DEPOT_SECTION: .* got none"),
        ("DEPOT_SECTION", "FIXED_EDGES_SECTION\n1 2\nDEPOT_SECTION", "FIXED_EDGES_SECTION: not"),
        ("DEPOT_SECTION", "CAPACITY : 9\nDEPOT_SECTION", "not in TSPLIB format"),
        ("NAME : four", "NAME four", "not in TSPLIB format"),
    ],
)
def test_refusals_name_file_and_problem(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Each fault of a file has a message, which starts with the file's name."""
    assert VRP_TEXT.count(old) == 1 or old == "EUC_2D"
    with pytest.raises(FileFormatError, match=rf"given\.vrp: .*{message}"):
        read_text(tmp_path, VRP_TEXT.replace(old, new))


def test_files_without_text_are_refused(tmp_path: Path) -> None:
    """A missing, an empty and a binary file, and a folder, are refused by name."""
    empty, binary = tmp_path / "empty.tsp", tmp_path / "binary.tsp"
    empty.touch()
    binary.write_bytes(b"PK\x03\x04\0\0")
    for path in (tmp_path / "missing.tsp", tmp_path, empty, binary):
        with pytest.raises(FileFormatError, match=rf"^{path}: "):
            read_instance(path)


def test_free_texts_may_have_the_words_of_the_format(tmp_path: Path) -> None:
    """A name with EOF in it ends nothing, and a comment begins no section."""
    text = VRP_TEXT.replace("NAME", "COMMENT: the DEMAND_SECTION is in pallets\nNAME", 1)
    lines = ["NAME: GEOFFREY" if line.startswith("NAME") else line for line in text.splitlines()]
    read = read_text(tmp_path, "\n".join(lines) + "\n")
    plain = read_text(tmp_path, VRP_TEXT)
    assert read.name == "GEOFFREY"
    assert (read.coordinates == plain.coordinates).all()
    assert (read.demand == plain.demand).all()


def test_text_that_breaks_off_in_its_last_line_is_warned_of(tmp_path: Path) -> None:
    """The last row has all of its numbers, but perhaps not all of its digits."""
    whole = TSP_TEXT.partition("EOF")[0].rstrip()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for end in ("\n", "\nEOF", "\nEOF:", "\nEOF \x1a", "\r\n"):
            assert read_text(tmp_path, whole + end).size == 5
    with pytest.warns(UserWarning, match=r"given\.vrp: no line end or EOF"):
        read_text(tmp_path, whole)
