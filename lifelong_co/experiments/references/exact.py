"""OR-Tools CP-SAT: shortest tours with a proof, by one circuit constraint over all arcs.

Source: ``CpModel.add_circuit``, OR-Tools 9.12 or newer. There is one worker, so that the result
does not depend on timing unless the time limit is reached.
"""

from collections.abc import Sequence

import attrs

from lifelong_co.experiments.references.packages import optional
from lifelong_co.experiments.references.subject import Integers


@attrs.frozen
class Tour:
    """The result of CP-SAT."""

    actions: list[int]
    """``[n]``."""
    proven: bool
    """Whether it is proven that no tour is shorter, in the given integer distances."""


def shortest_tour(distances: Integers, hint: Sequence[int], *, seconds: float) -> Tour:
    """Return the shortest tour, or the best one found when the time is over.

    Parameters
    ----------
    distances
        ``[n, n]``, ``n >= 2``.
    hint
        A tour ``[n]`` to start from. CP-SAT is good at proofs, but slow at finding good tours.
    seconds
        Time limit.
    """
    n = len(distances)
    if n <= 3:
        return Tour(list(range(n)), True)  # there is only one tour
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
    solver.parameters.linearization_level = 2  # adds subtour cuts, which the proofs need
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
