"""Distances that a TSPLIB file lists, with ``EDGE_WEIGHT_TYPE: EXPLICIT``."""

import numpy as np
import numpy.typing as npt

from lifelong_co.instance_files.vrplib_parser import Header, refuse


def where_explicit(header: Header, kind: str) -> str:
    """Return the section with the coordinates of a file with EXPLICIT distances.

    Empty if the TYPE ``kind`` is ATSP, which needs none.

    Raises
    ------
    FileFormatError
        If the format of the distances is not supported, or if the file has no coordinates, which
        networks need.
    """
    form = header.value("EDGE_WEIGHT_FORMAT").upper()
    known = ("FULL_MATRIX",) if kind == "ATSP" else ("LOWER_ROW", "FULL_MATRIX")
    if form not in known:
        raise refuse(
            header.path,
            f"EDGE_WEIGHT_FORMAT: {form} is not supported; expected {' or '.join(known)}",
        )
    if kind == "ATSP":
        return ""
    for section in ("NODE_COORD", "DISPLAY_DATA"):
        if section in header.ids:
            return section
    raise refuse(
        header.path,
        "EDGE_WEIGHT_TYPE: EXPLICIT is not supported without coordinates, except with TYPE: ATSP",
    )


def weights(header: Header, count: int, *, symmetric: bool = True) -> npt.NDArray[np.int64]:
    """Return the distances that a file lists: int64 ``[count, count]``, diagonal 0.

    Raises
    ------
    FileFormatError
        If they are missing, too few or too many, not whole, or not ``symmetric``.
    """
    title = "EDGE_WEIGHT_SECTION"
    if "EDGE_WEIGHT" not in header.ids:
        raise refuse(header.path, f"expected a {title}, got none")
    lower = header.value("EDGE_WEIGHT_FORMAT").upper() == "LOWER_ROW"
    words, expected = header.ids["EDGE_WEIGHT"], count * (count - 1) // 2 if lower else count**2
    if len(words) != expected:  # before there is a matrix of a size that a wrong file states
        raise refuse(header.path, f"{title}: expected {expected} distances, got {len(words)}")
    places = np.tri(count, k=-1, dtype=bool) if lower else np.ones((count, count), dtype=bool)
    numbers = np.zeros((count, count))
    try:
        numbers[places] = np.array(words, dtype=np.float64)
    except ValueError as error:
        raise refuse(header.path, f"{title}: expected numbers ({error})") from error
    if lower:
        numbers += numbers.T
    # This form of the test refuses NaN, too.
    if not ((numbers >= 0) & (numbers <= 1e12) & (numbers == np.floor(numbers))).all():
        raise refuse(header.path, f"{title}: expected whole numbers from 0 to 1e12")
    if symmetric and (numbers != numbers.T).any():
        raise refuse(header.path, f"{title}: expected symmetric distances")
    whole = numbers.astype(np.int64)
    # Files have a filler on the diagonal; a route that stays at the depot would pay it.
    np.fill_diagonal(whole, 0)
    return whole


def unit_of(listed: npt.NDArray[np.int64], coordinates: npt.NDArray[np.float64]) -> float:
    """Return the units of listed distances ``[A, A]`` in one unit of the coordinates ``[A, 2]``.

    It is the median ratio to the straight lines: a few distances may be fillers, as for a road that
    is closed.
    """
    some = np.arange(0, len(listed), 1 + len(listed) // 500)  # of large files, to save memory
    straight = np.sqrt(((coordinates[some, None] - coordinates) ** 2).sum(axis=2))
    apart = straight > 0
    ratio = float(np.median(listed[some][apart] / straight[apart])) if apart.any() else 0.0
    return ratio or 1.0
