"""What a preset gives to a run: its tasks and its settings."""

import re
from typing import Any

import attrs
import pytest

import lifelong_co as lco
from lifelong_co.config.presets import preset


def test_tables_of_an_order_override_the_scale() -> None:
    """A table has fields of a task; the scale of its distribution gives those that it lacks."""
    windy, other = preset("small").tasks(
        (
            {"distribution": "U", "attributes": ["windy"], "epochs": 3},
            {"distribution": "mine", "size": 7, "batches": 2, "batch_size": 5},
        ),
        "pomo",
    )
    assert (windy.size, windy.epochs, windy.attributes) == (10, 3, ("windy",))
    assert (other.distribution, other.size, other.epochs) == ("mine", 7, 10)
    with pytest.raises(lco.ConfigError, match=r"order, task 1: .*key 'sise'"):
        preset("small").tasks(({"distribution": "U", "sise": 3},), "pomo")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("mine", "Unknown distribution of preset 'small' 'mine'; expected one of: U, "),
        ({"distribution": "mine", "size": 20}, "Or give batches, batch_size, too."),
        ({"size": 20}, "order, task 1: expected a distribution, or files, got neither"),
        (
            {"files": "a.npz", "batches": 2},
            "order, task 1: expected batch_size; preset 'small' has none for",
        ),
    ],
)
def test_what_an_order_lacks_is_named(given: Any, said: str) -> None:
    """The preset gives it only to the paper's distributions."""
    with pytest.raises(lco.LifelongError, match=re.escape(said)):
        preset("small").tasks((given,), "pomo")


def test_preset_has_other_epochs_and_settings_for_some_solvers() -> None:
    """At the paper's scale Omni and INViT learn fewer epochs, ours and the official ones."""
    base = preset("paper")
    for solver, epochs in (("pomo", 200), ("omni", 10), ("invit", 100), ("official-invit", 100)):
        assert {task.epochs for task in base.tasks(("U", "GM"), solver)} == {epochs}


def test_settings_of_the_method_count_most() -> None:
    """After them come those of the solver, of the problem and of all runs."""
    names = {"mine": {"a": 3, "b": 3, "c": 3}, "net": {"a": 2, "b": 2}, "fast": {"a": 1}}
    base = attrs.evolve(preset("small"), settings={**dict.fromkeys("abcd", 4)}, settings_of=names)
    assert base.settings_for("mine", "net", "fast") == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert base.settings_for("tsp", "pomo", "llr-bc") == dict.fromkeys("abcd", 4)
