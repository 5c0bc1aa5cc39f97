"""The paper's distributions as an object for users, with the methods `sample` and `testset`.

``variant="official"`` follows the official code, from which the published numbers come.
``variant="paper"`` follows the text of the paper's appendix "Task Settings". These are all
differences:

=============  ============================================  =====================================
what           paper                                         official code
=============  ============================================  =====================================
GM demand      ``10 · dist`` rounded (0 … 10); ``dist`` in   per cluster: min-max of the distance
               the unit square, min-max over all nodes of    before scaling, to ``[1, 10]``,
               the instance but the centers                  truncated
E nodes        moved by ``0.3 + s`` away from ``p``          put at distance ``0.3 + s`` of ``p``
E nodes, TSP   clamped to the unit square                    min-max to the unit square
E demand       N(5, 1) rounded, clamped to ``[0, 10]``       the same clamped to ``[1, 10]``
C nodes        new signed distance from the line,            distance times ``|N(0, 0.1²)|``, on
               N(0, 0.1²)                                    the other side
C demand       10 minus N(5, 1), in ``[0, 10]``              10 minus the demand of E: ``[0, 9]``
G sides        longer side 1                                 longer side ``1 - 1e-5``
R radius       ``ra_1`` in U(0.3, 0.4) for each node         one for each instance
R demand       noise U(0, 2); the farthest demands 10        noise U(0, 1); the nearest demands 10
=============  ============================================  =====================================

Where the text is wrong or says nothing, both variants follow the official code. The ``b =
ceil(sqrt(n / a))`` rows of G in the text are too few for the nodes (``n / a`` is meant). Grid
points lie on the border of the rectangle, too. "``p ≤ 0.5, p ~ U(0, 1)``" of R is a fair coin, as
in G. R is clamped to the unit square. Demands of U are whole numbers.
"""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.protocols import Problem
from lifelong_co.registry.lookup import TESTS_OF
from lifelong_co.seeding import generator as seeded
from lifelong_co.tasks.completion import Completion, completion, fields_of
from lifelong_co.validators import whole
from lifelong_co_plugins.distributions import official
from lifelong_co_plugins.distributions.demand import capacity_of, check_capacity
from lifelong_co_plugins.distributions.noise import Noise
from lifelong_co_plugins.distributions.samplers import SAMPLERS

Variant = Literal["official", "paper"]
DRAWN = ("nodes", "depot", "demand")
"""The fields that these distributions draw."""


@attrs.frozen
class PaperDistribution:
    """One of the paper's six distributions, for one problem; see the module for the variants."""

    name: str
    """``U GM E C G R``."""
    problem: Problem
    completion: Completion
    """Draws the fields of the instances that are neither coordinates nor demand."""
    variant: Variant = "official"
    capacity: int | None = None
    """Capacity of the vehicle in units of demand; None: the official rule of
    `demand.capacity_of`. Not used by problems without demand."""

    @property
    def with_depot(self) -> bool:
        """Whether the instances have a depot or demands: G and R draw demands by the depot."""
        return not {"depot", "demand"}.isdisjoint(fields_of(self.problem))

    def sample(self, batch: int, size: int, *, generator: torch.Generator | None = None) -> Any:
        """Draw new instances.

        Parameters
        ----------
        batch, size
            ``B >= 1`` and ``n >= 2``.
        generator
            The source of all random numbers; the instances are on its device. The same state of
            the generator gives the same instances. None: torch's default generator, on the CPU.

        Returns
        -------
        Instances of the problem, float32, coordinates in the unit square; demands are whole
        multiples of ``1 / capacity``, at most ``10 / capacity``.

        Raises
        ------
        ConfigError
            If ``batch`` or ``size`` is too small or no whole number, or ``generator`` is none.
        """
        if not isinstance(generator, torch.Generator | None):
            raise ConfigError(f"generator: expected a torch.Generator or None, got {generator!r}")
        batch = whole(f"distribution {self.name}: batch", batch, 1)
        size = whole(f"distribution {self.name}: size", size, 2)
        noise = Noise(generator)
        depot = noise.uniform(batch, 1, 2) if self.with_depot else None
        placed, wanted = SAMPLERS[self.name](noise, batch, size, depot, self.variant == "paper")
        capacity = capacity_of(size, self.capacity)
        return self._instances(placed, depot, wanted, capacity, generator)

    def testset(self, of: str = "generator") -> Any:
        """Return the first 1,000 test instances of the paper, the same bits on every call.

        They come from the official code with the official capacity and ignore the variant and the
        capacity of this object. Sizes are 20 (U, R), 50 (G, E) and 100 (C, GM). Fields that the
        paper's problems lack are drawn with a fixed seed.

        Parameters
        ----------
        of
            For R of the CVRP the published file has other demands than the official generator.
            ``generator``: the generator's, to which the published reference costs belong.
            ``published``: the file's, on which the paper tested its solvers. All other test sets
            are the same in both.

        Raises
        ------
        UnknownNameError
            If ``of`` is something else.
        """
        if of not in TESTS_OF:
            raise UnknownNameError("test set", str(of), TESTS_OF)
        size = official.TEST_SIZES[self.name]
        drawn = official.draw(
            self.name,
            official.TEST_INSTANCES,
            size,
            with_demand=self.with_depot,
            of=official.PUBLISHED_INSTANCES,
            stored=of == "published",
        )
        stream = seeded(0, f"test set {self.problem.name} {self.name} {size}")
        return self._instances(drawn.nodes, drawn.depot, drawn.demand, capacity_of(size), stream)

    def _instances(
        self,
        placed: Tensor,
        depot: Tensor | None,
        wanted: Tensor | None,
        capacity: int,
        generator: torch.Generator | None,
    ) -> Any:
        known = {"nodes": placed}
        if depot is not None and wanted is not None:
            known |= {"depot": depot, "demand": wanted / capacity}
        return self.completion.instances(known, generator)


def make_distribution(
    name: str,
    problem: Problem,
    *,
    variant: str = "official",
    capacity: int | None = None,
    attributes: Sequence[str] = (),
) -> PaperDistribution:
    """Build one of the six distributions; the plugin registers this function for each name.

    Parameters
    ----------
    name
        ``U GM E C G R``.
    problem
        A problem whose instances have ``nodes``. Its sampler (`register_samplers`) draws the fields
        that are neither ``nodes`` nor ``depot`` nor ``demand``.
    variant
        ``"official"`` or ``"paper"``; see the module.
    capacity
        See `PaperDistribution`; at least 10, the largest demand.
    attributes
        Those of the task, for the sampler of the problem.

    Raises
    ------
    UnknownNameError
        If the variant has another name.
    ConfigError
        If the capacity is not a whole number of at least 10, the instances of the problem have no
        coordinates, or its sampler is missing or refuses the attributes.
    """
    for known in get_args(Variant):
        if variant == known:
            break
    else:
        raise UnknownNameError("variant", variant, get_args(Variant))
    if "nodes" not in (has := fields_of(problem)):
        raise ConfigError(
            f"distribution {name}: expected a problem whose instances have nodes, got"
            f" {problem.name!r} with {', '.join(sorted(has))}; take a distribution of its plugin"
        )
    complete = completion(problem, DRAWN, attributes)
    return PaperDistribution(name, problem, complete, known, check_capacity(capacity))
