"""Copies by a thread with a heap apart."""

import threading

import pytest
import torch

from lifelong_co.tensors.heap import CopyThread


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.uint8,
        torch.int8,
        torch.int32,
    ],
)
def test_copies_are_equal_and_share_no_memory(dtype: torch.dtype) -> None:
    """It holds for every dtype of an experience, contiguous or not."""
    given = {
        "a": torch.arange(12).view(3, 4).to(dtype),
        "b": torch.arange(12).view(3, 4).T.to(dtype),
    }
    (copies,) = CopyThread().copies([given])
    assert copies.keys() == given.keys()
    for name, copy in copies.items():
        assert copy.dtype == dtype
        assert torch.equal(copy, given[name])
        assert copy.data_ptr() != given[name].data_ptr()


def test_copying_thread_ends_with_its_owner() -> None:
    """Many runs in one process leave no threads behind."""
    before = set(threading.enumerate())
    thread_of_copies = CopyThread()
    thread_of_copies.copies([{"a": torch.zeros(1)}])
    mine = set(threading.enumerate()) - before
    assert mine
    del thread_of_copies
    for thread in mine:
        thread.join(timeout=10)
    assert not any(thread.is_alive() for thread in mine)
