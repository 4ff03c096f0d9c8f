"""Colours and marks: a model's and a metric's own, the same in every figure of a study."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import yaml

from biasgrid.figures import order_of
from biasgrid.figures.palette import (
    MARKERS,
    METRIC_COLOURS,
    MODEL_COLOURS,
    metric_areas,
    model_looks,
    ordered,
    unit_looks,
)
from biasgrid.study.study import Study

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


def looks_of(study, keys=None):
    with ordered({"models": STUDIES[study]}):
        return model_looks(STUDIES[study] if keys is None else keys)


@pytest.mark.parametrize("study", STUDIES)
def test_a_model_looks_the_same_whatever_models_are_beside_it(study):
    keys = STUDIES[study]
    together = looks_of(study)
    assert len({pair(look) for look in together.values()}) == len(keys)
    assert all(looks_of(study, [key]) == {key: together[key]} for key in keys)
    # what is added to the end of the config changes no other, and what the config lacks comes after
    with ordered({"models": [*keys, "another"]}):
        assert together == {
            key: look for key, look in model_looks([*keys, "another", "x"]).items() if key in keys
        }


def test_colours_follow_the_order_of_the_config():
    with ordered({"models": ["b", "c", "a"], "metrics": ["weat", "mac", "ect"]}):
        looks, areas = model_looks("abc"), metric_areas(["ect", "mac", "weat"])
    assert [looks[key]["color"] for key in "bca"] == MODEL_COLOURS[:3]
    assert [areas[key]["facecolor"] for key in ("weat", "mac", "ect")] == METRIC_COLOURS[:3]
    # by themselves in alphabetical order
    assert [model_looks("abc")[key]["color"] for key in "abc"] == MODEL_COLOURS[:3]


@pytest.mark.parametrize("study", STUDIES)
def test_models_of_a_shipped_study_differ_in_colour_and_marker(study):
    looks = list(looks_of(study).values())
    assert len({look["color"] for look in looks}) == len(looks)
    assert len({look["marker"] for look in looks}) == min(len(looks), len(MARKERS))
    # of the same lightness at least the markers differ
    for a, b in combinations(looks, 2):
        assert abs(lightness(a["color"]) - lightness(b["color"])) > 3 or a["marker"] != b["marker"]


def test_as_many_models_as_there_are_looks_have_one_each():
    count = len(MODEL_COLOURS) * len(MARKERS)
    assert len({pair(look) for look in model_looks(map(str, range(count))).values()}) == count
    areas = metric_areas(map(str, range(19))).values()
    assert len({(area["facecolor"], area["hatch"]) for area in areas}) == 19
    # more models than looks are drawn all the same
    assert len(model_looks(map(str, range(500)))) == 500


def test_states_of_a_model_share_its_colour_and_are_told_apart():
    units = [("m", "none"), ("m", "hard"), ("m", "soft"), ("n", "hard")]
    looks = unit_looks(units)
    assert looks["m", "none"] == model_looks(["m", "n"])["m"]
    assert {looks[unit]["color"] for unit in units[:3]} == {looks["m", "none"]["color"]}
    outlines = [str(getattr(looks[unit]["marker"], "vertices", looks[unit]["marker"])) for unit in units[:3]]
    assert len(set(outlines)) == 3


@pytest.mark.parametrize("file", ["config", "embedded"])
def test_metrics_of_a_study_have_areas_that_greyscale_keeps_apart(file):
    config = Study.read(MODELS.parent / f"{file}.yaml", MODELS.parents[1]).config
    keys = order_of(config)["metrics"]
    with ordered(order_of(config)):
        areas = metric_areas(keys)
        assert all(metric_areas([key]) == {key: areas[key]} for key in keys)
    for a, b in combinations(list(areas.values())[:8], 2):
        light = abs(lightness(a["facecolor"]) - lightness(b["facecolor"]))
        assert a["facecolor"] != b["facecolor"]
        assert light > 8 or a["hatch"] != b["hatch"], (a, b)


def test_colours_spread_from_dark_to_light_and_black_numbers_are_read_on_metrics():
    shades = sorted(map(lightness, MODEL_COLOURS))
    assert shades[0] < 5 < 65 < shades[-1]
    assert max(np.diff(shades)) < 25
    # a contrast of 4.5 with black text
    assert min(map(lightness, METRIC_COLOURS)) > 49
