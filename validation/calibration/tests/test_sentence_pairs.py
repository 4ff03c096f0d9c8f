"""A small form of the simulation of language models compared on pairs of sentences."""

import math

import numpy as np
import pytest

import biasgrid as bg
from validation.calibration.sentence_pairs import (
    BIASES,
    MEAN,
    METRICS,
    SHARE,
    compare,
    designs,
    draw,
    find,
    made_population,
    read_population,
    simulate,
)
from validation.calibration.two_models import PAIRS

RUNS = 1000


@pytest.fixture(scope="module")
def population():
    return read_population()


@pytest.mark.parametrize("metric", METRICS)
def test_level_holds_and_effects_are_found(population, metric):
    rng = np.random.default_rng(1)
    found = {}
    for bias, effect, biases in designs(population, metric):
        of_models = {
            models: (any_two, first_two)
            for models, any_two, first_two in find(population, metric, biases, 1, 262, RUNS, rng)
        }
        if effect:
            found[effect] = of_models[2][1]
            assert of_models[4][1] <= of_models[2][1]
        else:
            # a limit of 6 %, and three Monte Carlo errors
            limit = 0.06 + 3 * math.sqrt(0.06 * 0.94 / RUNS)
            assert max(any_two for any_two, _ in of_models.values()) <= limit, bias
    powers = list(found.values())
    assert powers == sorted(powers)
    assert powers[-1] > 0.99
    assert powers[0] > 0.3


@pytest.mark.parametrize("metric", METRICS)
def test_models_are_equally_biased_without_an_effect(population, metric):
    for bias in BIASES[metric]:
        moved = population.biased(metric, bias * np.array([1, -1, 1, -1]))
        values = moved.mean(axis=0) if metric == MEAN else (moved > 0).mean(axis=0) - 0.5
        assert np.abs(values) == pytest.approx(bias, abs=2e-3)
    # as models are: correlated, and of unlike variance
    deviations = population.differences.std(axis=0)
    assert deviations[0] > 3 * deviations[1]
    assert np.corrcoef(population.differences.T)[0, 1:].min() > 0.2


@pytest.mark.parametrize("size", [16, 262])
@pytest.mark.parametrize("metric", METRICS)
def test_the_simulated_test_is_that_of_a_study(metric, size):
    """Three language models with scores of sentences, compared by the public function."""
    biases = np.full(4, 1.5 if metric == MEAN else 0.2)
    differences = draw(made_population(), metric, biases, 1, size, 1, np.random.default_rng(size))
    first, second = ([f"{side} {i}" for i in range(size)] for side in ("one", "other"))
    models = {
        f"model{m}": bg.load(
            dict(zip(first, (of - 100).tolist(), strict=True)) | dict.fromkeys(second, -100.0),
            kind="language_model",
            name=f"model{m}",
        )
        for m, of in enumerate(differences[0, 0].T[:3])
    }
    query = bg.Query([first, second], name="pairs")
    grid = bg.measure_grid([metric], {"Pairs": [query]}, models, bootstrap={"draws": 2000}, progress=False)
    simulated = compare(metric, differences)
    for place, (a, b) in enumerate(PAIRS):
        if b == 3:
            continue
        row = bg.compare_models(grid, f"model{a}", f"model{b}").iloc[0]
        assert row["difference"] == pytest.approx(simulated.difference[0, place])
        # which groups of pairs are drawn differs, and 50 of them say little about their variance
        width, simulated_width = row["high"] - row["low"], (simulated.high - simulated.low)[0, place]
        assert width == pytest.approx(simulated_width, rel=0.07 if size == 16 else 0.35)


def test_tables_have_all_designs():
    table = simulate(made_population(), 30)
    null = table[table["effect"] == 0]
    assert set(null["bias"]) == {"0", "2", "8", "8, opposite", "0.1", "0.25", "0.25, opposite"}
    assert set(table["models"]) == {2, 3, 4}
    assert set(table.loc[table["queries"] == 9, "pairs"]) == {16}
    assert table["found"].between(0, 1).all()
    assert set(table["metric"]) == {MEAN, SHARE}
