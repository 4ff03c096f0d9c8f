"""`measure_grid` gives what the workflow gives of the same models, queries, metrics and seed, to the last bit."""

import pickle
import re
import shutil
import subprocess
import sys
import warnings
from functools import partial

import finished_study
import matplotlib
import numpy as np
import pandas as pd
import pytest
from artists import not_laid_out
from conftest import ROOT, make_store
from finished_study import CONFIG, NULL, PAIRS
from matplotlib.text import Text
from refusals import refused
from threadpoolctl import threadpool_limits

import biasgrid as bg
from biasgrid import BiasgridError, EmbeddingStore, Query, debias, metrics
from biasgrid.core.numbers import number
from biasgrid.core.validation import field
from biasgrid.debias import Transform
from biasgrid.measure.null_distributions import Null
from biasgrid.study.config.study import StudyConfig
from biasgrid.study.in_memory import study_from_arguments
from biasgrid.study.in_memory.measure_grid import Grid, measure_grid
from biasgrid.tables import REGISTRY
from biasgrid.tables.published import PUBLISHED

TABLES = [
    "scores",
    "aggregates",
    "rankings",
    "correlations",
    "rank_intervals",
    "order",
    "tests",
    "intervals",
    "sensitivity",
    "influence",
]
TABLES += ["scalars", "contrasts", "lost_words"]
METRICS = {
    "weat": {},
    "mac": {},
    "rnd": {"permutation": {"draws": 99, "exact": 50}},
    "cosine": {"metric": "rnd", "distance": "cos", "label": "RND (cosine)"},
    "rnsb": {"n_iterations": 5, "holdout": True, "normalize": True},
}
FEW_METRICS = {name: METRICS[name] for name in ("weat", "mac")}
WITHOUT_TESTS = {"random_groups": None, "frequency_bands": None, "sensitivity": None}
FEW = {"permutation": {"draws": 49, "exact": 50}, "random_groups": {"draws": 49}, "frequency_bands": None}
RANKED = ("First", "Second")  # what is asked of models of vectors


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The finished study, run by the workflow."""
    with finished_study.copied(tmp_path_factory.mktemp("study")) as study:
        yield study


def measured(study, metrics=METRICS, **options) -> Grid:
    """The same grid, measured in memory."""
    queries = {
        criterion: {key: study.queries[key] for key in CONFIG["criteria"][criterion]["queries"]}
        for criterion in RANKED
    }
    models = [EmbeddingStore.open(study.embeddings / name) for name in ("one", "two", "three")]
    hard = {model.name: debias.hard(model, definitional_pairs=PAIRS) for model in models[:2]}
    given = {"seed": CONFIG["seed"], "progress": False, "debias": {"hard": hard}}
    return measure_grid(metrics, queries, models, **given | CONFIG["words"] | CONFIG["inference"] | options)


@pytest.fixture(scope="module")
def grid(study):
    # with other threads than the workflow's results are made with here
    with warnings.catch_warnings(), threadpool_limits(2, user_api="blas"):
        warnings.simplefilter("ignore")
        return measured(study, null_distributions=True)


def of_ranked(table):
    return table[table["criterion"].isin([*RANKED, "Overall"])].reset_index(drop=True)


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_the_workflows_to_the_last_bit(study, grid, table):
    if table not in study.tables:
        with pytest.raises(BiasgridError, match=f"no table {table}"):
            grid.frame(table)
        return
    header, *lines = study.paths.table_file(table).read_text().splitlines(keepends=True)
    made = grid.frame(table)
    if "model" in made:
        # in memory, a model is called by its name
        assert made["model_label"].equals(made["model"])
        made["model_label"] = (
            made["model"].map({key: study.labels[key] for key in study.models}).astype("str")
        )
    expected = of_ranked(REGISTRY[table].read(study.paths.table_file(table)))
    pd.testing.assert_frame_equal(made, expected, check_exact=True)
    if table == "scores":
        text = "".join([header, *(line for line in lines if line.startswith(RANKED))])
        assert made.to_csv(index=False, lineterminator="\n") == text
        assert {"p_value", "p_adjusted", "p_groups_adjusted", "ci_low"} <= set(
            grid.scores.dropna(axis=1, how="all")
        )
        assert grid.scores["value"].isna().any()


def test_null_distributions_are_the_workflows(study, grid):
    ours, theirs = (
        Null.load(grid.study.paths.null_file(grid.study.grid.cells[NULL])),
        Null.load(study.paths.null_file(study.grid.cells[NULL])),
    )
    assert ours.results == theirs.results
    assert np.array_equal(ours.samples, theirs.samples)
    for part in ("values", "extreme"):
        for query, tests in getattr(theirs, part).items():
            assert all(
                np.array_equal(getattr(ours, part)[query][test], values) for test, values in tests.items()
            )


def test_aggregates_without_their_tests_have_none(study, grid, tmp_path):
    """Of a grid without random groups, of a study of older code, and of criteria that lose a query."""
    tested = grid.frame("aggregates")
    assert set(tested.loc[tested["p_groups"].notna(), "aggregation"]) == {"abs_avg"}
    assert set(tested.loc[tested["p_groups"].isna(), "evidence"]) == {"untested"}
    rest = grid.without("q1").frame("aggregates").set_index("criterion")
    assert rest.loc[["First", "Overall"], "p_groups"].isna().all()
    second = rest.loc["Second", "p_groups"].to_numpy()
    assert np.array_equal(second, tested.loc[tested["criterion"] == "Second", "p_groups"], equal_nan=True)
    shutil.copytree(study.results, tmp_path / "old")
    shutil.rmtree(tmp_path / "old" / "aggregates")
    old = bg.open_study(tmp_path / "old").without("q1").frame("aggregates")
    assert set(old["evidence"]) == {"untested"}
    assert old["value"].notna().any()
    plain = measured(study, FEW_METRICS, **WITHOUT_TESTS).frame("aggregates")
    assert set(plain["evidence"]) == {"untested"}


def test_processes_change_nothing(study, picklable):
    # one of which draws what it fits by
    some = {name: METRICS[name] for name in ("weat", "rnsb")}
    grid, parallel = (measured(study, some, **FEW, n_jobs=n_jobs) for n_jobs in (1, 2))
    pd.testing.assert_frame_equal(parallel.frame("aggregates"), grid.frame("aggregates"), check_exact=True)
    pd.testing.assert_frame_equal(parallel.scores, grid.scores, check_exact=True)
    pd.testing.assert_frame_equal(parallel.frame("rankings"), grid.frame("rankings"), check_exact=True)
    assert list(parallel.study.memory) == list(grid.study.memory)


pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:words are lost", "ignore:attribute set"),
]


@pytest.fixture
def picklable(monkeypatch):
    """Stores travel to processes by path, where they do not by themselves yet."""
    if "__reduce__" not in vars(EmbeddingStore):
        reduced = lambda store: (EmbeddingStore.open, (store.path,))  # noqa: E731
        monkeypatch.setattr(EmbeddingStore, "__reduce__", reduced, raising=False)


AXES = {"he": [1.0, 0.0], "she": [0.0, 1.0], "boss": [0.8, 0.6], "nurse": [0.0, 1.0], "cook": [0.6, 0.8]}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Two models of two dimensions; the second lacks a word."""
    second = {word: vector for word, vector in AXES.items() if word != "cook"}
    models = {"first": AXES, "second": second}
    return {
        name: make_store(tmp_path_factory.mktemp(name), list(vectors), np.array(list(vectors.values())))
        for name, vectors in models.items()
    }


BOSS = Query([["he"], ["she"]], [["boss"]], ["He", "She"], ["Boss"])
COOK = Query([["he"], ["she"]], [["cook"]], ["He", "She"], ["Cook"])


@pytest.fixture(scope="module")
def tiny_grid(tiny):
    return measured_tiny(tiny)


def measured_tiny(models, queries=(COOK, BOSS), **options):
    return measure_grid({"rnd": {"distance": "cos"}}, list(queries), models, progress=False, **options)


def test_a_table_is_models_by_queries_in_the_given_order(tiny):
    """RND with cosines, by hand: cos(he, boss) - cos(she, boss) = .8 - .6."""
    table = measured_tiny(dict(reversed(tiny.items()))).table("rnd")
    assert list(table.index) == ["second", "first"]
    assert list(table.columns) == ["He and She wrt Cook", "He and She wrt Boss"]
    assert table.loc["first"].tolist() == pytest.approx([0.6 - 0.8, 0.8 - 0.6])
    assert np.isnan(table.loc["second", "He and She wrt Cook"])
    assert table.loc["second", "He and She wrt Boss"] == pytest.approx(0.8 - 0.6)


def test_lost_words_are_warned_of_once(tiny):
    sentence = (
        "words are lost in 1 pair of query and model, 1 of them without a value for it; the first: 'He and She wrt "
        "Cook' on 'second' lacks 'cook'"
    )
    with pytest.warns(UserWarning, match=sentence) as caught:
        measured_tiny(tiny)
    assert len([warning for warning in caught if "words are lost" in str(warning.message)]) == 1
    assert {warning.filename for warning in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measured_tiny(tiny, [BOSS])


def test_scores_say_why_a_value_is_missing_and_lost_words_which(tiny_grid):
    lacking = tiny_grid.scores[tiny_grid.scores["value"].isna()]
    assert lacking[["model", "status", "words_lost"]].values.tolist() == [["second", "lost_words:Cook", 1]]
    assert tiny_grid.lost_words.to_dict("records") == [
        {
            "model": "second",
            "debias": "none",
            "criterion": "queries",
            "query": "He and She wrt Cook",
            "set": "Cook",
            "word": "cook",
            "forms": "as listed; lower case",
            "reason": "not in the vocabulary",
        }
    ]


def test_wefes_aggregations_and_ones_own(tiny_grid):
    expected = {"sum": 0.0, "avg": 0.0, "abs_sum": 0.4, "abs_avg": 0.2, np.max: 0.2, np.ptp: 0.4}
    for how, value in expected.items():
        assert tiny_grid.aggregate(how).loc["first", "rnd"] == pytest.approx(value, abs=1e-7)
        assert tiny_grid.aggregate(how).loc["second", "rnd"] == pytest.approx(
            0 if how is np.ptp else 0.2, abs=1e-7
        )


def test_ranks_by_distance_or_value_with_all_ties(tiny):
    queries, first = [BOSS], tiny["first"]
    grid = measured_tiny({"c": first, "a": tiny["second"], "b": first.under(flipped(first))}, queries)
    assert grid.table("rnd").iloc[:, 0].tolist() == pytest.approx([0.2, 0.2, -0.2])

    def ranks(**options):
        return grid.rank(**options)["rnd"].tolist()

    # in the order c, a, b; "first" goes by the names
    assert ranks() == [2.0, 2.0, 2.0]
    assert ranks(ties="min") == [1.0, 1.0, 1.0]
    assert ranks(ties="max") == [3.0, 3.0, 3.0]
    assert ranks(ties="first") == [3.0, 1.0, 2.0]
    assert ranks(aggregation="avg", by="value") == [2.5, 2.5, 1.0]
    assert ranks(aggregation="avg", by="value", ties="dense") == [2.0, 2.0, 1.0]
    assert ranks(aggregation=np.min, by="value", ties="max") == [3.0, 3.0, 1.0]


def flipped(model) -> Transform:
    """Exchanges the two dimensions of "boss"."""
    fitted = debias.hard(model, definitional_pairs=[["he", "she"], ["boss", "nurse"]]).fitted_on
    return Transform("hard", fitted, matrix=np.array([[0.0, 1.0], [1.0, 0.0]]), only=("boss",))


def test_a_debiased_model_stands_beside_its_model(tiny):
    grid = measured_tiny({"first": tiny["first"]}, [BOSS], debias={"flip": flipped})
    assert grid.models == ["first", "first under flip"]
    assert grid.table("rnd").iloc[:, 0].tolist() == pytest.approx([0.2, -0.2])
    assert set(grid.scores["debias"]) == {"none", "flip"}
    assert grid.rank().index.tolist() == grid.models
    same = measured_tiny(tiny, [BOSS], debias={"flip": {"first": flipped(tiny["first"])}})
    assert same.models == ["first", "first under flip", "second"]


def test_names_that_look_like_paths_are_kept_apart(tiny):
    first = tiny["first"]
    models = {"/a": first, "a": first.under(flipped(first)), "../a": first}
    grid = measure_grid(
        {"rnd": {"distance": "cos"}}, {"c/": {"/q": COOK, "q": BOSS}}, models, bootstrap=True, progress=False
    )
    assert grid.table("rnd").to_numpy().ravel().tolist() == pytest.approx([-0.2, 0.2, -0.2, -0.2, -0.2, 0.2])
    rest = grid.without("/q")
    assert rest.table("rnd").iloc[:, 0].tolist() == pytest.approx([0.2, -0.2, 0.2])
    assert set(rest.frame("intervals")["query_id"]) == {"q"}


def test_criteria_make_columns_of_pairs(study, grid):
    assert grid.criteria == ["First", "Second"]
    wide = grid.rank()
    assert list(wide.columns.get_level_values(0).unique()) == ["First", "Second", "Overall"]
    assert list(grid.rank(criterion="Second").columns) == list(METRICS)
    assert grid.table("weat").columns[0] == ("First", "A<i> and B wrt C and D")
    assert list(grid.table("weat", "Second").columns) == ["C and D wrt E and A"]


def test_correlations_of_ranks_and_a_function_of_ones_own(grid):
    ranks = grid.rank(criterion="Overall")
    for method in ("spearman", "kendall", "pearson"):
        found, expected = grid.correlate(method, criterion="Overall"), ranks.corr(method=method)
        pd.testing.assert_frame_equal(found, expected, check_names=False)

    def agreement(a, b):
        return float((a == b).mean())

    assert grid.correlate(agreement, criterion="First").loc["weat", "weat"] == 1


def test_own_aggregation_has_rank_intervals_too(study):
    grid = measured(study, FEW_METRICS, aggregation=np.median, ties="min", **WITHOUT_TESTS)
    ranks = grid.frame("rank_intervals")
    assert ranks[["low", "high"]].notna().any(axis=None)
    assert set(ranks["rank"].dropna()) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert grid.aggregate().equals(grid.aggregate(np.median))


def test_a_query_that_does_not_fit_is_left_out_with_its_reason(tiny):
    weat = Query([["he"], ["she"]], [["boss"], ["nurse"]], ["He", "She"], ["Boss", "Nurse"])
    with pytest.warns(UserWarning, match="not measured: weat: query 'He and She wrt Cook' has template"):
        grid = measure_grid(["weat"], [weat, COOK], tiny, progress=False)
    assert grid.left_out[["query", "metric"]].values.tolist() == [["He and She wrt Cook", "weat"]]
    assert len(grid.scores) == 2


grid_of = partial(measure_grid, progress=False)
OTHERS = pd.DataFrame(
    [["P", "1", "queries", "", "rnd", "theirs", "abs_avg", 0.3, 1, *[""] * 4]], columns=PUBLISHED
)
# of the two models, and of the small grid of them
REFUSED = [
    (lambda of, _: grid_of(["weat"], [COOK], [of["first"]] * 2), "two models are named 'made'"),
    (
        lambda of, _: grid_of(["rnd"], [COOK, Query([["he"]], [["boss"]], name=COOK.name)], of),
        "two queries are named 'He and She",
    ),
    (lambda of, _: grid_of(["rnd"], {"a": {"q": COOK}, "b": {"q": BOSS}}, of), "query id 'q' occurs twice"),
    (lambda of, _: grid_of(["rnd"], {"Overall": [COOK]}, of), "'Overall' cannot be a criterion's name"),
    (lambda of, _: grid_of(["rnd"], [], of), "there are no queries"),
    (lambda of, _: grid_of(["rnd"], ["he"], of), "'he' is a str, not a Query"),
    (
        lambda of, _: grid_of(["rnd"], [COOK], ["glove"]),
        "models: 'glove' is no model; load it first: biasgrid.load(...)",
    ),
    (lambda of, _: grid_of(["rnd"], [COOK], []), "models: the list is empty"),
    (
        lambda of, _: grid_of(["rnd"], [COOK], [flipped(of["first"])]),
        "a transform is no model; …model.under(transform)",
    ),
    (lambda of, _: grid_of(["rndd"], [COOK], of), "unknown metric 'rndd'; did you mean 'rnd'"),
    (lambda of, _: grid_of(["rnd", "rnd"], [COOK], of), "'rnd' occurs twice; give each a key"),
    (
        lambda of, _: grid_of({"rnd": {"distanse": "cos"}}, [COOK], of),
        "metrics: rnd: unknown option 'distanse' of rnd; did you mean",
    ),
    (lambda of, _: grid_of({"rnd": {"permutation": {"draws": 9}}}, [COOK], of), "the grid makes no permutation"),
    (lambda of, _: grid_of([3], [COOK], of), "metrics: 3: expected a metric's name"),
    (lambda of, _: grid_of(["weat"], [COOK], of), "metrics: weat: no query has the template (2, 2)"),
    *(
        (lambda of, _, options=options: measured_tiny(of, **options), says)
        for options, says in (
            ({"strategy": "any"}, "strategy: unknown value 'any'"),
            ({"seed": -1}, "seed: -1 is not allowed"),
            ({"n_jobs": 0}, "n_jobs: 0 is not allowed"),
            ({"bootstrap": {"drawn": 3}}, "bootstrap: …drawn"),
            ({"interval": "wide"}, "unknown interval 'wide'"),
            ({"adjust": "bonferroni"}, "adjust: unknown method 'bonferroni'"),
            ({"aggregation": "mean"}, "unknown aggregation 'mean'"),
            ({"ties": "last"}, "ties: unknown value 'last'"),
            ({"debias": {"none": lambda model: flipped(model)}}, "debias: 'none' stands for a model"),
            ({"debias": {"hard": 3}}, "debias: 'hard': expected a function of a model"),
            ({"null_distributions": 1}, "null_distributions: 1 is not allowed"),
        )
    ),
    (lambda _, grid: grid.aggregate("average"), "unknown aggregation 'average'…allowed: avg, abs_avg"),
    (lambda _, grid: grid.rank(ties="mean"), "ties: unknown value 'mean'; allowed: average, min, max, dense, first"),
    (lambda _, grid: grid.rank(by="size"), "by: unknown value 'size'"),
    (lambda _, grid: grid.correlate("spearmann"), "unknown method 'spearmann'; did you mean 'spearman'"),
    (lambda _, grid: grid.to_latex("weat"), "unknown metric 'weat'; allowed: rnd"),
    (lambda _, grid: grid.without("nothing"), "unknown query 'nothing'"),
    (lambda _, grid: grid.least_biased(), "least_biased: …needs a bootstrap"),
    (lambda _, grid: grid.compare(OTHERS, beside={"third": "theirs"}), "beside: unknown model 'third'"),
    (
        lambda _, grid: grid.compare(OTHERS, beside=["first"]),
        "beside: expected a mapping of models to published models",
    ),
    (
        lambda _, grid: grid.compare(OTHERS.drop(columns="note")),
        "published[0]: line 1: the columns must be source",
    ),
    (lambda _, grid: grid.plot("comparison"), "plot: 'comparison' needs published numbers"),
    (lambda _, grid: grid.plot("scores", criterion="Fear"), "no figure of kind 'scores' has criterion='Fear'"),
    (lambda _, grid: grid.plot("rankings", path="a.jpeg"), "path: 'a.jpeg' is not allowed"),
    (lambda _, grid: grid.plot("rank-intervals"), "'rank-intervals' needs a bootstrap (bootstrap=True)"),
    (lambda _, grid: grid.plot("null"), "needs null distributions of tests"),
    (lambda _, grid: grid.plot("trade-off"), "needs evaluations of debias methods"),
    (lambda _, grid: grid.plot("quality-ranks"), "needs benchmarks of quality"),
    (lambda _, grid: grid.plot("ratings"), "needs a criterion with ratings"),
    (lambda _, grid: grid.plot("barplot"), "unknown kind of figure 'barplot'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "says"), REFUSED)
def test_wrong_use_is_answered_with_a_sentence(tiny, tiny_grid, call, says):
    with refused(*says.split("…")):
        call(tiny, tiny_grid)


def test_a_key_of_a_config_is_one_place(tiny, monkeypatch):
    """What a study's config has and `measure_grid` no argument for has its default in a grid."""

    class WithToy(StudyConfig):
        toy: int = field("a key that was added", 3)

    monkeypatch.setattr(study_from_arguments, "StudyConfig", WithToy)
    config = measured_tiny(tiny).study.config
    assert config.toy == 3
    defaults = {
        name: info.get_default(call_default_factory=True)
        for name, info in StudyConfig.model_fields.items()
        if name not in config.model_fields_set
    }
    assert {name: getattr(config, name) for name in defaults} == defaults
    assert {"results", "figures", "quality", "published", "trainings"} <= defaults.keys()
    (model, *_) = config.models.values()
    assert (model.vocab_prefix, model.words) == ("", None)


def test_a_grid_is_short_to_see_and_can_be_pickled(tiny, grid):
    small = measured_tiny(tiny)
    assert repr(small) == "<Grid 1 metric, 2 queries, 2 models: 4 scores (1 without a value)>"
    again = pickle.loads(pickle.dumps(grid))
    pd.testing.assert_frame_equal(again.frame("rank_intervals"), grid.frame("rank_intervals"))


def test_a_grid_in_a_notebook_is_a_table_per_topic_on_the_common_scale(grid):
    html = grid._repr_html_()
    means = grid.aggregate("standardized")
    for topic in means.columns.levels[0]:
        name = "All topics" if topic == "Overall" else topic
        assert html.count(f">{name}</div>") == 1
    numbers = means.to_numpy()[means.notna().to_numpy()]
    assert len(numbers) > 10
    shown = [
        float(text.replace("\u2212", "-")) for text in re.findall(r'<span title="[^"]*">([^<]+)</span>', html)
    ]
    assert sorted(shown) == pytest.approx(sorted(numbers), abs=0.0051)
    # a filled bar for each aggregate that is significant
    rows = grid.frame("aggregates").query("aggregation == 'abs_avg' and standardized.notna()")
    bars = re.findall(r'<rect [^>]*fill="([^"]+)"', html)
    assert len(bars) == len(numbers)
    assert sum(fill != "none" for fill in bars) == (rows["evidence"] == "all").sum()
    widths = [int(width) for width in re.findall(r"width: (\d+)px", html)]
    assert max(widths) <= 900
    assert grid.scores.shape[1] > 20


def test_a_grid_without_random_groups_shows_raw_scores_and_escapes_names(tiny):
    grid = measured_tiny({"<i>": tiny["first"]})
    html = grid._repr_html_()
    assert "<bdi>&lt;i&gt;</bdi>" in html
    assert "<i>" not in html
    assert "no bias: 0" in html
    assert "random_groups gives metrics of vectors a common scale" in html
    assert "<svg" not in html
    assert re.search(rf">{number(grid.aggregate().iloc[0, 0], 2)}</span>", html)


def test_least_biased_is_text_and_html_in_plain_words(grid):
    table = grid.least_biased()
    head = repr(table).splitlines()[0]
    assert re.split(r"  +", head) == [
        "topic",
        "metric",
        "lowest model",
        "clear winner",
        "adjusted p",
        "queries",
    ]
    assert all(len(line) <= 80 for line in repr(table).splitlines())
    html = table._repr_html_()
    assert [text for text in re.findall(r"<th [^>]*>([^<]+)</th>", html)] == re.split(r"  +", head)
    assert html.count("<tr") == len(table) + 1
    notes = " ".join(repr(table).split("[")[0].splitlines()[len(table) + 1 :]).split(". ")
    assert all(note.rstrip(".") in html for note in filter(None, notes))
    # the columns' own names are said, and stay
    said = f"[{len(table)} rows; columns: {', '.join(table.columns)}]"
    assert said in " ".join(repr(table).split())
    assert said in html
    # what is selected is a plain frame
    assert "lowest model" not in repr(table[["metric", "decided"]])
    states = grid.least_biased(debiased=True)
    assert "clearly lower" in repr(states).splitlines()[0]


def test_progress_goes_to_standard_error(tiny, capsys):
    measure_grid(["rnd"], [BOSS], tiny)
    out, errors = capsys.readouterr()
    assert out == ""
    assert "2/2" in errors


def test_markdown_and_latex_of_a_table(tiny_grid):
    lines = tiny_grid.to_markdown("rnd", digits=2).splitlines()
    assert lines[0].split("|")[1:-1] == [" model  ", " He and She wrt Cook ", " He and She wrt Boss "]
    assert set(lines[1]) == set("|-: ")
    assert re.fullmatch(r"\| first  \| +-0\.20 \| +0\.20 \|", lines[2])
    assert re.fullmatch(r"\| second \| +NaN \| +0\.20 \|", lines[3])
    odd = pd.DataFrame({"50%_a|b": [1.0, 2.0]}, index=pd.Index(["x & y", "z"], name="model"))
    assert tiny_grid.to_markdown(odd).splitlines()[2] == "| x & y |        1 |"
    assert tiny_grid.to_latex(odd) == (
        "\\begin{tabular}{lr}\n\\toprule\nmodel & 50\\%\\_a\\textbar{}b \\\\\n\\midrule\n"
        "x \\& y & 1 \\\\\nz & 2 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
    )
    assert "rnd" in tiny_grid.to_latex()


def test_numbers_are_compared_with_published_ones(tiny, tmp_path):
    grid = measured_tiny(tiny)
    rows = [
        "P,1,queries,He and She wrt Boss,rnd,first,value,0.2,1,,,,",
        "P,1,queries,,rnd,first,abs_avg,0.3,1,,,,",
    ]
    (tmp_path / "published.csv").write_text("\n".join([",".join(PUBLISHED), *rows, ""]))
    found = grid.compare(tmp_path / "published.csv")
    assert dict(zip(found["quantity"], found["verdict"], strict=True)) == {
        "He and She wrt Boss: value": "reproduced",
        "abs_avg": "differs",
    }
    frame = pd.read_csv(tmp_path / "published.csv")
    pd.testing.assert_frame_equal(grid.compare(frame), found)
    other = frame.assign(model="theirs")
    assert grid.compare(other).empty
    assert set(grid.compare(other, published_as={"second": "theirs"})["model"]) == {"second"}
    found = grid.compare(other, published_as={"second": "theirs"}, beside={"first": "theirs"})
    assert set(found.loc[found["model"] == "first", "verdict"]) == {"other vectors"}
    assert grid.plot("comparison", published=frame).axes


@pytest.mark.parametrize("table", ["scores", "rankings", "rank_intervals", "correlations"])
def test_without_a_query_memory_and_files_say_the_same(study, grid, table):
    """`tests/report/test_reporting.py` holds this beside a study that never had the query."""
    query = next(iter(study.queries))
    found = grid.without(query).frame(table)
    of_files = of_ranked(bg.open_study(study.results).without(query).frame(table))
    # in memory a model's label is its name
    columns = [name for name in found if name != "model_label"]
    pd.testing.assert_frame_equal(found[columns], of_files[columns], check_exact=True)
    assert not found.equals(grid.frame(table))


def test_a_debiased_state_is_compared_with_its_own_model_and_no_model_is_the_least_biased_alone(tiny):
    grid = measured_tiny({"first": tiny["first"]}, debias={"x": flipped}, bootstrap={"draws": 20})
    alone, state = grid.least_biased(debiased=True).to_dict("records")
    assert (alone["model"], alone["decided"], alone["undecided"]) == ("", False, "")
    assert alone["not_ranked"] == "first"
    # equally biased in each resample
    assert (state["model"], state["decided"], state["undecided"]) == ("first under x", False, "first")
    assert state["p_adjusted"] == 1
    assert (state["queries"], state["queries_of"]) == (2, 2)
    assert len(grid.least_biased()) == 1


@pytest.fixture
def draw(grid):
    """Draws a figure, which has something on it and changes nothing of matplotlib's."""

    def drawn(kind, **options):
        before, settings = matplotlib.get_backend(), dict(matplotlib.rcParams)
        figure = grid.plot(kind, **options)
        assert figure.axes or figure.texts
        assert matplotlib.get_backend() == before
        assert dict(matplotlib.rcParams) == settings

    return drawn


# and those of the next test but one
@pytest.mark.filterwarnings("ignore:plot")
@pytest.mark.parametrize(
    "kind",
    [
        *("bias", "models", "rankings", "rankings-by-criterion", "correlations", "rank-intervals"),
        *("influence", "sentiment"),
    ],
)
def test_every_kind_that_the_data_allow_is_drawn(draw, kind):
    draw(kind)


@pytest.mark.filterwarnings("error:plot")
def test_the_figure_that_is_named_as_its_kind_is_drawn_and_of_bias_any_metric(grid):
    def metric_of(**which):
        return grid.plot("bias", **which).texts[1].get_text().removeprefix("Bias according to ")

    labels = [grid.study.labels[key] for key in grid.metrics]
    with not_laid_out():
        assert metric_of() == labels[0]
        assert [metric_of(metric=key) for key in grid.metrics] == labels
        assert "All topics" in grid.plot("rank-intervals").texts[1].get_text()


def test_words_between_two_groups_are_drawn(tiny):
    grid = measure_grid(["semaxis"], [COOK], {"first": tiny["first"]}, progress=False)
    assert set(grid.frame("words")["word"]) == {"cook"}
    assert grid.plot("projections").axes


def test_one_of_several_figures_is_chosen_and_the_others_are_named(draw, tmp_path):
    with pytest.warns(
        UserWarning, match="the figure of criterion='First' and metric='weat'; others: criterion='First'"
    ):
        draw("scores")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw("scores", criterion="Second", metric="weat", path=tmp_path / "scores.of.second.svg")
        draw("null", model="two", metric="weat", query="q2", criterion="First", debias="none")
    assert [path.name for path in tmp_path.iterdir()] == ["scores.of.second.svg"]


@pytest.mark.filterwarnings("ignore:plot. 'scores'. this is the figure of")
@pytest.mark.parametrize("kind", ["bias", "scores"])
def test_a_long_figure_is_drawn_in_pages_that_can_be_printed(kind):
    words = [f"w{i}" for i in range(60)]
    rng = np.random.default_rng(0)
    models = {name: bg.load({word: rng.normal(size=9) for word in words}, name=name) for name in "ab"}
    queries = [
        Query(
            [words[:3], words[3:6]], [words[i : i + 3], words[i + 3 : i + 6]], ["X", "Y"], [f"A{i}", f"B{i}"]
        )
        for i in range(6, 46)
    ]
    grid = measure_grid(["weat", "rnd"], {"Topic": queries}, models, progress=False)
    for metric in ("weat", "rnd"):
        with pytest.warns(
            UserWarning, match=f"plot: '{kind}' has [23] pages, and this is the first"
        ) as warned:
            first = grid.plot(kind, metric=metric)
        count = int(str(warned[-1].message).partition(" has ")[2][0])
        shown = [first, *(grid.plot(kind, metric=metric, page=i) for i in range(2, count + 1))]
        assert all(figure.get_figheight() <= 9 for figure in shown)
        drawn = [{text.get_text() for text in figure.findobj(Text)} for figure in shown]
        rows = {
            query for query in range(6, 46) if any(f"A{query}" in text for page in drawn for text in page)
        }
        assert rows == set(range(6, 46))
    with pytest.raises(BiasgridError, match=f"page: {count + 1} is not allowed; allowed: 1 to {count}"):
        grid.plot(kind, metric="rnd", page=count + 1)
    with pytest.raises(BiasgridError, match="page: 2 is not allowed; allowed: 1"):
        grid.plot("models", page=2)


def test_a_figure_of_a_former_name_is_the_one_that_shows_the_same(tiny):
    with pytest.warns(UserWarning, match="figure 'bars-by-query' is gone: 'scores' shows the same") as warned:
        figure = measured_tiny(tiny).plot("bars-by-query")
    assert warned[0].filename == __file__
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert texts == [text.get_text() for text in measured_tiny(tiny).plot("scores").findobj(Text)]


def test_metrics_are_given_as_names_pairs_or_objects(tiny):
    for given in ("rnd", ["rnd"], [("rnd", {})], {"rnd": None}, [metrics.rnd]):
        assert measure_grid(given, BOSS, tiny, progress=False).metrics == ["rnd"]


def test_the_door_imports_neither_pandas_nor_scipy():
    named = "bg.measure_grid, bg.load, bg.open_study, bg.metrics.weat, bg.debias.hard"
    loaded = "{'pandas', 'matplotlib', 'scipy'} & set(sys.modules)"
    script = f"import sys; import biasgrid as bg; {named}; print(*{loaded})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
