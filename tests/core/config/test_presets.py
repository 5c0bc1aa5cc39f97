"""The presets: sizes, budgets, models and options that belong together."""

import attrs
import pytest

import lifelong_co as lco
from lifelong_co.config.presets import PRESETS, preset
from lifelong_co.config.resolve import resolve
from lifelong_co.tasks.orders import paper_order

DISTRIBUTIONS = {"U", "GM", "E", "C", "G", "R"}


@pytest.mark.parametrize(
    ("name", "epochs", "layers", "scales"),
    [
        ("paper", 200, 6, {"UR": (20, 157, 64), "GE": (50, 125, 32), "CM": (100, 125, 16)}),
        ("paper-economy", 200, 6, {"UR": (20, 157, 64), "GE": (50, 125, 32), "CM": (100, 125, 16)}),
        ("small", 10, 3, {"UR": (10, 40, 64), "GE": (20, 40, 48), "CM": (40, 40, 24)}),
    ],
)
def test_presets_have_the_documented_scales(
    name: str, epochs: int, layers: int, scales: dict[str, tuple[int, int, int]]
) -> None:
    """Sizes, budgets and models of order 1 are those documented, task by task."""
    base = preset(name)
    tasks = base.tasks(paper_order(1), "pomo")
    assert [task.distribution for task in tasks] == ["E", "C", "G", "U", "R", "GM"]
    for task in tasks:
        key = next(key for key in scales if task.distribution[-1] in key)
        assert (task.size, task.batches, task.batch_size) == scales[key]
        assert task.epochs == epochs
        assert task.capacity is None  # the official rule
        assert task.variant == "official"
        assert task.label == f"{task.distribution}{task.size}"
    assert base.solver_options["pomo"] == {
        "embedding_dim": 128,
        "head_num": 8,
        "qkv_dim": 16,
        "encoder_layer_num": layers,
        "ff_hidden_dim": 512,
        "logit_clipping": 10.0,
    }
    assert base.order == paper_order(1)


def test_baselines_of_the_paper_are_the_official_ones() -> None:
    """Presets `small` and `demo` have the corrected LiBOG and balanced tasks."""
    for method in ("libog", "multi-task-epoch", "multi-task-batch"):
        assert resolve(preset="paper", method=method).method_options == {"variant": "official"}
        assert "variant" not in resolve(preset="small", method=method).method_options


@pytest.mark.parametrize("solver", ["invit", "official-invit"])
@pytest.mark.parametrize("name", ["small", "demo"])
def test_invit_keeps_the_one_objective_that_it_can_learn_by(name: str, solver: str) -> None:
    """It samples one trajectory of an instance and needs a lower rate; the schedule is the same."""
    found = resolve(preset=name, solver=solver)
    assert (found.objective, found.schedule) == ("reinforce", "linear")
    assert found.learning_rate == 1e-4 < resolve(preset=name).learning_rate


def test_epochs_of_the_paper_have_its_numbers_of_instances() -> None:
    """10,000, 4,000 and 2,000 instances at 20, 50 and 100 nodes: at 20 the last batch has 16."""
    tasks = preset("paper").tasks(paper_order(1), "pomo")
    assert {task.size: task.instances for task in tasks} == {20: 10_000, 50: 4_000, 100: 2_000}
    assert {task.size: task.last_batch_size for task in tasks} == {20: 16, 50: None, 100: None}


def test_paper_preset_has_the_official_options() -> None:
    """B 1000, E 16 whole single steps, alpha 100, variance and reverse KL, the official loss."""
    exact = {
        "weighting": "variance",
        "divergence": "rkl",
        "behavior": "official",
        "alpha": 100.0,
        "buffer_size": 1000,
        "replay_size": 16,
        "replay_rows": 1.0,
        "buffer": "reservoir",
        "record": "last-epoch",
        "bundle_size": 1,
        "official_replay": True,
    }
    assert preset("paper").method_options["llr-bc"] == exact
    assert preset("paper").tests == 1000


def test_economy_differs_from_the_paper_in_what_is_replayed_only() -> None:
    """32 steps in bundles of four, a sixteenth of their rows, without the official details."""
    exact, economy = preset("paper"), preset("paper-economy")
    fields = [field.name for field in attrs.fields(type(exact))]
    unlike = [name for name in fields if getattr(exact, name) != getattr(economy, name)]
    assert unlike == ["name", "summary", "method_options"]
    options = {**exact.method_options["llr-bc"]}
    for default in ("official_replay", "buffer", "record"):
        options.pop(default)
    replay = {"replay_size": 32, "replay_rows": 1 / 16, "bundle_size": 4}
    assert economy.method_options["llr-bc"] == {**options, **replay}


def test_small_preset_has_the_documented_sizes() -> None:
    """A buffer of 1000 and 256 tests."""
    assert preset("small").method_options["llr-bc"]["buffer_size"] == 1000
    assert preset("small").tests == 256  # what the published comparison of the issue used


@pytest.mark.parametrize("name", PRESETS)
def test_options_of_presets_are_valid(name: str) -> None:
    """Every solver and method of a preset can be built from its options."""
    base = preset(name)
    assert base.name == name
    for solver, options in base.solver_options.items():
        if solver.startswith("official-"):  # cannot be built without the submodules
            assert options == base.solver_options[solver.removeprefix("official-")]
        else:
            lco.solver(solver, problem="tsp", **options)
    for method, options in base.method_options.items():
        lco.method(method, **options)
    assert set(base.scales) == DISTRIBUTIONS
    assert base.tasks(base.order, "pomo")


def test_unknown_preset_or_distribution_is_refused() -> None:
    """The error suggests the nearest name."""
    with pytest.raises(lco.UnknownNameError, match=r"preset 'smal'.*Did you mean 'small'"):
        preset("smal")
    with pytest.raises(lco.UnknownNameError, match=r"'gm'.*Did you mean 'GM'"):
        preset("small").tasks(("gm",), "pomo")


@pytest.mark.parametrize("name", PRESETS)
def test_run_without_options_is_that_of_the_preset(name: str) -> None:
    """Solver, problem and method are registered, and their options are the preset's."""
    base, config = preset(name), resolve(preset=name)
    assert (config.solver, config.problem, config.method) == (
        base.solver,
        base.problem,
        base.method,
    )
    assert config.method_options == base.method_options[base.method]
    assert config.solver_options == base.solver_options[base.solver]
    assert base.method in lco.registry.names("method")


@pytest.mark.parametrize(
    ("method", "solver", "schedule"),
    [
        ("llr-bc", "pomo", "official-tsp"),
        ("multi-task-batch", "pomo", "official-tsp"),
        ("ewc", "pomo", "constant"),
        ("libog", "official-pomo", "constant"),
        ("llr-bc", "omni", "constant"),
        ("llr-bc", "invit", "constant"),
    ],
)
@pytest.mark.parametrize("name", ["paper", "paper-economy"])
def test_paper_has_the_official_schedule(
    name: str, method: str, solver: str, schedule: str
) -> None:
    """That of LLR-BC's TSP code; on the CVRP, in other code and in small presets there is none."""
    given = {"preset": name, "method": method, "solver": solver, "fresh": True}
    assert resolve(problem="tsp", **given).schedule == schedule
    assert resolve(problem="cvrp", **given).schedule == "constant"
    assert resolve(problem="tsp", schedule="cosine", **given).schedule == "cosine"
    small = resolve(problem="tsp", preset="small", method=method, solver=solver)
    assert small.schedule == ("warmup-linear" if "pomo" in solver else "linear")


@pytest.mark.parametrize("solver", ["omni", "official-omni"])
def test_paper_refuses_omni_without_a_start(solver: str) -> None:
    """One line names the two ways to a start, and the flag; other presets need no start."""
    with pytest.raises(lco.ConfigError, match=r"pretrain.*import-checkpoint.*fresh") as refused:
        resolve(preset="paper", solver=solver)
    assert "\n" not in str(refused.value)
    config = resolve(preset="paper", solver=solver, fresh=True)
    assert (config.start_from, config.optimizer) == ("", "adam")
    assert resolve(preset="small", solver=solver).solver == solver
