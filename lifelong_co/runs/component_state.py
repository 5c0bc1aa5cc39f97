"""The states of a run's method and objective: an error while they are saved names the component."""

from collections.abc import Iterator
from contextlib import contextmanager

from lifelong_co.config.run_config import Config
from lifelong_co.errors import CheckpointError, ComponentError


@contextmanager
def named_state(config: Config) -> Iterator[None]:
    """Name the method or the objective whose state the block could not save.

    Raises
    ------
    ComponentError
        If a `CheckpointError` is about ``tree['method']`` or ``tree['objective']``.
    """
    try:
        yield
    except CheckpointError as error:
        for kind in ("method", "objective"):
            before, found, after = str(error).partition(f"tree[{kind!r}]")
            if found and not before:
                label = f"{kind} {getattr(config, kind)!r}"
                raise ComponentError(f"{label}: state_dict(){after}") from error
        raise
