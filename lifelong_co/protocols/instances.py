"""For authors of distributions and file formats: where instances come from."""

import os
from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor


class Distribution(Protocol):
    """A distribution of instances of one problem."""

    def sample(self, batch: int, size: int, *, generator: torch.Generator | None = None) -> Any:
        """Return ``B = batch`` instances of ``n = size``, in float32, on the generator's device.

        They may depend only on the arguments and the generator: a checkpoint keeps nothing else.
        """


class FileFormat(Protocol):
    """How the instances of one problem are read from files."""

    suffixes: tuple[str, ...]
    """Of the files' names, e.g. ``(".vrp",)``."""

    def __call__(self, path: str | os.PathLike[str], *, best_known: float | None = None) -> Any:
        """Return a `file_instance.FileInstance`; raise `FileFormatError` if that is impossible."""


class FieldSampler(Protocol):
    """Draws the fields of a problem's instances that a distribution does not draw."""

    def __call__(
        self, known: Mapping[str, Tensor], generator: torch.Generator | None
    ) -> Mapping[str, Tensor]:
        """Return further fields of ``B`` instances, ``[B, ...]``, on the generator's device.

        ``known`` has the fields that the distribution has drawn: ``nodes [B, n, 2]`` and, if the
        instances have them, ``depot [B, 1, 2]`` and ``demand [B, n]`` in fractions of the capacity.
        A field of the result replaces a known one of its name. The result may depend only on the
        arguments and the generator: a checkpoint keeps nothing else.
        """
