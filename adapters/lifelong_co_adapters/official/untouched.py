"""Running third-party code without lasting changes to the global state of the process."""

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
    """Call a function in a new thread; return its result or raise its error.

    Torch keeps the default device and the recording of gradients for each thread. So the function
    neither sees nor changes those of the caller.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="lifelong-co-official") as thread:
        return thread.submit(function).result()


@contextlib.contextmanager
def untouched() -> Iterator[None]:
    """Restore, at the end, the global state that an import may change.

    These are ``sys.path`` and ``sys.dont_write_bytecode``, the working directory, torch's default
    type of tensors, the random states of Python, numpy and torch, and the warning filters. Warnings
    of the code inside are not shown: a user cannot correct that code.
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
                warnings.simplefilter("ignore")  # deprecated, but there is no other function
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

    Call it in a new thread: there no default device hides the type.
    """
    return torch.empty(0).type()
