"""OR-Tools CP-SAT: shortest tours with proof, by one circuit constraint over all arcs.

Source: ``CpModel.add_circuit``, OR-Tools 9.12 or newer. One worker, so that the result does not
depend on timing unless the limit of time is reached.
"""

from collections.abc import Sequence

import attrs

from lifelong_co.experiments.references.packages import optional
from lifelong_co.experiments.references.subject import Integers


@attrs.frozen
class Tour:
    """What CP-SAT found."""

    actions: list[int]
    proven: bool
    """Whether no tour is shorter, in the integers given."""


def shortest_tour(distances: Integers, hint: Sequence[int], *, seconds: float) -> Tour:
    """Return the shortest tour, or the best one known when the time is over.

    Parameters
    ----------
    distances
        ``[n, n]``, ``n >= 2``.
    hint
        A tour to start from, long ``[n]``; CP-SAT proves much and finds little without one.
    seconds
        Limit of time.
    """
    n = len(distances)
    if n <= 3:
        return Tour(list(range(n)), True)  # there is only one
    cp_model = optional("ortools.sat.python.cp_model")
    model = cp_model.CpModel()
    arcs = {(i, j): model.new_bool_var("") for i in range(n) for j in range(n) if i != j}
    model.add_circuit([(i, j, arc) for (i, j), arc in arcs.items()])
    model.minimize(sum(int(distances[pair]) * arc for pair, arc in arcs.items()))
    follows = dict(zip(hint, [*hint[1:], hint[0]], strict=True))
    for (i, j), arc in arcs.items():
        model.add_hint(arc, follows[i] == j)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2  # cuts of subtours, without which it proves little
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.catch_sigint_signal = False
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Tour(list(hint), False)
    after = {i: j for (i, j), arc in arcs.items() if solver.boolean_value(arc)}
    tour = [0]
    while after[tour[-1]] != 0:
        tour.append(after[tour[-1]])
    return Tour(tour, status == cp_model.OPTIMAL)
