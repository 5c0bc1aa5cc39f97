"""Checks of a training step: its loss terms are scalars with gradients, its numbers are finite."""

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

from torch import Tensor

from lifelong_co.config.run_config import Config
from lifelong_co.errors import ComponentError, NotFiniteError
from lifelong_co.protocols import Problem
from lifelong_co.protocols.learning import RESERVED
from lifelong_co.runs.epochs import ALL, what_it_learns
from lifelong_co.runs.run import Run
from lifelong_co.tensors.finiteness import step_numbers


def require_finite_step(run: Run, losses: Mapping[str, Tensor]) -> None:
    """Stop if a number of the present step is not finite, on a GPU of the step before.

    Parameters
    ----------
    losses
        The scalars of the step; see `finiteness.step_numbers`.

    Raises
    ------
    NotFiniteError
        In all processes of the run if a number is not finite in one of them.
    """
    _require(run, run.watch.note(place(run), step_numbers(losses, run.learner.solver.module)))


def require_rest_finite(run: Run) -> None:
    """Do the same for a step that has not been read; needed before a state is tested or saved."""
    _require(run, run.watch.rest())


def _require(run: Run, fault: str | None) -> None:
    if run.ranks.any(fault is not None):
        found = fault or f"{place(run)}: a number in another process is not finite"
        rate = run.config.learning_rate
        remedy = f"start a new run with other loss terms or a lower learning_rate (now {rate:g})"
        if not run.steps:  # no step was too long: a component is wrong
            remedy = _check_to_make(run.config, found) or remedy
        raise NotFiniteError(run.folder.path, found, remedy)


def _check_to_make(config: Config, fault: str) -> str:
    """Return how to find the component that makes the rollout or the policy loss not finite."""
    checks = {f"solver {config.solver!r}": "check_solver"}
    if "the cost of the rollout" in fault:
        checks[f"problem {config.problem!r}"] = "check_problem"
    elif "the loss term 'policy'" not in fault:
        return ""
    elif config.objective != "reinforce":  # that is the solver's own
        checks[f"objective {config.objective!r}"] = "check_objective"
    each = (f"{part} with lifelong_co.testing.{check}" for part, check in checks.items())
    return f"check {', and '.join(each)}"


def place(run: Run) -> str:
    """Return where the run stands: task, epoch and step of the epoch, each from 1."""
    learner = run.learner
    name, number, epochs = what_it_learns(run, learner.epoch)
    learned = name if name == ALL else f"task {name}"
    steps = run.method.batches(learner)
    return f"{learned}, epoch {number} of {epochs}, step {learner.batch + 1} of {steps}"


def checked_batch(config: Config, problem: Problem, instances: object) -> Any:
    """Return what a method's `instances` returns, if it is a batch of the problem.

    Raises
    ------
    ComponentError
        If it is not; the message names the method.
    """
    if not isinstance(instances, problem.instances_type):
        raise ComponentError(
            f"method {config.method!r}, instances: expected {problem.instances_type.__name__},"
            f" got {type(instances).__name__}"
        )
    return instances


def require_batches(config: Config, batches: object) -> None:
    """Raise `ComponentError` unless a method gives a number of batches of at least 1."""
    if isinstance(batches, bool) or not isinstance(batches, Integral) or batches < 1:
        raise ComponentError(
            f"method {config.method!r}, batches: expected a whole number of at least 1,"
            f" got {batches!r:.80}"
        )


def checked_terms(config: Config, terms: object) -> Iterable[object]:
    """Return what a method's `loss_terms` returns, if it can be iterated.

    Raises
    ------
    ComponentError
        If it cannot; the message names the method.
    """
    if not isinstance(terms, Iterable):
        raise ComponentError(
            f"method {config.method!r}: expected loss terms (name, scalar), got {terms!r:.80}"
        )
    return terms


def positive_cost(config: Config, task: int, cost: float) -> float:
    """Return the mean cost of a test if it is above 0, because gaps are divided by it.

    Raises
    ------
    ComponentError
        If it is not; the message names the problem and the task.
    """
    if cost <= 0:
        raise ComponentError(
            f"problem {config.problem!r}, task {config.tasks[task].label}: expected test instances"
            f" with a mean cost above 0, got {cost:g}"
        )
    return cost


def checked_term(config: Config, item: object) -> tuple[str, Tensor]:
    """Return what a method's `loss_terms` yields, if it is a name and a scalar with gradients.

    Raises
    ------
    ComponentError
        If it is anything else, or the name is of `RESERVED`; the message names the method.
    """
    label = f"method {config.method!r}"
    if not isinstance(item, tuple) or len(item) != 2 or not isinstance(item[0], str):
        raise ComponentError(f"{label}: expected loss terms (name, scalar), got {item!r:.80}")
    name, term = item
    if name in RESERVED:
        reserved = ", ".join(RESERVED)
        raise ComponentError(
            f"{label}: expected a loss term with another name than {reserved}, got {name!r}"
        )
    return name, checked_loss(f"{label}, loss term {name!r}", term)


def checked_loss(label: str, loss: object) -> Tensor:
    """Return a loss if it is a scalar with gradients.

    Raises
    ------
    ComponentError
        If it is anything else; the message begins with ``label``.
    """
    if isinstance(loss, Tensor) and loss.dim() == 0 and loss.requires_grad:
        return loss
    if not isinstance(loss, Tensor):
        got = f"{loss!r:.80}"
    elif loss.dim():
        got = f"a tensor of shape {list(loss.shape)}"
    else:
        got = "one without gradients"
    raise ComponentError(
        f"{label}: expected a scalar tensor that depends on the solver's parameters, got {got}"
    )
