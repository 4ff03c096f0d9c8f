"""Measurement of a metric on a query and a model: look-up, values, tests, intervals, and reliability.

`measure.measure` measures a metric in memory. In a study, `cell` and `write_inference` write the same to files.
`significance` has the tests, one file each, and `statistics` works on arrays alone. Formulas of metrics belong in
`metrics`, and tables of several results in `tables`.
"""
