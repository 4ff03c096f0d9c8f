"""Two models of a grid compared: oriented as asked, with all claims."""

import pandas as pd

import biasgrid as bg
from biasgrid.tables.pairs import PAIRS


class Grid:
    """A grid with a table of pairs."""

    class study:
        models = ("one", "two", "three")

    def frame(self, name):
        assert name == "pairs"
        row = {
            **{"criterion": "Gender", "metric": "weat", "family": "models"},
            **{"model_a": "one", "debias_a": "none", "model_b": "two", "debias_b": "none"},
            **{"difference": -1.0, "low": -1.5, "high": -0.5, "p": 0.01, "p_adjusted": 0.02},
            **{"other_difference": -0.8, "other_low": -2.0, "other_high": 0.4, "answer": "different"},
        }
        debiased = row | {"family": "states", "model_b": "one", "debias_a": "hard"}
        return pd.DataFrame([row, row | {"model_b": "three"}, debiased]).reindex(columns=PAIRS.names)


def test_differences_are_of_the_first_model_minus_the_second():
    (forward,) = bg.compare_models(Grid(), "one", "two").to_dict("records")
    (backward,) = bg.compare_models(Grid(), "two", "one").to_dict("records")
    assert (forward["difference"], forward["low"], forward["high"]) == (-1.0, -1.5, -0.5)
    assert (backward["difference"], backward["low"], backward["high"]) == (1.0, 0.5, 1.5)
    assert (backward["other_low"], backward["other_high"]) == (-0.4, 2.0)
    assert forward["answer"] == backward["answer"] == "different"
