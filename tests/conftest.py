"""What all tests share: Hypothesis without a clock and with the same examples every time."""

from hypothesis import settings

# No deadline, as two cores are shared; derandomized, so that a failure is never a matter of luck.
settings.register_profile("lifelong-co", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("lifelong-co")
