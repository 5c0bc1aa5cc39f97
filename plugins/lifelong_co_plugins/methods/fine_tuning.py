"""Fine-tuning: learn each task with the parameters from the task before (paper §4)."""

from lifelong_co.protocols import Method


def fine_tuning() -> Method:
    """Return the method that adds nothing to the loop."""
    return Method()
