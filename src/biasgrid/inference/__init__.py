"""Inference about a metric's value: significance tests, bootstrap intervals, leave-one-out influence."""
