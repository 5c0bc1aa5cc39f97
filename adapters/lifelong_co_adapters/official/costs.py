"""Finds the costs that the paper's authors published for their test instances.

They lie in LLR-BC, beside its code; or as arrays beside the checkout, where projects that work on
the paper side by side keep them.
"""

from pathlib import Path

from lifelong_co_adapters.official import locate

BESIDE = Path("shared") / "official" / "testsets"
"""Seen from the folder that holds the checkout."""


def published_costs() -> tuple[Path, ...]:
    """Return the folders that hold published costs, LLR-BC first; a missing one is left out.

    Nothing in them is read: `lifelong_co.reference.stored` knows their forms.
    """
    root = locate.checkout()
    folders = (locate.place("LLR-BC"), None if root is None else root.parent / BESIDE)
    return tuple(f for f in folders if f is not None and locate.present(f))
