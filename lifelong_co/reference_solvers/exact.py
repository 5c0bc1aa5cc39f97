"""OR-Tools CP-SAT: shortest circuits with a proof, by one circuit constraint over all arcs.

Source: ``CpModel.add_circuit``, OR-Tools 9.12 or newer. There is one worker, so that the result
does not depend on timing unless the time limit is reached.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from lifelong_co.errors import ConfigError
from lifelong_co.reference_solvers.packages import optional
from lifelong_co.validators import number

Arc = tuple[int, int]


@attrs.frozen
class Circuit:
    """The result of CP-SAT."""

    actions: list[int]
    """``[T]``, the nodes of the circuit in their order, from node 0 on."""
    proven: bool
    """Whether it is proven that no circuit costs less, in the given integers."""


def _whole(arc: Arc, cost: object) -> int:
    given = number(cost)
    if isinstance(given, int) or (isinstance(given, float) and given.is_integer()):
        return int(given)
    raise ConfigError(f"cost of arc {arc}: expected a whole number, got {cost!r:.80}")


def shortest_circuit(
    costs: Mapping[Arc, int],
    hint: Sequence[int],
    *,
    seconds: float,
    constrain: Callable[[Any, Mapping[Arc, Any]], None] | None = None,
) -> Circuit:
    """Return the circuit of least cost, or the best one found when the time is over.

    Parameters
    ----------
    costs
        Whole cost of each arc ``(i, j)``; the circuit uses no other arc. An arc ``(i, i)`` lets the
        circuit leave out node ``i`` at this cost. The circuit visits every other node.
    hint
        A circuit ``[T]`` to start from, which begins with node 0. CP-SAT is good at proofs, but
        slow at finding good circuits.
    seconds
        Time limit.
    constrain
        Called with the ``CpModel`` and the variable of each arc; adds further constraints. The
        hint must fulfil them.

    Raises
    ------
    ConfigError
        If a cost is no whole number.
    """
    whole = {arc: _whole(arc, cost) for arc, cost in costs.items()}
    cp_model = optional("ortools.sat.python.cp_model")
    model = cp_model.CpModel()
    arcs = {arc: model.new_bool_var("") for arc in costs}
    model.add_circuit([(i, j, variable) for (i, j), variable in arcs.items()])
    if constrain is not None:
        constrain(model, arcs)
    model.minimize(sum(whole[arc] * variable for arc, variable in arcs.items()))
    follows = dict(zip(hint, [*hint[1:], hint[0]], strict=True))
    for (i, j), variable in arcs.items():
        model.add_hint(variable, follows.get(i, i) == j)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2  # adds subtour cuts, which the proofs need
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.catch_sigint_signal = False
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Circuit(list(hint), False)
    after = {i: j for (i, j), variable in arcs.items() if solver.boolean_value(variable)}
    circuit = [0]
    while after[circuit[-1]] != 0:
        circuit.append(after[circuit[-1]])
    return Circuit(circuit, status == cp_model.OPTIMAL)
