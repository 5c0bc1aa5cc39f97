"""Registers the loggers."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_plugins.loggers.csv_table import CsvTable
from lifelong_co_plugins.loggers.event_files import event_files


@hookimpl
def register_loggers(register: Register) -> None:
    """Register a table and the event files of TensorBoard."""
    register("csv", CsvTable)
    register("tensorboard", event_files)
