"""Numbers of a trainer's models in factory.csv, by kind of number."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .recovery import ACTS, BEHAVIOUR, SETTING, percentage_difference


class Numbers:
    """Numbers of a trainer's models in factory.csv: an array (models,) for each number, None if it is missing."""

    def __init__(self, models: pd.DataFrame):
        setting = SETTING[1:]
        key = ["vectors", "metric", "level", "against", "truth", "what"]
        wide = models.pivot(index=setting, columns=key, values="value")
        self._values = {column: wide[column].to_numpy(dtype=float) for column in wide.columns}
        sets = models[(models["level"] == "set") & models["true"].notna() & (models["vectors"] != BEHAVIOUR)]
        true = sets.drop_duplicates([*setting, "against", "truth"])
        true = true.pivot(index=setting, columns=["against", "truth"], values="true").reindex(wide.index)
        self._true = {column: true[column].to_numpy() for column in true.columns}
        self.plans = wide.groupby(level=["mu", "sigma"]).ngroup().to_numpy()
        self.kinds = [kind for kind in models["vectors"].unique() if kind != BEHAVIOUR]

    def of_model(self, kind: str, what: str, against: str = "") -> np.ndarray | None:
        """Return a number of the models themselves."""
        return self._values.get((kind, "", "model", against, "", what))

    def of_words(self, kind: str, metric: str, against: str, what: str = "r_squared", truth: str = "signed"):
        """Return R² of words' scores with a truth, or another correlation; behaviour is a kind of its own."""
        return self._values.get((_kind_of(metric, kind), metric, "word", against, truth, what))

    def retest(self, kind: str, metric: str) -> np.ndarray | None:
        """Return the mean correlation with the scores of other replicates."""
        return self._values.get((_kind_of(metric, kind), metric, "word", "", "", "retest"))

    def halves(self, kind: str, metric: str) -> np.ndarray | None:
        """Return the mean distance of values on halves of the words from the value on all words."""
        return self._values.get((_kind_of(metric, kind), metric, "set", "", "", "halves"))

    def value(self, kind: str, metric: str) -> np.ndarray | None:
        """Return the values of sets."""
        return self._values.get((kind, metric, "set", "planted", "mean", "score"))

    def true(self, against: str, truth: str) -> np.ndarray | None:
        """Return the truth of sets."""
        return self._true.get((against, truth))

    def differences(self, kind: str, metric: str) -> np.ndarray | None:
        """Compute the percentage difference of the words' standard deviation between replicates, (plans,)."""
        values = self._values.get((_kind_of(metric, kind), metric, "word", "", "", "sd"))
        if values is None:
            return None
        by_plan = (values[self.plans == plan] for plan in range(self.plans.max(initial=-1) + 1))
        return np.array([percentage_difference(part[np.isfinite(part)]) for part in by_plan])


def _kind_of(metric: str, kind: str) -> str:
    return BEHAVIOUR if metric in ACTS else kind
