"""The columns that lead tables: what a row is of."""

from __future__ import annotations

from .column import Column

CRITERION = Column("criterion", "the criterion's name in the config")
QUERY = Column("query", "the (sub-)query's name")
METRIC = Column("metric", "the metric's key in the config")
MODEL = Column("model", "the model's key in the config")
DEBIAS = Column("debias", 'the debias method\'s key in the config; "none" is the model as it is')
CELL = (CRITERION, QUERY, METRIC, MODEL, DEBIAS)
