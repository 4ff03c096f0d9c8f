"""The study of Schröder et al. on real vectors: words, directions, ratings; expected numbers by other code."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from in_process import make_some
from matplotlib.figure import Figure
from scipy.stats import pearsonr, spearmanr
from shipped_study import shipped

from biasgrid import BiasgridError, figures, metrics, tables
from biasgrid.core.configs import read_yaml
from biasgrid.evaluation import ratings
from biasgrid.figures.directions import directions as draw_directions
from biasgrid.figures.projections import projections
from biasgrid.figures.ratings import ratings as draw_ratings
from biasgrid.measure.statistics.correlation import with_interval
from biasgrid.models.building import store_of
from biasgrid.study.steps import table_step
from biasgrid.study.study import Study
from biasgrid.tables.cells import poles, two_group_cells
from biasgrid.tables.words import cell_words, place_of

pytestmark = pytest.mark.slow

MODEL = "bolukbasi-w2v-gnews-small"
SUBSET = "word2vec-google-news-300-subset"
SAME = f"{MODEL}/none/same/occupations"
STEREOTYPES = ROOT / "data" / "ratings" / "bolukbasi_professions.csv"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The shipped study with its cells and the tables that are made of them, without what is inferred."""
    criteria = read_yaml(ROOT / "config" / "same.yaml")["criteria"]
    criteria["Occupations"]["ratings"]["file"] = str(STEREOTYPES)
    changes = {"criteria": criteria, "inference": {}, "null_distributions": []}
    made = shipped("same", tmp_path_factory.mktemp("same"), MODEL, SUBSET, **changes)
    make_some(made, *made.grid.cells)
    for name in (
        "scores",
        "aggregates",
        "rankings",
        "correlations",
        "contrasts",
        "directions",
        "words",
        "ratings",
    ):
        table_step(made, name).run()
    return made


def table(study, name):
    return tables.read(study.results / f"{name}.csv")


@pytest.fixture(scope="module")
def unit(study):
    """Words -> their unit vectors."""
    model = store_of(study.embeddings, MODEL, study.models[MODEL]).open()

    def unit(words):
        found = model.array[model.rows(words)].astype(float)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    return unit


def professions():
    record = json.loads((ROOT / "data" / "word_sets" / "debiaswe.json").read_text(encoding="utf-8"))
    return {word: rating for word, _, rating in record["sets"]["professions"]}


def test_every_number_of_other_code_comes_out(study):
    """All but those of halves, which tests/test_sensitivity.py has."""
    table_step(study, "comparison").run()
    compared = table(study, "comparison")
    compared = compared[~compared["quantity"].str.contains("robustness")]
    assert len(compared) == 18
    assert set(compared["origin"]) == {"computed by other code"}
    verdicts = compared.set_index("quantity")["verdict"]
    others = verdicts[verdicts != "reproduced"].to_dict()
    # 5.485 degrees, for which the other code gives 5.49
    angle = "occupations: /scalars/angle_mean_sum"
    assert others == {"occupations: rating_pearson": "explained", angle: "differs"}


def test_words_are_those_of_the_cells(study, unit):
    """cos with the difference of the groups' means, by hand: the extremes of both poles as printed."""
    words = table(study, "words").query("model == @MODEL")
    male, female = (unit(s.words).mean(axis=0) for s in study.queries["occupations"].target_sets)
    axis = (male - female) / np.linalg.norm(male - female)
    mine = words[(words["metric"] == "same") & (words["detail"] == "bias")].set_index("word")["value"]
    assert len(mine) == 258
    np.testing.assert_allclose(mine, unit(list(mine.index)) @ axis, atol=1e-12)
    order = mine.sort_values()
    assert [*order.index[:2], *order.index[:-3:-1]] == ["homemaker", "nurse", "philosopher", "financier"]
    assert order.iloc[[0, 1, -1, -2]].round(3).tolist() == [-0.319, -0.316, 0.197, 0.190]
    # components run from the first group to another, and have a name
    components = words[(words["metric"] == "same") & (words["detail"] == "components")]
    assert set(components["column"]) == {"component 1"}
    np.testing.assert_allclose(components.set_index("word")["value"], -mine)
    # with MAC's distances of words of the groups
    assert set(words.loc[words["metric"] == "mac", "set"]) == {"Male terms", "Female terms"}
    assert set(words["criterion"]) == {"Occupations"}


def test_directions_by_hand(study, unit):
    """PCA to means 5.38°, sums to means 5.49°, he and she to means 21.9°; the others by their own arithmetic."""
    male, female = (unit(s.words) for s in study.queries["occupations"].target_sets)
    differences = male - female
    axes = {
        "mean": differences.mean(axis=0),
        "pair": (unit(["he"]) - unit(["she"]))[0],
        "pca": np.linalg.eigh(differences.T @ differences)[1][:, -1],
        "sum": male.sum(axis=0) / np.linalg.norm(male.sum(axis=0))
        - female.sum(axis=0) / np.linalg.norm(female.sum(axis=0)),
    }
    axes = {name: axis / np.linalg.norm(axis) for name, axis in axes.items()}
    found = table(study, "directions")
    assert len(found) == 6
    angles = {frozenset((row.direction_a, row.direction_b)): row.angle for row in found.itertuples()}
    for pair, angle in angles.items():
        one, other = (axes[name] for name in pair)
        assert angle == pytest.approx(math.degrees(math.acos(abs(one @ other))), abs=1e-6)
    assert angles[frozenset(("pca", "mean"))] == pytest.approx(5.38, abs=0.005)
    assert angles[frozenset(("sum", "mean"))] == pytest.approx(5.49, abs=0.01)
    assert angles[frozenset(("pair", "mean"))] == pytest.approx(21.9, abs=0.05)


def test_directions_need_two_groups_of_pairs():
    rng = np.random.default_rng(5)
    groups, words = rng.normal(size=(3, 4, 6)), [rng.normal(size=(5, 6))]
    direct = metrics.metric("direct_bias").function
    assert "angle_pca_mean" in direct([*groups[:2]], words).scalars
    assert "angle_pca_mean" not in direct([*groups], words).scalars
    # words of a set that was not cut to pairs
    assert "angle_pca_mean" not in direct([groups[0][:3], groups[1]], words, direction="mean").scalars


def test_correlations_with_ratings(study):
    """As scipy has them; .684, as printed, where the occupation that nobody rated counts as 0."""
    found = table(study, "ratings").set_index(["metric", "method"])
    biases = cell_words(table(study, "words"), place_of(study, study.grid.cells[SAME])).set_index("word")[
        "value"
    ]
    known = professions()
    both = [word for word in biases.index if word in known]
    pair = biases[both].to_numpy(), [known[word] for word in both]
    assert found.loc[("same", "pearson"), "correlation"] == pytest.approx(
        pearsonr(*pair).statistic, abs=1e-12
    )
    assert found.loc[("same", "spearman"), "correlation"] == pytest.approx(
        spearmanr(*pair).statistic, abs=1e-12
    )
    assert set(found["n"]) == {257}
    with_zero = with_interval(biases, [known.get(word, 0) for word in biases.index], "pearson")
    assert round(with_zero[0], 3) == 0.684
    # Fisher's interval, which is a normal curve's, is near to the bootstrap's
    low, high = pearsonr(*pair).confidence_interval(0.95)
    interval = found.loc[("same", "pearson"), ["ci_low", "ci_high"]].tolist()
    assert interval == pytest.approx([low, high], abs=0.03)
    # what has no direction between two groups has no correlation
    assert set(found.index.unique("metric")) == {"same"} | {
        f"direct_bias_{d}" for d in ("pca", "mean", "sum", "pair")
    }


def test_correlation_of_nothing_is_nan():
    assert all(map(math.isnan, with_interval([0.1, 0.2], [1, 2], "pearson")))
    assert all(map(math.isnan, with_interval([0.1, 0.1, 0.1], [1, 2, 3], "spearman")))
    assert with_interval([1, 2, 3, 4], [2, 4, 6, 8], "pearson")[0] == pytest.approx(1)
    # rounding goes no further
    assert max(with_interval([0.1, 0.3, 0.7], [0.2, 0.6, 1.4], "pearson")) <= 1


def test_shipped_ratings_are_bolukbasis():
    assert ratings.read(STEREOTYPES) == professions()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("wort,rating\n", "line 1: the columns must be word, rating"),
        ("word,rating\nnurse,high\n", "line 2: expected a word and a number"),
        ("word,rating\nnurse,0.1,x\n", "line 2: expected a word and a number"),
        ("word,rating\nnurse,nan\n", "line 2: expected a word and a number"),
        ("word,rating\nnurse,1\nnurse,2\n", "line 3: duplicate word 'nurse'"),
    ],
)
def test_wrong_ratings_are_said_in_a_line(tmp_path, text, says):
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    with pytest.raises(BiasgridError, match=says):
        ratings.read(path)


# the study


def test_tables_are_there_where_a_config_asks_for_them(tmp_path):
    config = read_yaml(ROOT / "config" / "same.yaml")
    criterion = config["criteria"]["Occupations"]
    assert {"words", "ratings", "directions"} <= set(Study.of(config, root=ROOT).tables)
    del criterion["ratings"]
    config["figures"] = ["projections"]
    study = Study.of(config | {"null_distributions": [], "published": []}, root=ROOT)
    assert "words" in study.tables
    assert "ratings" not in study.tables


def test_figures_are_of_what_lies_between_two_groups(study):
    """SAME and Direct Bias have the sign of a word; skew and stereotype have SAME's, MAC has none."""
    drawn = [name for name in study.figures if name.startswith("projections/")]
    keys = ["same", *(f"direct_bias_{d}" for d in ("pca", "mean", "sum", "pair"))]
    assert drawn == [f"projections/{MODEL}/none/{key}/occupations" for key in keys]
    assert poles(study, study.grid.cells[SAME]) == ("Male terms", "Female terms")
    assert poles(study, study.grid.cells[f"{MODEL}/none/mac/occupations"]) is None


def test_no_poles_of_components_and_three_groups():
    config = read_yaml(ROOT / "config" / "same.yaml")
    criterion = config["criteria"]["Occupations"]
    criterion["metrics"] = {"same": {}, "two": {"metric": "direct_bias", "params": {"k": 2}}}
    targets = criterion["queries"]["occupations"]["targets"]
    config |= {"figures": [], "null_distributions": [], "published": []}
    two = Study.of(config, root=ROOT)
    assert [cell.metric for cell in two_group_cells(two)] == ["same"]
    criterion["queries"]["occupations"]["targets"] = targets | {
        "Other terms": [f"person{i}" for i in range(10)]
    }
    assert two_group_cells(Study.of(config, root=ROOT)) == []


# figures


def texts(figure):
    found = [text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text"))]
    return [text for text in found if text]


def test_projections_name_the_extremes_of_both_poles(study):
    figure = figures.draw(study.figures[f"projections/{SAME}"])
    female, male, _ = figure.axes
    for axes, first, last in ((female, "homemaker", "singer"), (male, "philosopher", "cinematographer")):
        names = [text.get_text() for text in axes.get_yticklabels()]
        assert (len(names), names[0], names[-1]) == (20, first, last)
    shown = [" ".join(text.split()) for text in texts(figure)]
    assert "closer to Female terms: 124 of 258 words" in shown
    assert "closer to Male terms: 134 of 258 words" in shown
    # bars of both sides have one scale
    scale = [axes.get_window_extent().width / np.ptp(axes.get_xlim()) for axes in (female, male)]
    assert scale[0] == pytest.approx(scale[1])


def test_projections_of_few_words_and_one_side():
    words = pd.DataFrame({"word": ["a", "b", "c"], "value": [0.2, 0.1, math.nan]})
    figure = projections(words, ("First", "Second"), "title", "note", most=1)
    assert isinstance(figure, Figure)
    shown = {" ".join(text.split()) for text in texts(figure)}
    assert {"no word", "closer to First: 2 of 2 words", "closer to Second: 0 of 2 words"} <= shown
    # a model that lacks the words does not end a study
    empty = projections(words.assign(value=math.nan), ("First", "Second"), "title", "note")
    assert "Nothing to draw: no word has a value. note" in texts(empty)


def test_figure_of_ratings_names_the_extremes_and_the_outliers(study):
    shown = texts(figures.draw(study.figures[f"ratings/{SAME}"]))
    # the ends, and who is far from what people say
    assert {"homemaker", "nurse", "philosopher", "financier", "caretaker"} <= set(shown)
    notes = [" ".join(text.split()) for text in shown]
    assert any("Pearson's r" in note and "[.60, .76]" in note for note in notes)
    empty = pd.DataFrame({"word": [], "value": [], "rating": []})
    empty = draw_ratings(empty, ("First", "Second"), {}, "title", "note", "rating")
    assert "Nothing to draw: no word has a rating and a value. note" in texts(empty)


def test_figure_of_directions(study):
    shown = texts(figures.draw(study.figures["directions-occupations"]))
    assert shown.count("5.4°") == shown.count("21.9°") == 1
    found = table(study, "directions")
    assert "no angle" in texts(draw_directions(found.assign(angle=math.nan), {}, "Occupations"))
    assert any("Nothing to draw" in text for text in texts(draw_directions(found, {}, "Other")))
    with pytest.raises(BiasgridError, match="unknown direction 'other'"):
        draw_directions(found.assign(direction_a="other"), {}, "Occupations")


def test_three_groups_have_contrasts_and_components(study):
    """SAME, one religion against the two others, and an occupation's components, by least squares and by hand."""
    model = store_of(study.embeddings, SUBSET, study.models[SUBSET]).open()

    def of(words):
        rows = model.rows(words)
        found = model.array[rows[rows >= 0]].astype(float)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    query = study.queries["religions"]
    groups = [of(s.words) for s in query.target_sets]
    occupations = of(query.attribute_sets[0].words)
    assert [len(g) for g in groups] == [5, 5, 5]
    assert len(occupations) == 257
    means = np.array([g.mean(axis=0) for g in groups])
    differences = (means[1:] - means[0]).T
    projected = differences @ np.linalg.lstsq(differences, occupations.T, rcond=None)[0]
    expected = np.linalg.norm(projected, axis=0)
    scores = table(study, "scores").query("query == 'Judaism, Christianity and Islam wrt Occupations'")
    value = scores.set_index("metric")["value"]
    assert value["same"] == pytest.approx(expected.mean(), abs=1e-7)

    words = table(study, "words").query("metric == 'same' and model == @SUBSET and word == 'nurse'")
    words = words[words["query"] == "Judaism, Christianity and Islam wrt Occupations"]
    components = words[words["detail"] == "components"].set_index("column")["value"]
    nurse = of(["nurse"])[0]
    first = differences[:, 0] / np.linalg.norm(differences[:, 0])
    assert components["component 1"] == pytest.approx(nurse @ first, abs=1e-7)
    place = [w for w in query.attribute_sets[0].words if model.rows([w])[0] >= 0].index("nurse")
    assert np.hypot(*components) == pytest.approx(expected[place], abs=1e-7)

    contrasts = table(study, "contrasts").query("metric == 'same' and words == '(all)'")
    contrasts = contrasts[contrasts["query"] == "Judaism, Christianity and Islam wrt Occupations"]
    contrasts = contrasts.set_index(["first", "second", "quantity"])["value"]
    assert {pair[:2] for pair in contrasts.index} == {
        ("Judaism", "Christianity"),
        ("Judaism", "Islam"),
        ("Christianity", "Islam"),
        ("Judaism", "(others)"),
        ("Christianity", "(others)"),
        ("Islam", "(others)"),
    }
    skews = []
    for i, s in enumerate(query.target_sets):
        rest = np.concatenate([g for j, g in enumerate(groups) if j != i])
        axis = groups[i].mean(axis=0) - rest.mean(axis=0)
        b = occupations @ axis / np.linalg.norm(axis)
        skews.append(b.mean())
        assert contrasts[s.name, "(others)", "skew"] == pytest.approx(b.mean(), abs=1e-7)
        assert contrasts[s.name, "(others)", "stereotype"] == pytest.approx(b.std(), abs=1e-7)
    assert value["same_skew_rest"] == pytest.approx(max(skews, key=abs), abs=1e-7)
