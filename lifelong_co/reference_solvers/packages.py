"""The optional packages that find references; each is imported when it is first needed."""

import importlib
import warnings
from importlib import metadata
from typing import Any

from lifelong_co.errors import ConfigError

INSTALL = "pip install 'lifelong-co[reference]'"


def optional(module: str) -> Any:
    """Import a module of the extra ``reference``.

    Raises
    ------
    ConfigError
        If the package is not installed; the message names the extra.
    """
    try:
        with warnings.catch_warnings():
            # On some versions of Python the import of OR-Tools shows a warning.
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ConfigError(
            f"references: expected the package {package}, which is not installed; "
            f"it belongs to the extra 'reference': {INSTALL}"
        ) from error


def version(package: str) -> str:
    """Return the version of an installed package."""
    return metadata.version(package)
