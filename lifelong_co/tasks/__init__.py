"""Tasks: their order, and where their instances come from."""

from lifelong_co.tasks.stream import TaskStream
from lifelong_co.tasks.task import Task

__all__ = ["Task", "TaskStream"]
