"""The rows of a sweep's tables: methods with options, alone and in products."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from lifelong_co import registry
from lifelong_co.errors import CONTROL, ConfigError, UnknownNameError

Options = dict[str, Any]

OF_RUN = ("objective", "schedule")
"""Keys of a product that are settings of a run and not options of a method."""


def named(instance: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:  # noqa: ARG001
    """Refuse an empty name, and control characters; ``value`` is a name or a tuple of names."""
    for name in (value,) if isinstance(value, str) else value:
        if not name.strip() or CONTROL.search(name):
            raise ConfigError(f"{attribute.name}: expected a name, got {name!r}")


def lists(instance: object, attribute: "attrs.Attribute[Any]", value: Mapping[str, Any]) -> None:  # noqa: ARG001
    """Refuse a product with a value that is no list, an empty list, or one with equal values."""
    for key, several in value.items():
        label = f"{attribute.name}: {key}"
        if not isinstance(several, list) or not several:
            raise ConfigError(f"{label}: expected a list of values, got {several!r}")
        twice = [each for number, each in enumerate(several) if each in several[:number]]
        if twice:
            raise ConfigError(f"{label}: expected each value once, got {twice[0]!r} twice")


@attrs.frozen(kw_only=True)
class Variant:
    """A method with options: a row of the table, or with a product one row for each combination.

    Parameters
    ----------
    name
        The label of the row.
    method, options
        The method, and options that override those of the preset.
    objective, objective_options, schedule
        As in a grid; None: those of the grid.
    settings
        Other settings of the run, e.g. ``{learning_rate = 2e-4}``, in place of those of the grid.
    product
        Lists of values by option of the method, ``objective`` or ``schedule``. All combinations
        become rows; each is named by its values, for example ``llr-bc weighting=entropy``.
    """

    name: str = attrs.field(validator=named)
    method: str = "llr-bc"
    options: Options = attrs.field(factory=dict)
    objective: str | None = None
    objective_options: Options | None = None
    schedule: str | None = None
    settings: Options = attrs.field(factory=dict)
    product: Options = attrs.field(factory=dict, validator=lists)

    def in_run(self, of_grid: Mapping[str, Any]) -> Options:
        """Return what a grid says as in a run, with what this row says in its place.

        An objective of the row replaces the objective of the grid together with its options.
        """
        own: Options = {"schedule": self.schedule, "objective_options": self.objective_options}
        own = {name: value for name, value in own.items() if value is not None}
        if self.objective is not None:
            own |= {"objective": self.objective, "objective_options": self.objective_options}
        return {**of_grid, **own}


def combinations(variant: Variant) -> list[Variant]:
    """Return one row for each combination of a variant's product; without a product, itself.

    Raises
    ------
    ConfigError
        If an option is in both ``options`` and ``product``.
    """
    both = variant.options.keys() & variant.product.keys()
    both |= {key for key in OF_RUN if key in variant.product and getattr(variant, key) is not None}
    if both:
        name = min(both)
        raise ConfigError(
            f"variant {variant.name!r}: {name}: expected one value or a list in product"
        )
    rows = []
    for values in itertools.product(*variant.product.values()):
        chosen = dict(zip(variant.product, values, strict=True))
        settings = {key: chosen.pop(key) for key in OF_RUN if key in chosen}
        words = [
            variant.name,
            *(f"{key}={_word(value)}" for key, value in zip(variant.product, values, strict=True)),
        ]
        options = {**variant.options, **chosen}
        rows.append(
            attrs.evolve(variant, name=" ".join(words), options=options, product={}, **settings)
        )
    return rows


def with_axes(
    methods: Iterable[str], ablations: Iterable[str], product: Mapping[str, Any]
) -> list[Variant]:
    """Return one variant for each method and ablation, with those lists of a product that it takes.

    An ablation is a choice of options, so it takes settings of the run only.

    Raises
    ------
    UnknownNameError
        If no row takes a list of the product.
    """
    rows: list[Variant] = []
    every: dict[str, None] = {}
    for method in methods:
        known = (*OF_RUN, *registry.all_options("method", method, {})) if product else ()
        every |= dict.fromkeys(known)
        own = {key: values for key, values in product.items() if key in known}
        rows.append(Variant(name=method, method=method, product=own))
    for name in ablations:
        every |= dict.fromkeys(OF_RUN)
        own = {key: values for key, values in product.items() if key in OF_RUN}
        rows.append(Variant(name=name, options={"ablation": name}, product=own))
    for key in product:
        if key not in every:
            listed = ", ".join(row.name for row in rows) or "no method"
            note = "Other settings have no list: write a variant for each value."
            raise UnknownNameError(f"option of {listed}", key, every, note)
    return rows


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
