"""Settings of all tests: Hypothesis without deadlines, with the same examples in every run."""

from hypothesis import settings

# No deadline, because machines are shared; derandomized, so that failures can be repeated.
settings.register_profile("lifelong-co", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("lifelong-co")
