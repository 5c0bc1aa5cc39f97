"""Checks of a solver in the first step of a task: that what is learned from is what it says.

A solver of a plugin can be wrong in ways that give no error, only numbers that mean nothing: it
changes the instances, leaves out the observer, returns probabilities instead of their logarithms.
`lifelong_co.testing.check_solver` finds more, before a run.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lifelong_co.errors import ComponentError
from lifelong_co.protocols import Observer, Rollout, Solver
from lifelong_co.rollout.observing import Counted
from lifelong_co.rollout.verification import WRONG_COST, complete, require_starts
from lifelong_co.tensors import records
from lifelong_co.tensors.backward import leaves
from lifelong_co.tensors.modules import evaluating, normalises_over_batch

FIELDS = ("actions", "cost", "log_likelihood")
"""The tensors of a rollout."""
ROWS = 2
"""Instances on which the probabilities are checked."""
WRONG_SUM = 0.02
"""A difference that rounding in bfloat16 does not explain: of a sum of probabilities from 1, or of
two log-probabilities in the mean over the steps."""


def checked(
    name: str,
    solver: Solver,
    instances: Any,
    rollout: Callable[[Observer | None], Rollout],
    observe: Observer | None,
    first: bool,
) -> Rollout:
    """Return a rollout that has called its observer at each step that is not forced.

    Parameters
    ----------
    name
        The registered name of the solver, for messages.
    solver, instances
        The solver in training mode, and what it solves.
    rollout
        Makes the rollout with the observer that it is given.
    observe
        What the method observes with; None: nothing.
    first
        Whether the rollout has all checks of `FirstRollout`.

    Raises
    ------
    ComponentError
        If the solver fails a check; the message names it.
    """
    check = FirstRollout(name, solver, instances) if first else None
    counted = None if observe is None else Counted(observe)
    found = rollout(counted)
    if check is not None:
        check(found)
    if counted is not None:
        _, S, T = found.actions.shape
        least = T - len(solver.problem.starts(instances, S))
        if not least <= counted.calls <= T:
            raise ComponentError(
                f"solver {name!r}: expected a rollout that calls observe(state, log_probs) at each"
                f" step after the forced first actions, {least} to {T} times for {T} actions, got"
                f" {counted.calls} calls"
            )
    return found


class FirstRollout:
    """Checks one rollout: made before it, called with it.

    Parameters
    ----------
    name, solver, instances
        As for `checked`.
    """

    def __init__(self, name: str, solver: Solver, instances: Any) -> None:
        self.label = f"solver {name!r}"
        self.solver = solver
        self.instances = instances
        self.names = set(solver.module.state_dict())
        self.before = records.transform(instances, torch.Tensor.clone)
        self.random = torch.get_rng_state()

    def __call__(self, rollout: Rollout) -> None:
        """Check the solver, and the rollout that it has made.

        Raises
        ------
        ComponentError
            If the solver draws from torch's global random stream of the CPU, or changes the
            instances or the names of its tensors; if solutions have another shape, are infeasible
            or cost something else than the problem counts; if probabilities do not sum to 1 over
            feasible actions, or their logarithms to the log-likelihood over the steps; if greedy
            solutions in evaluation mode differ from one time to the next; if gradients flow into
            tensors that the module does not have.
        """
        if new := set(self.solver.module.state_dict()) ^ self.names:
            what = ", ".join(sorted(new)[:3])
            self._refuse("a module that keeps its parameters and buffers", f"a change of {what}")
        if not torch.equal(self.random, torch.get_rng_state()):
            self._refuse(
                "random numbers from the given generator only (also in the observer of a method)",
                "some from torch's global stream; is a dropout layer active?",
            )
        kept = records.tensors(self.before)
        for field, tensor in records.tensors(self.instances).items():
            if bool(kept[field].isnan().any()):
                raise ComponentError(f"instances: {field}: expected numbers, got NaN")
            if not torch.equal(tensor, kept[field]):
                got = f"other {field}; or the problem changes them: see check_problem"
                self._refuse("a rollout that does not change the instances", got)
        self._check_solutions(rollout)
        self._check_probabilities(rollout.actions.shape[1])
        self._check_likelihood(rollout)
        self._check_repeats()
        own = {id(parameter) for parameter in self.solver.module.parameters()}
        for leaf in leaves(rollout.log_likelihood):
            if id(leaf) not in own:  # nothing trains or saves it
                shape = list(leaf.shape)
                self._refuse("all parameters in its module", f"another one, of shape {shape}")

    @torch.no_grad()
    def _check_solutions(self, rollout: Rollout) -> None:
        if not all(isinstance(getattr(rollout, name, None), Tensor) for name in FIELDS):
            self._refuse("a Rollout of tensors from rollout(…)", f"{type(rollout).__name__}")
        problem, cost, actions = self.solver.problem, rollout.cost, rollout.actions
        B = records.rows(self.instances)
        if actions.dim() != 3 or actions.shape[0] != B or actions.dtype != torch.long:
            got = f"{list(actions.shape)} of {actions.dtype}"
            self._refuse(f"long actions [B, S, T] with B = {B}", got)
        S = actions.shape[1]
        for field in FIELDS[1:]:
            shape = list(getattr(rollout, field).shape)
            if shape != [B, S]:
                self._refuse(f"a {field} [B, S] = {[B, S]}", f"{shape}")
        forced = problem.starts(self.instances, S)
        require_starts(problem, self.instances, forced)
        if not bool(complete(problem, self.instances, actions, forced).all()):
            nan = bool(rollout.log_likelihood.isnan().any() | self._log_probs(S)[1].isnan().any())
            got = "others; its log-probabilities are NaN" if nan else "others"
            self._refuse("sampled solutions that are complete and feasible", got)
        counted = problem.cost(self.instances, actions)
        if list(counted.shape) != [B, S] or not counted.is_floating_point():
            raise ComponentError(
                f"problem {problem.name!r}: expected a cost [B, S] = {[B, S]} of floats, got"
                f" {list(counted.shape)} of {counted.dtype}"
            )
        wrong = (cost - counted).abs() > WRONG_COST * counted.abs()
        if bool(wrong.any()):
            first = wrong.nonzero()[0].tolist()
            got = f"{float(cost[*first]):g} where it counts {float(counted[*first]):g}"
            self._refuse("the cost that the problem counts", got)

    @torch.no_grad()
    def _check_repeats(self) -> None:
        part = records.select(self.before, slice(0, ROWS))
        if records.device(part).type != "cpu":
            return  # rounding may differ, and decide between equally likely actions
        with evaluating(self.solver.module):
            first, second = (self.solver.rollout(part, "greedy").actions for _ in range(2))
        if not torch.equal(first, second):
            self._refuse("the same greedy solutions twice in evaluation mode", "others")

    def _log_probs(self, S: int) -> tuple[Tensor, Any]:
        """Return what is feasible in the first state that is not forced, and log-probs."""
        problem = self.solver.problem
        part = records.select(self.before, slice(0, ROWS))
        state = problem.reset(part, S)
        for action in problem.starts(part, S):
            state = problem.step(part, state, action)
        feasible = problem.feasible(part, state)
        with evaluating(self.solver.module):
            return feasible, self.solver.log_probs(self.solver.encode(part), state)

    @torch.no_grad()
    def _check_probabilities(self, S: int) -> None:
        feasible, log_probs = self._log_probs(S)
        if log_probs.shape != feasible.shape:
            expected = f"log_probs [B, S, A] = {list(feasible.shape)}"
            self._refuse(expected, f"{list(log_probs.shape)}")
        probs = log_probs.float().exp()
        if not bool(probs.isfinite().all()):
            return  # the loss is not finite, too, and the check of the step names it
        sums = probs.sum(dim=2)
        worst = float(sums.flatten()[(sums - 1).abs().argmax()])
        if abs(worst - 1) > WRONG_SUM:
            self._refuse("log_probs whose exponentials sum to 1", f"a sum of {worst:g}")
        if float(probs.masked_fill(feasible, 0).amax()) > WRONG_SUM:
            self._refuse("log_probs of -inf where an action is infeasible", "a higher one")

    @torch.no_grad()
    def _check_likelihood(self, rollout: Rollout) -> None:
        """Compare the log-likelihood with the sum of `log_probs` in the same states.

        They differ if a sign is wrong, or if a step depends on more than its state.
        """
        found = rollout.log_likelihood
        if normalises_over_batch(self.solver.module) or not bool(found.isfinite().all()):
            return
        problem, S = self.solver.problem, found.shape[1]
        encoding, state = self.solver.encode(self.before), problem.reset(self.before, S)

        def taken(state: Any, action: Tensor) -> Tensor:
            return self.solver.log_probs(encoding, state).gather(2, action[..., None]).squeeze(2)

        forced = len(problem.starts(self.before, S))
        early, total = [], torch.zeros_like(found)
        for t, action in enumerate(rollout.actions.unbind(2)):
            if t < forced:
                early.append((state, action))
            else:
                total = total + taken(state, action)
            state = problem.step(self.before, state, action)
        first = total
        most = WRONG_SUM * rollout.actions.shape[2]
        while not bool(((total - found).abs() <= most).all()):
            if not early:
                at = (first - found).abs().flatten().argmax()
                expected = f"a log_likelihood that is the sum of log_probs, {first.flatten()[at]:g}"
                self._refuse(expected, f"{found.flatten()[at]:g}")
            total = total + taken(*early.pop())  # a solver may force fewer actions

    def _refuse(self, expected: str, got: str) -> None:
        check = "lifelong_co.testing.check_solver"
        raise ComponentError(f"{self.label}: expected {expected}, got {got} ({check} says more)")
