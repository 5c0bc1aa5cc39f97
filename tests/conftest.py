"""What all tests share: Hypothesis without a clock, and a registry that no test has touched."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from lifelong_co import registry

# No deadline, as two cores are shared; derandomized, so that a failure is never a matter of luck.
settings.register_profile("lifelong-co", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("lifelong-co")


@pytest.fixture
def fresh_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Load only our plugins, and forget what a test registers."""
    monkeypatch.setenv("LIFELONG_CO_LOAD_PLUGINS", "")
    registry.reload()
    yield
    registry.reload()
