"""What all tests share: Hypothesis without deadlines, a registry that no test has changed."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from lifelong_co import registry

# No deadline, because machines are shared; derandomized, so that failures can be repeated.
settings.register_profile("lifelong-co", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("lifelong-co")


@pytest.fixture
def fresh_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide installed third-party plugins during a test, and clear the registry afterwards."""
    monkeypatch.setenv("LIFELONG_CO_LOAD_PLUGINS", "")
    registry.reload()
    yield
    registry.reload()
