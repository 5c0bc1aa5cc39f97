"""A module that is a plugin, for tests of the registry."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from lifelong_co import hookimpl


@pytest.fixture
def plugin() -> Callable[..., ModuleType]:
    """Return ``plugin(hook, *arguments, module="third_party")``: a module with one hook.

    The hook calls ``register(*arguments)``.
    """

    def build(hook: str, *arguments: Any, module: str = "third_party") -> ModuleType:
        def implementation(register: Callable[..., None]) -> None:
            register(*arguments)

        made = ModuleType(module)
        setattr(made, hook, hookimpl(implementation))
        return made

    return build
