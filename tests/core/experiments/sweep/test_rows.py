"""Variants of a sweep, their products, and the axes of methods."""

import pytest

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.grid import Grid, grids_from_toml, grids_to_toml
from lifelong_co.experiments.sweep.plan import make_plan
from lifelong_co.experiments.sweep.rows import Variant, combinations

PRODUCT = """
preset = "demo"
device = "cpu"
methods = ["llr-bc", "der++", "fine-tuning"]
product = {divergence = ["kl", "js"], alpha = [1, 2.5]}
objective = "preference"
objective_options = {beta = 1.0}
variants = [
    {name = "mine", product = {objective = ["reinforce", "best-of"], schedule = ["cosine"]}},
    {name = "ewc", method = "ewc", objective = "best-of", objective_options = {compared = 4}},
    {name = "li", method = "li-inter", objective_options = {beta = 2.0}, schedule = "linear"},
]
"""


def test_product_has_a_row_for_every_combination(tmp_path):
    """A method has only the axes of its options; rows are named by their values."""
    grids = grids_from_toml(PRODUCT, "sweep.toml", tmp_path)
    assert grids_from_toml(grids_to_toml(grids), "again", tmp_path) == grids
    values = ["divergence=kl alpha=1", "divergence=kl alpha=2.5"]
    values += [each.replace("kl", "js") for each in values]
    assert [row.name for row in grids[0].rows] == [
        *(f"{method} {each}" for method in ("llr-bc", "der++") for each in values),
        *("fine-tuning", "mine objective=reinforce schedule=cosine"),
        *("mine objective=best-of schedule=cosine", "ewc", "li"),
    ]
    jobs = make_plan(grids, tmp_path / "sweep").jobs
    first = jobs["cvrp-pomo-llr-bc_divergence=kl_alpha=2.5-demo-own-seed0"].config
    assert (first.method_options["divergence"], first.method_options["alpha"]) == ("kl", 2.5)
    settings = {
        config.method + config.objective: (config.objective_options, config.schedule)
        for config in (job.config for job in jobs.values())
    }
    assert settings == {
        "llr-bcpreference": ({"beta": 1.0}, "warmup-linear"),
        "der++preference": ({"beta": 1.0}, "warmup-linear"),
        "fine-tuningpreference": ({"beta": 1.0}, "warmup-linear"),
        "llr-bcreinforce": ({}, "cosine"),
        "llr-bcbest-of": ({}, "cosine"),
        "ewcbest-of": ({"compared": 4}, "warmup-linear"),
        "li-interpreference": ({"beta": 2.0}, "linear"),
    }


def test_settings_of_the_run_are_axes_of_ablations_too(tmp_path):
    """An ablation is a choice of options; so it takes no list of an option."""
    lists = {"objective": ["reinforce", "preference"], "alpha": [1, 2]}
    grid = Grid(methods=("llr-bc",), ablations=("nEW",), product=lists, preset="demo", device="cpu")
    jobs = make_plan([grid], tmp_path).jobs
    assert len(jobs) == 6
    found = {
        name: job.config.objective
        for name, job in jobs.items()
        if job.config.method_options["weighting"] == "uniform"
    }
    assert found == {
        f"cvrp-pomo-nEW_objective={one}-demo-own-seed0": one for one in lists["objective"]
    }
    for grids in ('ablations = ["nEW"]\n{}', 'variants = [{{name = "x"}}]\n{}'):
        with pytest.raises(ConfigError, match=r"Unknown option of (nEW|no method) 'alpha'"):
            grids_from_toml(grids.format("product = {alpha = [1]}"), "x.toml", tmp_path)
    with pytest.raises(ConfigError, match="Unknown option of no method 'objective'"):
        grids_from_toml(
            'variants = [{name = "x"}]\nproduct = {objective = ["reinforce"]}', "x", tmp_path
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("product = {alpha = 1}", "alpha: expected a list of values, got 1"),
        ("product = {alpha = []}", r"alpha: expected a list of values, got \[\]"),
        ("product = {alpha = [1, 1]}", "alpha: expected each value once, got 1 twice"),
        ("product = {alpa = [1]}", "Unknown option of llr-bc 'alpa'.* Did you mean 'alpha'"),
        (
            "variants = [{name = 'x', options = {alpha = 1}, product = {alpha = [1]}}]",
            "variant 'x': alpha: expected one value or a list in product",
        ),
        (
            "variants = [{name = 'x', schedule = 'cosine', product = {schedule = ['linear']}}]",
            "variant 'x': schedule: expected one value or a list",
        ),
    ],
)
def test_wrong_product_is_refused(text, said, tmp_path):
    """The error names the file and the option."""
    with pytest.raises(ConfigError, match=rf"mine.toml: .*{said}"):
        grids_from_toml(f"methods = ['llr-bc']\n{text}", "mine.toml", tmp_path)


def test_grid_without_product_is_written_as_before():
    """So the folder of a sweep of options has the same name as with earlier versions."""
    text = grids_to_toml((Grid(methods=("ewc",), variants=(Variant(name="a"),)),))
    assert "product" not in text
    assert "tests_of" not in text


def test_words_of_a_row_are_readable():
    """Booleans and numbers as in TOML."""
    [row] = combinations(Variant(name="x", product={"a": [True], "b": [0.1]}))
    assert (row.name, row.options, row.product) == ("x a=true b=0.1", {"a": True, "b": 0.1}, {})


def test_long_name_of_a_run_is_cut(tmp_path):
    """A name of a file has at most 255 bytes; two long names stay different."""
    product = {"alpha": [1, 2], "buffer": ["reservoir"], "record": ["last-epoch"]}
    for letter in ("a", "\N{HIRAGANA LETTER A}"):
        row = Variant(name=letter * 200, product=product)
        names = list(make_plan([Grid(variants=(row,), preset="demo", device="cpu")], tmp_path).jobs)
        assert len(names) == 2
        assert all(len(name.encode()) < 200 for name in names)


def test_tests_of_a_grid_are_those_of_its_runs(tmp_path):
    """As `run --tests-of`."""
    grid = Grid(methods=("ewc",), preset="paper", device="cpu", tests_of="published")
    [job] = make_plan([grid], tmp_path).jobs.values()
    assert {task.tests_of for task in job.config.tasks} == {"published"}


def test_settings_of_a_row_replace_those_of_the_grid(tmp_path):
    """Only the named ones; a grid without them is written as by earlier versions."""
    text = """
    preset = "demo"
    device = "cpu"
    settings = {learning_rate = 1e-3, weight_decay = 0.0}
    variants = [
        {name = "slow", method = "feng", settings = {learning_rate = 2e-4}},
        {name = "plain", method = "feng"},
    ]
    """
    grids = grids_from_toml(text, "sweep.toml", tmp_path)
    assert grids_from_toml(grids_to_toml(grids), "again", tmp_path) == grids
    assert grids_to_toml(grids).count("learning_rate") == 2
    rates = {
        job.config.learning_rate: job.config.weight_decay
        for job in make_plan(grids, tmp_path / "sweep").jobs.values()
    }
    assert rates == {2e-4: 0.0, 1e-3: 0.0}
