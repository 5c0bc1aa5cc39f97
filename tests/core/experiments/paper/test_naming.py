"""Names of variants."""

import pytest
import synthetic_runs
from synthetic_chapters import LLR_BC

from lifelong_co.experiments.paper.naming import (
    order_name,
    order_rank,
    order_title,
    variant_name,
)


@pytest.mark.parametrize(
    ("options", "settings", "name"),
    [
        ({"buffer_size": 250}, {}, "-|B|(250)"),
        ({"replay_size": 4, "alpha": 1.0}, {}, "-α(1) -|E|(4)"),
        ({"weighting": "uniform"}, {}, "-nEW"),
        ({"ablation": "IB", "bundle_size": 0, "buffer_size": 20, "replay_size": 1}, {}, "-IB"),
        ({"ablation": "KLD", "divergence": "kl", "alpha": 5.0}, {}, "-KLD -α(5)"),
        ({}, {"epochs": 8}, "-epochs(8)"),
        ({}, {"learning_rate": 0.01}, "-learning_rate(0.01)"),
        (
            {"buffer_size": 250, "replay_size": 4, "alpha": 1.0},
            {"learning_rate": 0.01, "epochs": 8},
            "-learning_rate(0.01) -α(1) -|B|(250) and 2 more",
        ),
        ({}, {"seed": 3, "curve_every": 2}, ""),
    ],
)
def test_variants_have_the_papers_names(options, settings, name):
    """What differs is named once, ablations by their short names; seeds are no difference."""
    usual = synthetic_runs.config(method_options=LLR_BC)
    other = synthetic_runs.config(method_options={**LLR_BC, **options}, **settings)
    assert variant_name(other, usual) == name


@pytest.mark.parametrize(
    ("order", "name", "title"),
    [
        ("3", "3", "order 3"),
        ("variants", "variants", "variants"),
        ("months/june.toml", "june", "june"),
        ("months/5.toml", "5.toml", "5.toml"),
        ("order²", "order²", "order²"),
        ("²", "²", "²"),
    ],
)
def test_only_a_number_is_an_order_of_the_paper(order, name, title):
    """A task file may have any name, also that of a month by its number."""
    found = order_name(synthetic_runs.config(order=order))
    assert found == name
    assert order_title(found) == title
    assert order_rank(found)[0] == (0 if order == "3" else 1)
