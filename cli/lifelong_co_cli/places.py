"""Where commands look for references: the folder that is given, then what others published."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lifelong_co.experiments.references.places import Places


def places(own: Path | None = None) -> "Places":
    """Return where to look.

    Parameters
    ----------
    own
        The user's folder of references; ``references`` of the working directory when None.
    """
    from lifelong_co_adapters.official.costs import published_costs

    from lifelong_co.experiments.references.cache import FOLDER
    from lifelong_co.experiments.references.places import Places

    return Places(own or FOLDER, published_costs())
