"""Rollouts: from a policy to solutions."""

from lifelong_co.rollout.decoding import multi_start, rollout, single

__all__ = ["multi_start", "rollout", "single"]
