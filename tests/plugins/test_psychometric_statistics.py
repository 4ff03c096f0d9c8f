"""Variance components and corrected correlations, against printed examples (Brennan 2001) and by simulation."""

import math

import numpy as np
import pytest
from biasgrid_plugin_psychometrics.consistency import omega, stratified_alpha
from biasgrid_plugin_psychometrics.correlation import disattenuated
from biasgrid_plugin_psychometrics.generalisability import (
    generalisability,
    rows_share,
    sampling_error,
    variance_parts,
)
from scipy.optimize import minimize

from biasgrid.measure.statistics.internal_consistency import alpha

GRID = np.array([[-4, -5, -3, 0], [-4, 1, 3, 0], [2, 1, 3, 6]], float)  # variance components 8, 2, 4
BRENNAN_1 = """101000000000 111001000000 111110000000 110110010000 111110100000
    111011100000 111111100000 111101111100 111111111110 111111111111"""
BRENNAN_1 = np.array([[int(digit) for digit in row] for row in BRENNAN_1.split()], float)

SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)


def near(expected):
    return pytest.approx(expected, abs=6e-7)


def test_brennan_1():
    parts = variance_parts(BRENNAN_1)
    assert parts[:3] == near((0.057407, 0.075421, 0.126852))
    assert math.isnan(parts.error)
    for items, expected in (
        (12, (0.844495, 0.773023)),
        (6, (0.730845, 0.630023)),
        (24, (0.915692, 0.871983)),
    ):
        assert generalisability(parts, items) == near(expected)


def test_the_parts_of_an_exact_grid():
    parts = variance_parts(GRID)
    assert parts[:3] == near((8, 2, 4))
    assert generalisability(parts, 4) == near((0.888889, 0.842105))
    assert rows_share(GRID) == pytest.approx((2, 0.059924, 88.2458), rel=1e-5)
    assert alpha(GRID) == near((0.888889, 0.193349, 0.997175))
    # sampling error, where it is known, is no interaction
    parts = variance_parts(GRID, 1.25)
    assert parts == near((8, 2, 2.75, 1.25))
    assert generalisability(parts, 4) == near((0.888889, 0.842105))
    # four times the interaction: negative parts stay
    rows, columns = (GRID.mean(axis=axis, keepdims=True) for axis in (1, 0))
    more = GRID + 3 * (GRID - rows - columns + GRID.mean())
    assert variance_parts(more)[:3] == near((-7, -18, 64))
    assert generalisability(variance_parts(more), 4) == near((0, 0))


def test_parts_of_a_balanced_grid_are_those_of_restricted_maximum_likelihood():
    """By the likelihood itself, of all cells' covariances, without a mean square."""
    models, queries = GRID.shape
    blocks = [
        np.kron(np.eye(models), np.ones((queries, queries))),
        np.kron(np.ones((models, models)), np.eye(queries)),
        np.eye(models * queries),
    ]
    ones = np.ones(models * queries)

    def misfit(logs):
        covariance = sum(part * block for part, block in zip(np.exp(logs), blocks, strict=True))
        inverse = np.linalg.inv(covariance)
        weights = inverse @ ones / (ones @ inverse @ ones)
        residual = GRID.ravel() - weights @ GRID.ravel()
        return (
            np.linalg.slogdet(covariance)[1] + math.log(ones @ inverse @ ones) + residual @ inverse @ residual
        )

    fit = minimize(
        misfit, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 2000}
    )
    assert np.exp(fit.x) == pytest.approx(np.array(variance_parts(GRID)[:3]), rel=1e-5)


def test_error_that_all_models_share_is_none_of_their_differences():
    rng = np.random.default_rng(8)
    shared, own = rng.normal(size=(4000, 1, 5)) * 3, rng.normal(size=(4000, 4, 5)) * 0.5
    assert sampling_error(GRID[0, 0] + shared + own) == pytest.approx(0.25, rel=0.05)
    assert sampling_error(np.tile(shared, (1, 4, 1))) == pytest.approx(0, abs=1e-12)
    # of few draws it is as large: their mean is one of them
    few = [sampling_error(rng.normal(size=(3, 4, 5))) for _ in range(400)]
    assert np.mean(few) == pytest.approx(1, rel=0.05)


def test_simulated_grids_have_the_parts_they_were_made_of():
    rng = np.random.default_rng(3)
    draws, models, queries = 2000, 6, 25
    tables = (
        rng.normal(size=(draws, models, 1)) * math.sqrt(0.5)
        + rng.normal(size=(draws, 1, queries))
        + rng.normal(size=(draws, models, queries)) * math.sqrt(0.4)
    )
    means = [part.mean() for part in variance_parts(tables)[:3]]
    assert means == pytest.approx([0.5, 1, 0.4], abs=0.04)
    share = rows_share(tables)
    covered = (share.low <= 0.5 / 0.4) & (share.high >= 0.5 / 0.4)
    assert covered.mean() == pytest.approx(0.95, abs=0.02)


def test_correction_for_attenuation():
    assert disattenuated(0.4, 0.64, 0.81) == near(0.555556)
    assert disattenuated(0.6, 0.5, 0.64) == near(1.060660)  # not cut at 1
    assert math.isnan(disattenuated(0.6, 0.4, 0.8))
    assert math.isnan(disattenuated(0.6, math.nan))


def test_a_difference_of_unpaired_lists():
    strata = [SHROUT_FLEISS[:, :2], SHROUT_FLEISS[:, 2:]]
    assert stratified_alpha(strata, (1, -1)).value == near(-0.316832)
    # of one list it is alpha, interval and all
    assert stratified_alpha([BRENNAN_1], (1,)) == near(tuple(alpha(BRENNAN_1)))


def test_omega():
    assert omega(np.array([[5, 3, 2], [3, 4, 1.5], [2, 1.5, 3]])) == near(0.81)
    loadings = np.array([0.9, 0.8, 0.7, 0.6])
    covariance = np.outer(loadings, loadings)
    np.fill_diagonal(covariance, 1)
    assert omega(covariance) == near(0.841121)
    assert omega(np.cov(SHROUT_FLEISS.T)) == pytest.approx(0.910231, abs=2e-6)
    clusters = np.kron(np.eye(2), np.full((5, 5), 0.64))
    np.fill_diagonal(clusters, 1)
    assert omega(clusters) == pytest.approx(0.701754, abs=2e-6)  # alpha is .799
    assert math.isnan(omega(np.array([[1, 0.9, 0.9], [0.9, 1, 0.1], [0.9, 0.1, 1]])))  # Heywood
    assert math.isnan(omega(np.eye(2)))
