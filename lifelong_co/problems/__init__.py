"""Instances, states, feasibility and cost of each problem: only here problems differ."""
