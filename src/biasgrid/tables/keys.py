"""First columns of tables: the keys of a row."""

from __future__ import annotations

from .column import Column

CRITERION = Column("criterion", "the criterion's name in the config", key="criterion")
QUERY = Column(
    "query", "the name of the query, or of the sub-query if the metric divides the query", key="query"
)
METRIC = Column("metric", "the metric's key in the config", key="metric")
MODEL = Column("model", "the model's key in the config", key="model")
DEBIAS = Column(
    "debias", 'the debias method\'s key in the config; "none" is the original model', key="debias"
)
CELL = (CRITERION, QUERY, METRIC, MODEL, DEBIAS)
