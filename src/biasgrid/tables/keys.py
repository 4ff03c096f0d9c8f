"""The columns that lead tables: what a row is of."""

from __future__ import annotations

from .column import Column

CRITERION = Column("criterion", "the criterion's name in the config", key="criterion")
QUERY = Column("query", "the (sub-)query's name", key="query")
METRIC = Column("metric", "the metric's key in the config", key="metric")
MODEL = Column("model", "the model's key in the config", key="model")
DEBIAS = Column(
    "debias", 'the debias method\'s key in the config; "none" is the model as it is', key="debias"
)
CELL = (CRITERION, QUERY, METRIC, MODEL, DEBIAS)
