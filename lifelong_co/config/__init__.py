"""The configuration of a run: presets, ablations, and what they resolve to."""

from lifelong_co.config.run_config import Config

__all__ = ["Config"]
