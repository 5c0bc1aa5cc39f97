"""When two configurations are of one run."""

from pathlib import Path

import attrs

from lifelong_co import registry
from lifelong_co.config.run_config import Config


def spelled_out(config: Config) -> Config:
    """Return a configuration that is the same for all runs which learn the same.

    Its method's defaults are among the options, and of a task file only the name is there.
    """
    options = registry.method_options(config.method, config.method_options)
    return attrs.evolve(config, method_options=options, order=Path(config.order).name)
