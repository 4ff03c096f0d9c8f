"""Inference about a metric's value: tests of significance, bootstrap intervals, leave-one-out influence."""
