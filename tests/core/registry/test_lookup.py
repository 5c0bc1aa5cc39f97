"""Lookups of registered objects by name, their options, and refused registrations."""
# ruff: noqa: ARG005  (a factory has the parameters of its contract, used or not)

from pathlib import Path
from types import ModuleType, SimpleNamespace

import attrs
import pytest
import torch

import lifelong_co as lco
from lifelong_co import hookspecs, registry
from lifelong_co.errors import ConfigError
from lifelong_co.instance_files.formats import Format
from lifelong_co.problems.tsp import TSP
from lifelong_co.protocols import Method, Objective
from lifelong_co.registry.catalog import HOOKS

pytestmark = pytest.mark.usefixtures("fresh_registry")

TSP_OBJECT = TSP()


class NewTSP(TSP):
    """A TSP under another name."""

    name = "new"


NEW_TSP = NewTSP()

METHOD = Method()

OBJECTIVE = Objective(loss=lambda instances, rollout: torch.zeros(()))

SOLVER = SimpleNamespace(
    problem=TSP_OBJECT,
    module=torch.nn.Identity(),
    encode=None,
    log_probs=None,
    rollout=None,
    objective=None,
    load_official=None,
)

FORMAT = Format((".new",))
LOGGER = SimpleNamespace(start=None, epoch=None, tests=None, close=None)
HERE = Path()

DISTRIBUTION = SimpleNamespace(sample=None)

BUFFER = lco.buffer("reservoir", 3)

# Hook -> the object that a plugin registers as "new", a lookup of it, and the expected result.
THROUGH_EACH_HOOK = {
    "register_solvers": (lambda problem: SOLVER, lambda: lco.solver("new", "tsp"), SOLVER),
    "register_problems": (NEW_TSP, lambda: lco.problem("new"), NEW_TSP),
    "register_weightings": (torch.amax, lambda: lco.weighting("new"), torch.amax),
    "register_divergences": (torch.sub, lambda: lco.divergence("new"), torch.sub),
    "register_buffers": (lambda capacity, seed: BUFFER, lambda: lco.buffer("new", 3), BUFFER),
    "register_methods": (lambda: METHOD, lambda: lco.method("new"), METHOD),
    "register_objectives": (
        lambda solver: OBJECTIVE,
        lambda: lco.objective("new", SOLVER),
        OBJECTIVE,
    ),
    "register_loggers": (lambda folder: LOGGER, lambda: lco.logger("new", HERE), LOGGER),
    "register_distributions": (
        lambda problem, *, variant, capacity: DISTRIBUTION,
        lambda: lco.distribution("new", "tsp"),
        DISTRIBUTION,
    ),
    "register_file_formats": (FORMAT, lambda: registry.file_format("new"), FORMAT),
}


# `test_by_problem` has those that are registered under the name of a problem.
BY_PROBLEM = ("register_samplers", "register_orders", "register_reference_models")
HOOKS_BY_NAME = [
    name for name in vars(hookspecs) if name.startswith("register_") and name not in BY_PROBLEM
]


@pytest.mark.parametrize("hook", HOOKS_BY_NAME)
def test_registered_objects_are_found_by_name(hook, plugin):
    """Every hook accepts a third-party object, and the registry returns the same object."""
    thing, ask, expected = THROUGH_EACH_HOOK[hook]
    with pytest.raises(lco.UnknownNameError, match="'new'"):
        ask()
    lco.register_plugin(plugin(hook, "new", thing))
    assert ask() is expected


def test_problem_with_another_name_is_refused(plugin):
    """Files, references and samplers are found by the problem's own name."""
    lco.register_plugin(plugin("register_problems", "new", TSP_OBJECT))
    with pytest.raises(lco.PluginError, match=r"'new' of .*: expected the .* name.* got 'tsp'"):
        lco.problem("new")


def test_test_set_of_an_unknown_kind_is_refused():
    """A misspelled word must not give the other demands."""
    for of in ("publised", "Published", None):
        with pytest.raises(lco.UnknownNameError, match=r"Unknown test set .*generator, published"):
            lco.testset("cvrp", "R", of=of)


def test_options_of_a_plugins_method_need_no_default(plugin):
    """Required ones and those that are handed on are not taken for options of other methods."""

    def required(weight: float, extra: float = 1.0):  # noqa: ARG001
        return METHOD

    def wraps(extra: float = 1.0, **options: int):  # noqa: ARG001
        return METHOD

    lco.register_plugin(plugin("register_methods", "needy", required))
    assert lco.method("needy", weight=1.0) is METHOD
    with pytest.raises(lco.ConfigError, match="'needy': has no option 'buffer_size', only weight"):
        lco.method("needy", weight=1.0, buffer_size=3)
    lco.register_plugin(plugin("register_methods", "wrapper", wraps))
    assert lco.method("wrapper", buffer_size=3) is METHOD


def test_all_tasks_at_once_may_depend_on_options(plugin):
    """A method with a required option is built with it."""
    lco.register_plugin(
        plugin("register_methods", "joint", lambda *, at_once: Method(knows_all_tasks=at_once))
    )
    assert registry.knows_all_tasks("joint", {"at_once": True})
    assert not registry.knows_all_tasks("joint", {"at_once": False})
    assert registry.knows_all_tasks("joint", {"at_once": True, "of another version": 1})
    with pytest.raises(lco.UnknownNameError, match="Unknown method 'unknown'"):
        registry.knows_all_tasks("unknown", {})


def test_stored_options_that_cannot_be_used_are_replaced_by_defaults():
    """The run may be of another version, or have used a divergence that is not here."""
    assert registry.stored_method("restart", {"old": 1}).restarts
    assert registry.stored_method("llr-bc", {"divergence": "of another"}).knows_all_tasks is False


def test_functions_are_not_replaced_by_modules():
    """`lco.buffer` stays the function, although a module of that name is imported lazily."""
    assert lco.buffer is registry.buffer
    assert all(not isinstance(getattr(lco, name, None), ModuleType) for name in set(HOOKS.values()))


def test_documented_names_are_registered():
    """The names of the public interface exist, in their fixed order."""
    assert registry.names("weighting") == ["variance", "entropy", "top2-margin", "uniform"]
    assert registry.names("divergence") == ["kl", "rkl", "mixture", "js", "squared"]
    assert registry.names("distribution") == ["U", "GM", "E", "C", "G", "R", "tmat"]
    assert registry.names("problem") == ["tsp", "cvrp", "mtvrp", "atsp"]
    known = ["reinforce", "reinforce-normalised", "preference", "best-of"]
    assert registry.names("objective") == known
    assert {"llr-bc", "fine-tuning", "restart"} <= set(registry.names("method"))
    assert "pomo" in registry.names("solver")


def test_unknown_name_suggests_the_nearest():
    """An unknown name is a KeyError that lists the valid names and suggests the nearest."""
    with pytest.raises(KeyError, match=r"variance, entropy.* Did you mean 'variance'\?") as caught:
        lco.weighting("varianse")
    assert isinstance(caught.value, lco.UnknownNameError)


def test_name_that_is_no_string_is_refused():
    """A function in place of a name is refused."""
    with pytest.raises(
        lco.ConfigError, match=r"weighting: expected a registered name, got <built-in"
    ):
        lco.weighting(torch.amax)


@pytest.mark.parametrize(
    "call",
    [
        lambda: lco.solver("pomo", problem=None),
        lambda: lco.distribution("U", None),
        lambda: lco.testset(5, "U"),
    ],
)
def test_what_is_no_problem_is_refused(call):
    """The error says what a problem is."""
    with pytest.raises(lco.ConfigError, match="problem: expected a problem or its name, got"):
        call()


def test_solver_takes_a_problem_or_its_name():
    """A problem object and its name build the same solver, and options reach the network."""
    by_name = lco.solver("pomo", problem="tsp", embedding_dim=16, encoder_layer_num=1)
    by_object = lco.solver("pomo", problem=TSP_OBJECT, embedding_dim=16, encoder_layer_num=1)
    shapes = [
        {name: tensor.shape for name, tensor in solver.module.state_dict().items()}
        for solver in (by_name, by_object)
    ]
    assert shapes[0] == shapes[1]
    assert any(16 in shape for shape in shapes[0].values())


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("preferance", {}, "Unknown objective 'preferance'.*Did you mean 'preference'"),
        ("preference", {"betta": 1.0}, "objective 'preference'.*'betta'.*Did you mean 'beta'"),
        ("preference", {"beta": "1"}, "objective 'preference': beta: expected a number, got '1'"),
        ("reinforce", {"solver": 1}, "objective 'reinforce': takes no options, got 'solver'"),
    ],
)
def test_wrong_objective_is_refused(name, options, match):
    """A wrong name, an unknown option and a value of a wrong type are refused."""
    with pytest.raises(lco.LifelongError, match=match):
        lco.objective(name, SOLVER, **options)
    assert lco.objective("preference", SOLVER, beta=1).state_dict() == {}


def test_option_may_be_called_name(plugin):
    """The name of the method itself is given by position only."""

    def named(name="ema"):
        return attrs.evolve(Method(), knows_all_tasks=name == "all")

    lco.register_plugin(plugin("register_methods", "named", named))
    assert not lco.method("named", name="ema").knows_all_tasks
    assert lco.method("named", name="all").knows_all_tasks


def test_seed_and_capacity_reach_the_buffer():
    """Buffers of one seed sample alike, of another seed differently; none exceeds its capacity."""

    def sampled(seed):
        buffer = lco.buffer("reservoir", capacity=50, seed=seed)
        for item in range(500):
            buffer.add(item)
        return buffer.sample(50)

    assert sampled(1) == sampled(1) != sampled(2)
    assert len(sampled(1)) == 50


def test_distribution_gets_variant_and_capacity(plugin):
    """The factory gets the options of the interface and those of the distribution unchanged."""

    def factory(problem, *, variant, capacity, noise=0.0):
        return SimpleNamespace(sample=None, given=(problem, variant, capacity, noise))

    lco.register_plugin(plugin("register_distributions", "new", factory))
    made = lco.distribution("new", TSP_OBJECT, variant="paper", capacity=40, noise=0.5)
    assert made.given == (TSP_OBJECT, "paper", 40, 0.5)
    assert lco.distribution("new", TSP_OBJECT).given == (TSP_OBJECT, "official", None, 0.0)


def test_testset_comes_from_the_distribution(plugin):
    """`testset` returns the test set of the distribution, and raises an error if there is none."""
    with_one = SimpleNamespace(sample=None, testset=lambda: "the instances")
    lco.register_plugin(
        plugin("register_distributions", "new", lambda problem, *, variant, capacity: with_one)
    )
    assert lco.testset("tsp", "new") == "the instances"
    with pytest.raises(lco.ConfigError, match="'new': expected the test set of the 'generator'"):
        lco.testset("tsp", "new", of="published")
    lco.register_plugin(
        plugin(
            "register_distributions",
            "bare",
            lambda problem, *, variant, capacity: DISTRIBUTION,
            module="other",
        )
    )
    with pytest.raises(lco.ConfigError, match=r"'bare': .* without testset\(\)"):
        lco.testset("tsp", "bare")


def test_option_of_another_method_names_the_methods_that_have_it():
    """The message has the options of the method, too."""
    with pytest.raises(ConfigError, match=r"'ewc': has no option 'weighting', only weight.*llr-bc"):
        registry.method("ewc", weighting="variance")


def test_factory_that_exits_is_refused(plugin):
    """The program does not end; the message names the component and its plugin."""

    def leaving():
        raise SystemExit(0)

    registry.register_plugin(plugin("register_methods", "leaving", leaving))
    with pytest.raises(lco.LifelongError, match=r"method 'leaving' of third_party .*SystemExit: 0"):
        lco.method("leaving")
