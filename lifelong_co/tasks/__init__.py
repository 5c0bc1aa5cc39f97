"""Tasks: what is learned, in which order, and where the instances come from."""

from lifelong_co.tasks.stream import TaskStream
from lifelong_co.tasks.task import Task

__all__ = ["Task", "TaskStream"]
