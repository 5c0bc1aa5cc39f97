"""Runs foreign code so that it leaves the process as it was: what is global is put back."""

import contextlib
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import torch

X = TypeVar("X")


def apart(function: Callable[[], X]) -> X:
    """Call a function in a thread of its own and return what it returns or raises.

    What torch keeps for each thread, the default device and whether gradients are recorded, is
    then neither seen by the function nor changed for the caller.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="lifelong-co-official") as thread:
        return thread.submit(function).result()


@contextlib.contextmanager
def untouched() -> Iterator[None]:
    """Put back, at the end, everything a module may change of the process when it is imported.

    That is ``sys.path`` and ``sys.dont_write_bytecode``, the working directory, torch's default
    type of tensors, the random states of Python, numpy and torch, and the warning filters;
    warnings of the code inside are not shown, since nobody here can mend them.
    """
    path = list(sys.path)
    bytecode = sys.dont_write_bytecode
    folder = working_directory()
    tensor_type = apart(default_tensor_type)
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode = bytecode
        if folder is not None and working_directory() != folder:
            os.chdir(folder)
        if apart(default_tensor_type) != tensor_type:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # deprecated, yet there is no other way back
                torch.set_default_tensor_type(tensor_type)
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)


def working_directory() -> str | None:
    """Return the working directory; None if it has been deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def default_tensor_type() -> str:
    """Return torch's default type of tensors, e.g. ``torch.FloatTensor``.

    To be called in a thread of its own, where no default device hides it.
    """
    return torch.empty(0).type()
