"""Weightings, divergences, methods and distributions that lifelong-co ships."""
