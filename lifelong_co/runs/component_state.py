"""The states of a run's method and objective: an error with one of them names the component."""

from collections.abc import Iterator
from contextlib import contextmanager

from lifelong_co.config.run_config import Config
from lifelong_co.errors import CheckpointError, ComponentError, LifelongError


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


@contextmanager
def restoring(kind: str, name: str) -> Iterator[None]:
    """Name the component whose `load_state_dict` the block calls.

    Raises
    ------
    ValueError
        In place of an error of its code, so that `runs.resume` says it of the checkpoint.
    """
    try:
        yield
    except LifelongError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, RuntimeError) as error:
        said = f"{type(error).__name__}: {error}"
        raise ValueError(f"{kind} {name!r}: load_state_dict(): {said}") from error
