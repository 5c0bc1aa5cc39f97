"""The paper's ablations by name: what each stands for, and what it does not go with."""

from typing import Any

import pytest

import lifelong_co as lco
from lifelong_co.config.ablations import ABLATIONS, ablated
from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import from_toml, to_toml

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


def test_ablations_are_those_of_the_paper() -> None:
    """There are seven, and each sets only the options of its subject."""
    assert ABLATIONS == {"llr-bc": MEANT}


@names
@pytest.mark.parametrize("preset", ["demo", "small", "paper"])
def test_ablation_overrides_the_preset(name: str, preset: str) -> None:
    """Its options are set, all others are the preset's, and the run keeps its name."""
    plain = resolve(preset=preset).method_options
    config = resolve(preset=preset, method_options={"ablation": name})
    assert config.method_options == {**plain, **MEANT[name], "ablation": name}
    assert from_toml(to_toml(config)) == config
    lco.method("llr-bc", **config.method_options)  # as a run, new or resumed, builds it


@names
def test_other_value_of_an_option_of_the_ablation_is_refused(name: str) -> None:
    """Configuration and method name both values; the same value and other options are accepted."""
    option, value = next(iter(MEANT[name].items()))
    others: dict[str, Any] = {
        "weighting": "variance",
        "divergence": "rkl",
        "record": "last-epoch",
        "buffer": "reservoir",
        "bundle_size": 1,
    }
    clash = {"ablation": name, option: others[option]}
    message = f"ablation '{name}' sets {option} = {value!r}: .* got {option} = {others[option]!r}"
    with pytest.raises(lco.ConfigError, match=message):
        resolve(method_options=clash)
    with pytest.raises(lco.ConfigError, match=message):
        lco.method("llr-bc", **clash)
    assert ablated("llr-bc", {"ablation": name, option: value, "alpha": 2.0})["alpha"] == 2.0


def test_other_number_of_an_ablation_is_refused() -> None:
    """The 20 units of IB belong to the ablation."""
    with pytest.raises(lco.ConfigError, match=r"'IB' sets buffer_size = 20: .* buffer_size = 1000"):
        resolve(method_options={"ablation": "IB", "buffer_size": 1000})


def test_without_an_ablation_options_stay_unchanged() -> None:
    """Options are returned unchanged."""
    assert ablated("llr-bc", {"alpha": 1.0}) == {"alpha": 1.0}
    assert ablated("llr-bc", {}) == {}


@pytest.mark.parametrize(
    ("name", "match"), [("nEw", "Unknown ablation 'nEw'.*'nEW'"), (3, "expected a string, got 3")]
)
def test_unknown_ablation_is_refused(name: Any, match: str) -> None:
    """The error suggests the nearest name."""
    with pytest.raises(lco.LifelongError, match=match):
        resolve(method_options={"ablation": name})


def test_ablation_of_another_method_is_refused() -> None:
    """Only LLR-BC has ablations."""
    config = resolve(method="fine-tuning", method_options={"ablation": "IB"})
    assert config.method_options == {"ablation": "IB"}
    with pytest.raises(lco.ConfigError, match="method 'fine-tuning': takes no options"):
        lco.method("fine-tuning", **config.method_options)
