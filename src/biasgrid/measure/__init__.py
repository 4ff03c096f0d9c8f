"""Measurement of a metric on a query and a model: look-up, values, tests, intervals, and reliability.

`measuring.measure` measures one metric in memory; `cell` and `step` do the same for a study's files. `significance`
has the tests of significance, one file each, and `statistics` works on arrays alone. Formulas of metrics belong in
`metrics`, and tables of several results in `tables`.
"""
