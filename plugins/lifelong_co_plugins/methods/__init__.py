"""Lifelong-learning methods."""
