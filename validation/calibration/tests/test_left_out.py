"""Pairs of models compared again without each model: nothing moves but what the adjustment moves."""

import made_models
import pytest

from validation.calibration.left_out import PREFIXES, find_changes, pairs_without

pytestmark = pytest.mark.slow


def holm(p_values):
    """Return adjusted p-values, by Holm's definition."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


@pytest.fixture(scope="module")
def study():
    return made_models.biased_study()


def test_without_a_model_p_values_are_adjusted_over_fewer_pairs(study):
    pairs = pairs_without(study, "model0").loc["planted", "weat"]
    assert {name for pair in pairs.index for name in pair} == {"model1", "model2", "model3"}
    for prefix in PREFIXES.values():
        p_values = pairs[f"{prefix}p"].tolist()
        assert pairs[f"{prefix}p_adjusted"].tolist() == pytest.approx(holm(p_values))


def test_changes_are_answers_that_holm_over_fewer_pairs_turns(study):
    whole = pairs_without(study).loc["planted", "weat"]
    expected = set()
    for claim, prefix in PREFIXES.items():
        before = dict(zip(whole.index, holm(whole[f"{prefix}p"].tolist()), strict=True))
        for left_out in ("model0", "model1", "model2", "model3"):
            rest = whole[[left_out not in pair for pair in whole.index]]
            after = dict(zip(rest.index, holm(rest[f"{prefix}p"].tolist()), strict=True))
            expected |= {
                (*pair, claim, left_out) for pair in after if (before[pair] > 0.05) and (after[pair] <= 0.05)
            }
    changes = find_changes(study)
    changes = changes[(changes["criterion"] == "planted") & (changes["metric"] == "weat")]
    found = changes[["model_a", "model_b", "claim", "left_out"]].itertuples(index=False, name=None)
    assert set(found) == expected != set()
    assert set(changes["answer"]) == {"cannot tell"}
    assert set(changes["answer_without"]) == {"different"}
