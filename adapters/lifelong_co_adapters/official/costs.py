"""Finding the costs that the paper's authors published for their test instances.

They are in LLR-BC, in the folders of its code, or as arrays in a folder beside the checkout, which
several projects can share.
"""

from pathlib import Path

from lifelong_co_adapters.official import locate

BESIDE = Path("shared") / "official" / "testsets"
"""Relative to the folder that contains the checkout."""


def published_costs() -> tuple[Path, ...]:
    """Return the existing folders with published costs, LLR-BC first.

    The function does not read them; `lifelong_co.experiments.references.stored` does.
    """
    root = locate.checkout()
    folders = (locate.place("LLR-BC"), None if root is None else root.parent / BESIDE)
    return tuple(f for f in folders if f is not None and locate.present(f))
