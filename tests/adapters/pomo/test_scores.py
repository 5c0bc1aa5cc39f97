"""Scores of attention, and parts of a batch."""

import math

import pytest
import torch
from lifelong_co_adapters.pomo.scores import by_head, by_place, forbidden, of, parts, score


def test_scores_are_divided_by_the_root_of_the_width() -> None:
    """In any base; forbidden actions have -inf, for all heads."""
    B, H, S, A, d = 2, 3, 4, 5, 6
    query, key = (torch.randn(B * H, n, d, dtype=torch.double) for n in (S, A))
    feasible = torch.rand(B, S, A) < 0.5
    expected = query @ key.transpose(1, 2) / math.sqrt(d)
    torch.testing.assert_close(score(query, key, None), expected)
    torch.testing.assert_close(score(query, key, None, base=2), expected / math.log(2))
    masked = score(query, key, forbidden(feasible, query.dtype)).view(B, H, S, A)
    where = feasible[:, None].expand(B, H, S, A)
    torch.testing.assert_close(masked[where], expected.view(B, H, S, A)[where])
    assert (masked[~where] == -torch.inf).all()


def test_scores_of_bfloat16_are_in_single_precision() -> None:
    """Only the product is rounded."""
    query, key = (torch.randn(2, 3, 4).bfloat16() for _ in range(2))
    assert score(query, key, None).dtype == torch.float32


@pytest.mark.parametrize(("most", "expected"), [(1000, [3]), (2 * 40, [2, 1]), (1, [1, 1, 1])])
def test_parts_cover_the_batch(most: int, expected: list[int]) -> None:
    """Each has at most that many scores, or one instance."""
    B, H, S, A = 3, 2, 4, 5
    query, key = torch.zeros(B * H, S, 1), torch.zeros(B * H, A, 1)
    found = list(parts(query, key, B, most))
    assert [len(range(B)[instances]) for instances, _ in found] == expected
    assert [i for _, heads in found for i in range(B * H)[heads]] == list(range(B * H))


def test_layouts_are_inverse() -> None:
    """By head and by place; a part of nothing is nothing."""
    each = torch.randn(2, 3, 4, 5)
    assert torch.equal(by_place(by_head(each), 2), each)
    assert of(None, slice(1)) is None
    assert forbidden(None, torch.float32) is None
