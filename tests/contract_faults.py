"""The assertion of the tests of `lifelong_co.testing`: a check names the fault."""

from collections.abc import Callable
from typing import Any

import pytest

from lifelong_co import testing


def assert_named(says: str, check: Callable[..., object], *arguments: Any) -> None:
    """Assert that a check refuses its arguments with a message of its name and of what is wrong."""
    with pytest.raises(testing.ContractError, match=rf"^{check.__name__}: expected ") as caught:
        check(*arguments)
    assert says in str(caught.value)
