"""Nearest neighbors in plain torch, also as a replacement for ``torch_cluster`` in INViT."""

from types import ModuleType

import torch
from torch import Tensor


def nearest(
    points: Tensor, origin: Tensor, allowed: Tensor, k: int, filler: Tensor
) -> tuple[Tensor, Tensor]:
    """Find the ``k`` allowed points nearest to the origin of each row.

    Parameters
    ----------
    points
        ``[R, n, 2]``.
    origin
        ``[R, 2]``.
    allowed
        Bool ``[R, n]``.
    k
        At least 0; may be above ``n``.
    filler
        Long ``[R]``: the index for padding a row with fewer than ``k`` allowed points.

    Returns
    -------
    Indices long ``[R, k]``, nearest first, at equal distance the lower index first; and bool
    ``[R, k]``: which of them are padding.
    """
    squared = (points - origin[:, None]).square().sum(dim=2).masked_fill(~allowed, torch.inf)
    squared, order = squared.sort(dim=1, stable=True)
    index = filler[:, None].repeat(1, k)
    padded = torch.ones_like(index, dtype=torch.bool)
    found = min(k, points.shape[1])
    padded[:, :found] = squared[:, :found].isinf()
    index[:, :found] = torch.where(padded[:, :found], index[:, :found], order[:, :found])
    return index, padded


def knn(x: Tensor, y: Tensor, k: int, batch_x: Tensor, batch_y: Tensor) -> Tensor:
    """Do what ``torch_cluster.knn`` does, for the arguments that the official INViT uses.

    Parameters
    ----------
    x, y
        Points ``[X, 2]`` and ``[Y, 2]``.
    k
        At least 0.
    batch_x, batch_y
        Long ``[X]`` and ``[Y]``: the instance of each point.

    Returns
    -------
    Long ``[2, E]``: pairs of an index into ``y`` and one of its nearest points in ``x`` of the same
    instance, at most ``k`` for each point of ``y``, in the order of `nearest`.
    """
    same = batch_y[:, None] == batch_x[None]
    none = torch.full_like(batch_y, -1)
    index, padded = nearest(x[None].expand(len(y), -1, -1), y, same, k, none)
    row = torch.arange(len(y), device=y.device)[:, None].expand_as(index)
    return torch.stack((row[~padded], index[~padded]))


def stand_ins() -> dict[str, ModuleType]:
    """Return replacements for the packages that the official INViT needs and lifelong-co does not.

    Its networks use only `knn`. Its helpers import sklearn and matplotlib, for pictures that are
    not drawn here.
    """
    modules = {name: ModuleType(name) for name in ("torch_cluster", "sklearn", "matplotlib")}
    modules["torch_cluster"].__dict__["knn"] = knn
    unused = {"sklearn": ("preprocessing", "PCA", "TSNE"), "matplotlib": ("pyplot",)}
    for name, attributes in unused.items():
        modules[name].__dict__.update(dict.fromkeys(attributes))
    return modules
