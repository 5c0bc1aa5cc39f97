"""Run folders and grids of the last version are read with the options of this version."""

from pathlib import Path
from typing import Any

import attrs
import pytest
from paths import FIXTURES
from tiny_runs import tiny_config

import lifelong_co as lco
from lifelong_co.config.former_options import translated
from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import from_toml, read_config, to_toml

DEFAULTS = {"unit": "step", "row_choice": "weight", "reverse_share": 0.5, "adaptive_replay": 0.0}


def former(options: dict[str, Any]) -> str:
    """Return the ``config.toml`` of a run of llr-bc with these options."""
    return to_toml(tiny_config(**options))


def test_former_defaults_are_dropped() -> None:
    """Their effect is now always on."""
    config = from_toml(former({"alpha": 2.0, **DEFAULTS}))
    assert config.method_options == {"alpha": 2.0}
    lco.method("llr-bc", **config.method_options)


@pytest.mark.parametrize("preset", [{}, {"bundle_size": 4}])
def test_former_run_of_ib_keeps_whole_rollouts(preset: dict[str, int]) -> None:
    """The option ``unit`` replaced a bundle size of the preset; its run is that of IB today."""
    options = {"ablation": "IB", "unit": "solution", "buffer_size": 20, "replay_size": 1}
    config = from_toml(former({**preset, **options}))
    assert config.method_options == tiny_config(**resolved_ib()).method_options
    lco.method("llr-bc", **config.method_options)


def resolved_ib() -> dict[str, Any]:
    """Return the options of IB, without those of a preset."""
    preset = resolve().method_options
    options = resolve(method_options={"ablation": "IB"}).method_options
    return {k: v for k, v in options.items() if k == "bundle_size" or preset.get(k) != v}


def test_published_results_of_ib_are_read() -> None:
    """The configuration of a run that an earlier version made."""
    config = read_config(FIXTURES / "former-ib")
    assert config.method_options["bundle_size"] == 0
    assert "unit" not in config.method_options


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ({"row_choice": "uniform"}, "expected 'weight', got 'uniform'"),
        ({"reverse_share": 0.2}, "expected 0.5, got 0.2"),
        ({"adaptive_replay": 0.3}, "expected 0.0, got 0.3"),
        ({"unit": "tour"}, "expected 'step' or 'solution', got 'tour'"),
    ],
)
def test_removed_option_is_refused_by_name(
    tmp_path: Path, option: dict[str, Any], expected: str
) -> None:
    """The error has the file, the option, the values that can be read, and the given value."""
    (tmp_path / "config.toml").write_text(former(option))
    name = next(iter(option))
    with pytest.raises(lco.ConfigError, match=f"config.toml: .*{name} is gone: {expected}"):
        read_config(tmp_path)
    with pytest.raises(lco.ConfigError, match=f"{name} is gone"):
        resolve(method="llr-bc", method_options=option)


def test_options_of_other_methods_stay() -> None:
    """A third-party method may have an option of the same name."""
    assert translated("another", DEFAULTS, "here") == DEFAULTS


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("files = '/data/may.npz'", "capacity = 40"),
        ("distribution = 'U'\nsize = 5", "test_files = '/data/may.npz'"),
    ],
)
def test_setting_of_a_task_without_effect_is_dropped(before: str, line: str) -> None:
    """A new task is refused with it, but a run that has it can still be read and continued."""
    head = to_toml(attrs.evolve(tiny_config(), tasks=())).replace("tasks = []", "")
    task = f"{head}\n[[tasks]]\n{before}\nepochs = 1\nbatches = 1\nbatch_size = 1\n"
    assert from_toml(f"{task}{line}\n") == from_toml(task)


def test_capacity_before_a_drift_stays() -> None:
    """The instances before it are drawn with this capacity."""
    budget = {"size": 5, "epochs": 1, "batches": 1, "batch_size": 1}
    task = lco.Task(files="/data/may.npz", capacity=40, drift_from="U", **budget)
    config = attrs.evolve(tiny_config(), tasks=(task,))
    assert from_toml(to_toml(config)) == config
