"""Files of Solomon (1987) and of Gehring and Homberger (1999): the CVRP with time windows.

The text has a name, the number and capacity of the vehicles, and a row for each node: number, x, y,
demand, ready time, due date, service time; the depot is node 0. Distances and times are Euclidean
and not rounded, as in the lists of the best known solutions by SINTEF. These lists minimize the
number of vehicles first; here the number of vehicles does not count.
"""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.route_rules import with_windows
from lifelong_co.instance_files.vrplib_instances import read_instance
from lifelong_co.instance_files.vrplib_parser import read_text, refuse, warn_of_cut

COLUMNS = 7


def read(path: str | os.PathLike[str], *, best_known: float | None = None) -> FileInstance:
    """Read a Solomon file, or a CVRPLIB file with time windows.

    Raises
    ------
    FileFormatError
        If the file cannot be used.
    """
    text = read_text(path)
    lines = [line.split() for line in text.splitlines() if line.strip()]
    titles = [" ".join(words).upper() for words in lines]
    if "CUSTOMER" not in titles or "VEHICLE" not in titles:
        return read_instance(path, best_known=best_known)
    vehicle, customer = titles.index("VEHICLE"), titles.index("CUSTOMER")
    capacity = _numbers(path, "VEHICLE", lines[vehicle + 2 : vehicle + 3], 2)[0, 1]
    rows = _numbers(path, "CUSTOMER", lines[customer + 2 :], COLUMNS)
    if rows[:, 0].tolist() != list(range(len(rows))) or len(rows) < 3:
        raise refuse(path, "CUSTOMER: expected rows with the numbers 0, 1, 2, …, at least three")
    if capacity < 1 or capacity != int(capacity):
        raise refuse(path, f"VEHICLE: expected a whole CAPACITY of at least 1, got {capacity:g}")
    demand, most = rows[:, 3], np.where(rows[:, 0] == 0, 0, capacity)  # the depot has none
    wrong = (demand != np.floor(demand)) | (demand < 0) | (demand > most)
    for i in wrong.nonzero()[0][:1]:
        wanted = f"a whole number from 0 to the capacity {capacity:g}" if i else "0"
        raise refuse(path, f"DEMAND of {i}: expected {wanted}, got {demand[i]:g}")
    instance = FileInstance(
        name=lines[0][0] if customer > 0 and titles[0] != "VEHICLE" else Path(path).stem,
        problem="mtvrp",
        coordinates=rows[:, 1:3],
        demand=demand[1:].astype(np.int64),
        capacity=int(capacity),
        distance_rule="UNROUNDED",
        best_known=best_known,
    )
    warn_of_cut(path, text)
    return with_windows(path, instance, rows[:, 4:6], rows[:, 6])


def _numbers(
    path: str | os.PathLike[str], title: str, rows: list[list[str]], columns: int
) -> npt.NDArray[np.float64]:
    """Return rows of numbers as float64 ``[k, columns]``."""
    try:
        found = np.array(rows, dtype=np.float64).reshape(len(rows), columns)
    except (ValueError, OverflowError) as error:
        raise refuse(path, f"{title}: expected rows of {columns} numbers ({error})") from error
    if not len(found) or not (np.abs(found) <= 1e12).all():  # this form refuses NaN, too
        raise refuse(path, f"{title}: expected rows of finite numbers of at most 1e12")
    return found
