"""Rollouts: from a policy to solutions."""

from lifelong_co.rollout.action_selection import Decoding
from lifelong_co.rollout.decoding import multi_start, rollout, single

__all__ = ["Decoding", "multi_start", "rollout", "single"]
