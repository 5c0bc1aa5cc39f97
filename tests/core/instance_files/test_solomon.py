"""Files of Solomon, and of Gehring and Homberger."""

import contextlib
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import FIXTURES

from lifelong_co import registry
from lifelong_co.errors import FileFormatError, InvalidInstancesError
from lifelong_co.instance_files import solomon
from lifelong_co.instance_files.file_instance import InvalidSolutionError, to_instances
from lifelong_co.instance_files.formats import read_file
from lifelong_co.instance_files.route_rules import TimeWindows
from lifelong_co.instance_files.solutions import check
from lifelong_co.problems.mtvrp import MTVRP

SEVEN = FIXTURES / "seven.txt"


def test_solomon_file_is_read_in_its_units() -> None:
    """Coordinates, loads, time windows and service times are those of the rows."""
    one = solomon.read(SEVEN, best_known=3.5)
    assert (one.name, one.problem, one.size, one.capacity) == ("SEVEN", "mtvrp", 7, 20)
    assert one.coordinates[0].tolist() == [40, 50]
    assert one.demand is not None
    assert one.demand.tolist() == [10, 7, 10, 10, 10, 6, 8]
    assert (one.distance_rule, one.best_known) == ("UNROUNDED", 3.5)
    assert isinstance(one.rules, TimeWindows)
    assert one.rules.ready[[0, 1]].tolist() == [0, 90]
    assert one.rules.due[[0, 5]].tolist() == [240, 61]
    assert one.rules.service.tolist() == [0, *[10] * 7]


def test_networks_see_times_in_the_unit_of_the_coordinates() -> None:
    """The longer side is 1; latest times are a little earlier than in the file, never later."""
    batch = to_instances(solomon.read(SEVEN), MTVRP())
    side = 40.0  # x from 20 to 60
    assert batch.nodes.max() == pytest.approx(1.0)
    assert batch.service.tolist()[0] == pytest.approx([10 / side] * 7)
    assert batch.windows[0, 0].tolist() == pytest.approx([90 / side, 180 / side], rel=1e-4)
    assert (
        batch.windows[0, :, 1].numpy() * side <= np.array([180, 90, 120, 180, 61, 100, 200])
    ).all()
    assert batch.horizon.item() * side == pytest.approx(240, rel=1e-4)
    assert batch.horizon.item() * side < 240


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  5          20", "  5          0.5", "VEHICLE: expected a whole CAPACITY .*, got 0.5"),
        ("50          6", "50          5.5", "DEMAND of 6: expected a whole number .*, got 5.5"),
        ("50          6", "50          21", "DEMAND of 6: .* to the capacity 20, got 21"),
        ("50          0 ", "50          7 ", "DEMAND of 0: expected 0, got 7"),
        ("  5          20", "  5", "VEHICLE: expected rows of 2 numbers"),
        ("    2      45", "    9      45", "CUSTOMER: expected rows with the numbers 0, 1, 2"),
        ("30        61", "30        six", "CUSTOMER: expected rows of 7 numbers"),
        ("30        61", "30        nan", "CUSTOMER: expected rows of finite numbers"),
        ("30        61", "3        6", "node 5 cannot be served, even alone: expected at most 6"),
        ("240          0\n", "240          5\n", "service time of the depot: expected 0, got 5"),
        ("30        61", "-3        61", "time windows and service times: expected at least 0"),
        (
            "         0       240",
            "         0       20",
            "even alone: expected at most 20 at the de",
        ),
    ],
)
def test_faults_of_solomon_files_are_named(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    """The error names the file and what is wrong."""
    text = SEVEN.read_text()
    assert text.count(old) == 1
    (tmp_path / "bad.txt").write_text(text.replace(old, new))
    with pytest.raises(FileFormatError, match=rf"bad\.txt: .*{message}"):
        solomon.read(tmp_path / "bad.txt")


def test_library_file_with_time_windows_is_read(tmp_path: Path) -> None:
    """A .vrp with a TIME_WINDOW_SECTION keeps the rounding of its distances."""
    text = (FIXTURES / "four.vrp").read_text()
    rows = "\n".join(f"{node} 0 {90 + node}" for node in range(1, 6))
    timed = text.replace("DEPOT_SECTION", f"TIME_WINDOW_SECTION\n{rows}\nDEPOT_SECTION")
    timed = timed.replace("CAPACITY", "SERVICE_TIME : 3\nCAPACITY")
    (tmp_path / "timed.vrp").write_text(timed)
    one = solomon.read(tmp_path / "timed.vrp")
    assert (one.problem, one.distance_rule) == ("mtvrp", "EUC_2D")
    assert isinstance(one.rules, TimeWindows)
    assert one.rules.due.tolist() == [91, 92, 93, 94, 95]
    assert one.rules.service.tolist() == [0, 3, 3, 3, 3]


@pytest.mark.parametrize(("limit", "service", "length"), [(22, 0, 23), (28, 3, 29)])
def test_library_file_with_limited_routes_is_read(
    limit: int, service: int, length: int, tmp_path: Path
) -> None:
    """DISTANCE limits the length of a route and its service times, as in CVRPLIB's CMT6."""
    lines = f"DISTANCE : {limit}\nSERVICE_TIME : {service}\nCAPACITY"
    path = tmp_path / "limited.vrp"
    path.write_text((FIXTURES / "four.vrp").read_text().replace("CAPACITY", lines))
    one = read_file(path)
    assert (one.problem, one.distance_rule) == ("mtvrp", "EUC_2D")
    batch = to_instances(one, MTVRP())
    assert batch.limit.isfinite().tolist() == [service == 0]
    assert batch.horizon.isfinite().tolist() == [service > 0]
    assert check(one, [0, 1, 3, 0, 2, 0, 4, 0]).cost == 50
    with pytest.raises(InvalidSolutionError, match=f"#2: .* {limit} at the depot, got {length}"):
        check(one, [0, 1, 2, 0, 3, 4, 0])


@pytest.mark.filterwarnings("ignore:.*the file may be cut")
@settings(deadline=None, max_examples=200)
@given(st.data())
def test_damaged_files_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Words of a file that are changed, cut or repeated never raise another error."""
    name = data.draw(st.sampled_from(("seven.txt", "four.atsp")))
    words = re.split(r"(\s+)", (FIXTURES / name).read_text())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(words) - 1))
        values = ("", "-1", "nan", "1e99", "x", "0.5", "\n", "CUSTOMER", "\0")
        new = data.draw(st.sampled_from(values))
        words[place : place + data.draw(st.integers(0, 2))] = [new]
    path = tmp_path_factory.getbasetemp() / f"damaged{Path(name).suffix}"
    path.write_text("".join(words))
    with contextlib.suppress(FileFormatError, InvalidInstancesError):
        one = read_file(path)
        to_instances(one, registry.problem(one.problem))
