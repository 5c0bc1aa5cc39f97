"""Which of many tasks a page shows."""

import itertools

import pytest

from lifelong_co.experiments.comparison.selection import MANY, MARKS, sequence, shown


@pytest.mark.parametrize("k", [1, 6, MANY])
def test_few_tasks_are_all_shown(k: int) -> None:
    """However many may be shown."""
    assert shown(k) == shown(k, 2) == list(range(k))
    assert sequence([str(i) for i in range(k)]).count("→") == k - 1


@pytest.mark.parametrize("k", [MANY + 1, 100, 300, 10_000])
@pytest.mark.parametrize("most", [MARKS, MANY])
def test_some_of_many_tasks_are_shown_at_even_distances(k: int, most: int) -> None:
    """The first one and the last one are among them."""
    found = shown(k, most)
    assert (found[0], found[-1], len(found)) == (0, k - 1, most)
    distances = {after - before for before, after in itertools.pairwise(found)}
    assert max(distances) - min(distances) <= 1


def test_order_of_many_tasks_is_short() -> None:
    """It has both ends and the number of the others."""
    names = [f"T{i}" for i in range(1, 301)]
    assert sequence(names) == "T1 → T2 → T3 → … (294 more) → T298 → T299 → T300"
