"""The page *Paper, official code, lifelong-co* names tests that exist and values that hold."""

import re

import pytest
from paths import ROOT

from lifelong_co.config.resolve import resolve

PAGE = (ROOT / "docs" / "paper_and_code.md").read_text()
VALUES = PAGE.partition("## Values of preset `paper`")[2].partition("\n## ")[0]
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in VALUES.splitlines()
    if line.startswith("| `")
]


def test_every_named_test_exists() -> None:
    """A row names the file of the test that holds it."""
    named = set(re.findall(r"`(?:[\w/]+/)?(test_\w+\.py)`", PAGE))
    assert len(named) > 20
    assert named <= {path.name for path in (ROOT / "tests").rglob("test_*.py")}


@pytest.mark.parametrize("part", ["method_options", "solver_options"])
def test_page_has_every_option_of_preset_paper(part: str) -> None:
    """Each option and its value stand in one row of the table."""
    options = getattr(resolve(preset="paper", device="cpu"), part)
    shown = {
        name: value.strip(" `")
        for keys, values, _ in ROWS
        if keys.startswith(f"`{part}.")
        for name, value in zip(re.findall(r"\.(\w+)`", keys), values.split(","), strict=True)
    }
    assert shown == {name: str(value).replace("True", "true") for name, value in options.items()}


def test_page_has_the_training_settings_of_preset_paper() -> None:
    """Optimizer, rates and numbers of tests are those of the configuration."""
    config = resolve(preset="paper", device="cpu")
    shown = {keys.strip("`"): values.strip("`") for keys, values, _ in ROWS}
    together = "`, `".join(("optimizer", "learning_rate", "weight_decay"))
    assert shown[together] == f"{config.optimizer}`, {config.learning_rate}, {config.weight_decay}"
    assert shown["tests"] == str(config.tests)
    assert shown["curve_every"] == str(config.curve_every)
