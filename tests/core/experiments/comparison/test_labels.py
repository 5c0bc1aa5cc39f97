"""Labels of compared configurations."""

import attrs
import pytest
import synthetic_runs

import lifelong_co as lco
from lifelong_co.experiments.comparison.labels import identity, label


def test_labels_say_what_differs_and_no_more() -> None:
    """Options show where they tell runs of a method apart, the solver whenever it differs."""
    base = synthetic_runs.config()
    weak = attrs.evolve(base, method_options={"alpha": 1.0})
    plain = synthetic_runs.config("fine-tuning")
    assert label([base, plain]) == ["llr-bc", "fine-tuning"]
    assert label([base, weak, plain]) == ["llr-bc (alpha=100)", "llr-bc (alpha=1)", "fine-tuning"]
    omni = attrs.evolve(plain, solver="omni")
    assert label([base, omni]) == ["llr-bc (solver=pomo)", "fine-tuning (solver=omni)"]
    preferring = attrs.evolve(base, objective="preference", objective_options={"beta": 0.05})
    assert label([base, preferring]) == [
        "llr-bc (objective=reinforce)",
        "llr-bc (objective=preference)",
    ]
    elsewhere = attrs.evolve(weak, order="/home/a/towns.toml")
    here = attrs.evolve(base, order="towns.toml")
    assert label([here, elsewhere]) == ["llr-bc (alpha=100)", "llr-bc (alpha=1)"]
    others = attrs.evolve(here, tasks=here.tasks[::-1], order="b/towns.toml")
    assert label([here, others]) == ["llr-bc (order=towns.toml)", "llr-bc (order=b/towns.toml)"]
    given = [attrs.evolve(each, order="tasks") for each in (here, others)]
    assert label(given) == ["llr-bc (order=E20 → C40 → U10)", "llr-bc (order=U10 → C40 → E20)"]
    many = [attrs.evolve(base, method_options={f"o{i}": v for i in range(5)}) for v in (1, 2)]
    assert label(many)[0] == "llr-bc (o0=1, o1=1, o2=1, ...)"


@pytest.mark.usefixtures("fresh_registry")
def test_runs_with_a_default_written_out_or_not_are_of_one_group(plugin) -> None:
    """Also if it is a tuple, which a file has as a list."""

    def parted(parts: tuple[str, ...] = ("a", "b")) -> None:  # noqa: ARG001
        raise AssertionError

    lco.register_plugin(plugin("register_methods", "parted", parted))
    base = attrs.evolve(synthetic_runs.config(), method="parted", method_options={})
    written = attrs.evolve(base, method_options={"parts": ["a", "b"]})
    assert identity(base) == identity(written)
