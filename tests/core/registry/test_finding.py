"""Components are found by name and built from options."""

import pytest

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.protocols import Buffer
from lifelong_co.registry.finding import find, label, made


def test_entry_has_its_kind_name_and_plugin():
    """Messages begin with them."""
    entry = find("buffer", "reservoir")
    assert label(entry).startswith("buffer 'reservoir' of ")
    assert made("buffer", "reservoir", Buffer, 3, 0).state_dict()["capacity"] == 3


def test_what_is_no_name_or_option_is_refused():
    """By the kind of the component."""
    with pytest.raises(UnknownNameError, match="Unknown buffer 'heap'"):
        find("buffer", "heap")
    with pytest.raises(ConfigError, match="buffer: expected a registered name, got 3"):
        find("buffer", 3)
    with pytest.raises(ConfigError, match="buffer 'reservoir'"):
        made("buffer", "reservoir", Buffer, 3, 0, size=4)
