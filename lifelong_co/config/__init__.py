"""The configuration of a run: presets, ablations, and the resolved result."""

from lifelong_co.config.run_config import Config

__all__ = ["Config"]
