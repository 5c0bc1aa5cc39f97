"""A check of all names and options of a configuration before the first run."""

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.registry.finding import find
from lifelong_co.registry.lookup import TESTS_OF
from lifelong_co.tasks.drift import training
from lifelong_co.tasks.instances import testing


def check_names(config: Config) -> None:
    """Build what a run needs, except its folder, and throw it away.

    Raises
    ------
    LifelongError
        If the problem, the solver, the method, the objective, a logger, a distribution or a file is
        unknown or refuses its options. A note of the error names the task.
    """
    for logger in config.loggers:
        find("logger", logger)  # one that is made may write
    problem = registry.problem(config.problem)
    registry.method(config.method, **config.method_options)
    solver = registry.solver(config.solver, problem, **config.solver_options)
    registry.objective(config.objective, solver, **config.objective_options)
    for task in config.tasks:
        training(task, problem)
        if task.test_files or task.tests_of != TESTS_OF[0]:
            testing(task, problem, config.tests)
