"""The largest scores of each metric."""

from biasgrid.report.sections import Section


def make(material):
    scores = material.tables["scores"].sort_values("value", ascending=False)
    return {"largest": scores.groupby("metric").head(3)}


SECTIONS = (
    Section("largest", "Largest scores", ("scores",), make, "largest.html", lead="three of each metric"),
)
