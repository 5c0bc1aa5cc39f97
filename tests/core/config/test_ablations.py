"""The paper's ablations by name: what each stands for, and what it does not go with."""

from typing import Any

import pytest

import lifelong_co as lco
from lifelong_co.config.ablations import ABLATIONS, ablated
from lifelong_co.config.run_config import from_toml, resolve, to_toml

MEANT = {
    "nEW": {"weighting": "uniform"},
    "KLD": {"divergence": "kl"},
    "Ent": {"weighting": "entropy"},
    "T2M": {"weighting": "top2-margin"},
    "EE": {"record": "every-epoch"},
    "Res": {"buffer": "balanced"},
    "IB": {"bundle_size": 0, "buffer_size": 20, "replay_size": 1},
}
names = pytest.mark.parametrize("name", MEANT)


def test_they_are_the_papers() -> None:
    """Seven, and no more than what each is about."""
    assert ABLATIONS == {"llr-bc": MEANT}


@names
@pytest.mark.parametrize("preset", ["demo", "small", "paper"])
def test_an_ablation_gives_way_to_no_preset(name: str, preset: str) -> None:
    """What it sets is set, all else is the preset's, and its name is kept with the run."""
    plain = resolve(preset=preset).method_options
    config = resolve(preset=preset, method_options={"ablation": name})
    assert config.method_options == {**plain, **MEANT[name], "ablation": name}
    assert from_toml(to_toml(config)) == config
    lco.method("llr-bc", **config.method_options)  # as a run, new or resumed, builds it


@names
def test_another_value_of_what_it_sets_is_refused(name: str) -> None:
    """By the configuration and by the method, naming both; the same value and others may stay."""
    option, value = next(iter(MEANT[name].items()))
    others: dict[str, Any] = {
        "weighting": "variance",
        "divergence": "rkl",
        "record": "last-epoch",
        "buffer": "reservoir",
        "bundle_size": 1,
    }
    clash = {"ablation": name, option: others[option]}
    message = f"ablation '{name}' is {option} = {value!r}: .* got {option} = {others[option]!r}"
    with pytest.raises(lco.ConfigError, match=message):
        resolve(method_options=clash)
    with pytest.raises(lco.ConfigError, match=message):
        lco.method("llr-bc", **clash)
    assert ablated("llr-bc", {"ablation": name, option: value, "alpha": 2.0})["alpha"] == 2.0


def test_a_number_it_sets_is_refused_too() -> None:
    """IB's 20 units are part of what it is."""
    with pytest.raises(lco.ConfigError, match=r"'IB' is buffer_size = 20: .* buffer_size = 1000"):
        resolve(method_options={"ablation": "IB", "buffer_size": 1000})


def test_without_an_ablation_nothing_changes() -> None:
    """Options are given back as they are."""
    assert ablated("llr-bc", {"alpha": 1.0}) == {"alpha": 1.0}
    assert ablated("llr-bc", {}) == {}


@pytest.mark.parametrize(
    ("name", "match"), [("nEw", "Unknown ablation 'nEw'.*'nEW'"), (3, "expected a string, got 3")]
)
def test_unknown_ablations_are_refused(name: Any, match: str) -> None:
    """With the nearest name."""
    with pytest.raises(lco.LifelongError, match=match):
        resolve(method_options={"ablation": name})


def test_ablations_are_llr_bcs() -> None:
    """Another method takes none."""
    config = resolve(method="fine-tuning", method_options={"ablation": "IB"})
    assert config.method_options == {"ablation": "IB"}
    with pytest.raises(lco.ConfigError, match="method 'fine-tuning': takes no options"):
        lco.method("fine-tuning", **config.method_options)
