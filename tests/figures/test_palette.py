"""Colours and marks: a model's and a metric's own, the same in every figure of every study."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import yaml

from biasgrid import metrics
from biasgrid.figures.palette import (
    METRIC_COLOURS,
    MODEL_COLOURS,
    metric_areas,
    model_colours,
    model_looks,
    unit_areas,
    unit_looks,
)

MODELS = Path(__file__).parents[2] / "config" / "models"
FILES = {path.stem: list(yaml.safe_load(path.read_text())) for path in sorted(MODELS.glob("*.yaml"))}
# in no shipped study with the small models of text8
del FILES["language_models"]
TEXT8 = ["text8-word2vec-sg", "text8-word2vec-cbow", "text8-fasttext-sg"]
# models of one shipped study: config/config.yaml, embedded.yaml, with_npm.yaml, same.yaml, text8.yaml, atlas.yaml
STUDIES = {
    "case_study": FILES["case_study"],
    "embedded": FILES["embedded"],
    "npm": FILES["embedded"] + FILES["npm"],
    "same": ["bolukbasi-w2v-gnews-small", "word2vec-google-news-300-subset"],
    "text8": TEXT8,
    "atlas": FILES["embedded"] + FILES["npm"] + FILES["languages"] + TEXT8,
}


def lightness(colour: str) -> float:
    """CIE L* of a colour, 0 for black and 100 for white."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126, 0.7152, 0.0722]
    return 116 * np.cbrt(y) - 16 if y > 0.008856 else 903.3 * y


def pair(look: dict) -> tuple[str, str]:
    return look["color"], look["marker"]


def test_a_model_looks_the_same_whatever_models_are_beside_it():
    shipped = sorted({key for keys in [*FILES.values(), *STUDIES.values()] for key in keys})
    together = model_looks(shipped)
    assert len({pair(look) for look in together.values()}) == len(shipped)
    for keys in [*STUDIES.values(), *([key] for key in shipped)]:
        assert model_looks(keys) == {key: together[key] for key in sorted(keys)}


@pytest.mark.parametrize("study", STUDIES)
def test_models_of_a_shipped_study_differ_in_colour_and_mostly_in_marker(study):
    looks = list(model_looks(STUDIES[study]).values())
    assert len({look["color"] for look in looks}) == len(looks)
    assert len({look["marker"] for look in looks}) >= 0.7 * len(looks)
    # of the same lightness at least the markers differ
    for a, b in combinations(looks, 2):
        assert abs(lightness(a["color"]) - lightness(b["color"])) > 3 or a["marker"] != b["marker"]


def test_keys_that_collide_in_a_figure_get_looks_of_their_own_and_the_first_keeps_its():
    # as many keys as there are looks: many of them collide
    keys = [f"user-model-{i:03}" for i in range(100)]
    alone = {key: pair(model_looks([key])[key]) for key in keys}
    assert len(set(alone.values())) < len(keys)
    together = {key: pair(look) for key, look in model_looks(reversed(keys)).items()}
    assert len(set(together.values())) == len(keys)
    a, b = next((a, b) for a, b in combinations(keys, 2) if alone[a] == alone[b])
    two = {key: pair(look) for key, look in model_looks([b, a]).items()}
    assert two[a] == alone[a]
    assert two[b] != alone[b]
    # more models than looks are drawn all the same
    assert len(model_looks(map(str, range(500)))) == 500


def test_where_only_colour_tells_models_apart_no_two_share_one():
    keys = [f"user-model-{i}" for i in range(len(MODEL_COLOURS))]
    assert len({look["color"] for look in model_looks(keys).values()}) < len(keys)
    assert sorted(model_colours(keys).values()) == sorted(MODEL_COLOURS)
    for shipped in STUDIES.values():
        assert model_colours(shipped) == {key: look["color"] for key, look in model_looks(shipped).items()}


def test_states_of_a_model_share_its_colour_and_are_told_apart():
    units = [("m", "none"), ("m", "hard"), ("m", "soft"), ("n", "hard")]
    looks = unit_looks(units)
    assert looks["m", "none"] == model_looks(["m", "n"])["m"]
    assert {looks[unit]["color"] for unit in units[:3]} == {looks["m", "none"]["color"]}
    outlines = [str(getattr(looks[unit]["marker"], "vertices", looks[unit]["marker"])) for unit in units[:3]]
    assert len(set(outlines)) == 3
    areas = unit_areas(units)
    assert areas["m", "none"]["facecolor"] == looks["m", "none"]["color"] == areas["m", "hard"]["edgecolor"]
    assert areas["m", "hard"]["facecolor"] == "white"


def test_metrics_that_ship_have_areas_of_their_own_that_greyscale_keeps_apart():
    # a ranking is of metrics that are measured on the same models
    for kind in {metric.needs for metric in metrics.REGISTRY.values()}:
        of_kind = [key for key, metric in metrics.REGISTRY.items() if metric.needs == kind]
        areas = metric_areas(of_kind)
        assert all(areas[key] == metric_areas([key])[key] for key in of_kind)
    areas = metric_areas(metrics.REGISTRY)
    for a, b in combinations(["ect", "mac", "ripa", "rnd", "rnsb", "weat", "weat_es"], 2):
        light = abs(lightness(areas[a]["facecolor"]) - lightness(areas[b]["facecolor"]))
        assert areas[a]["facecolor"] != areas[b]["facecolor"]
        assert light > 8 or areas[a]["hatch"] != areas[b]["hatch"], (a, b)


def test_colours_spread_from_dark_to_light_and_black_numbers_are_read_on_metrics():
    shades = sorted(map(lightness, MODEL_COLOURS))
    assert shades[0] < 5 < 65 < shades[-1]
    assert max(np.diff(shades)) < 25
    # a contrast of 4.5 with black text
    assert min(map(lightness, METRIC_COLOURS)) > 49
