"""Splitting a tree into JSON values and tensors, and joining them again."""

import json
from typing import Any

import torch
from hypothesis import given, settings
from tree_strategies import check_equal, groups, trees

from lifelong_co.storage.tree import flatten, unflatten


@settings(max_examples=120)
@given(trees())
def test_skeleton_and_tensors_restore_the_tree(tree: Any) -> None:
    """A tree is the same after JSON text and a list of tensors, without a file."""
    skeleton, stored = flatten(tree)
    text = json.dumps(skeleton, allow_nan=False)
    rebuilt = unflatten(json.loads(text), stored.__getitem__)
    check_equal(rebuilt, tree)
    assert groups(rebuilt) == groups(tree)
    assert len(stored) == len(set(groups(tree)))


def test_only_overlapping_tensors_are_copied() -> None:
    """Of two overlapping tensors one is copied; all others are written from their memory."""
    large = torch.rand(100)
    tree = [large[:10], large[10:], torch.zeros(3, 4), large[5:20]]
    _, stored = flatten(tree)
    copied = [a.data_ptr() != b.data_ptr() for a, b in zip(tree, stored, strict=True)]
    assert copied == [False, True, False, False] or copied == [False, False, False, True]
