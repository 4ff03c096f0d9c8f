"""Calls of the library that are refused: measuring, debiasing, evaluating, and reading what was made."""

import numpy as np
from conftest import make_store
from refusals import row, table, written

import biasgrid as bg
from biasgrid import Query, debias, metrics, tables
from biasgrid.core.registry import load_plugins
from biasgrid.debias.transform import Transform
from biasgrid.evaluation import evaluate
from biasgrid.evaluation.analogy_answers import answers
from biasgrid.evaluation.ratings import read as read_ratings
from biasgrid.figures.professions import professions
from biasgrid.figures.sentiment import distributions, sentiment
from biasgrid.measure.candidate_words import Pool
from biasgrid.measure.measure import measure
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.study.views.grid import Grid
from biasgrid.tables import published
from biasgrid.tables.inputs import facts_of, holds

ONE = Query([["w0"], ["w1"]], [["w2", "w3", "w4"], ["w5", "w6"]], ["A", "B"], ["C", "D"])
PAIRS = [["w0", "w1"], ["w2", "w3"]]
SETS = [["w0", "w1", "w2"], ["w3", "w4", "w5"], ["w6", "w7", "none"]]


def measured(**options):
    """Return a call of WEAT with these options."""
    return lambda random_model: metrics.weat(ONE, random_model(0), **options)


def grid_of(use, **options):
    """Return a call that uses a grid of WEAT on one model."""
    return lambda random_model: use(
        bg.measure_grid(["weat"], {"C": [ONE]}, [random_model(0)], progress=False, **options)
    )


def evaluated(**spec):
    """Return a call that evaluates a model of words w0 to w39."""
    return lambda random_model: evaluate(random_model(0), None, spec, 0)


def hidden(*pairs):
    """Return a call that measures bias hidden from a direction of these pairs."""
    return evaluated(hidden={"pairs": [*pairs], "sides": ["a", "b"]})


def equal(tmp_path):
    """Return a model of words w0 to w19: all have one vector, and the last has a vector of zeros."""
    return make_store(
        tmp_path, [f"w{i}" for i in range(20)], np.repeat([[1.0] * 3, [0.0] * 3], [19, 1], axis=0)
    )


@table(
    # measuring
    row("unknown metric", lambda: metrics.metric("weta"), "unknown metric 'weta'; did you mean 'weat'"),
    row(
        "one word",
        lambda random_model: metrics.nas(ONE, random_model(0), one_word="NaN"),
        "one_word: unknown value 'NaN'; allowed: nan, keep",
    ),
    row(
        "few random groups",
        measured(random_groups={"draws": 3}),
        "random_groups: draws: 3 is not allowed: it should be greater than or equal to 19",
    ),
    row("key of random groups", measured(random_groups={"draw": 99}), "random_groups: unknown key 'draw'"),
    row("reliability without a bootstrap", grid_of(Grid.reliability), "reliability"),
    row(
        "threshold of reliability",
        grid_of(Grid.reliability, reliability={"holds": 2}, bootstrap=True),
        "reliability: holds",
    ),
    row("option", measured(normalise=True), "option 'normalise' of weat; did you mean 'normalize'"),
    row(
        "template", lambda random_model: metrics.rnd(ONE, random_model(0)), "template", "take its sub-queries"
    ),
    row("ddof", lambda random_model: metrics.weat_es(ONE, random_model(0), ddof=2), "ddof: 2"),
    row(
        "parameter before words",
        lambda random_model: metrics.rnd(Query([["x"], ["y"]], [["z"]]), random_model(0), distance="normm"),
        "distance: unknown value 'normm'; did you mean 'norm'",
    ),
    row(
        "relation of pairs",
        lambda random_model: metrics.ripa(ONE.subqueries((2, 1))[0], random_model(0), relation="pca"),
        "relation: unknown value 'pca'",
    ),
    row(
        "sets of a measurement",
        lambda random_model: measure(
            MeasurementSpec(metrics.metric("weat")), ONE.subqueries((2, 1))[0], random_model(0)
        ),
        "needs more sets",
    ),
    row(
        "model to compare",
        grid_of(lambda grid: bg.compare_models(grid, "made", "mad")),
        "unknown model 'mad'; did you mean 'made'",
    ),
    row(
        "model to compare with itself",
        grid_of(lambda grid: bg.compare_models(grid, "made", "made")),
        "the same model",
    ),
    row(
        "former aggregation",
        grid_of(lambda grid: grid.aggregate("excess")),
        "excess is gone: standardized has taken its place, and is another number",
    ),
    row("saved pool", lambda tmp_path: Pool.load(written(tmp_path / "pool.npz", b"PK")), "pool.npz"),
    # debiasing
    row("unknown method", lambda: debias.method("soft"), "unknown debias method 'soft'"),
    row("transform that is not there", lambda tmp_path: Transform.load(tmp_path / "t.npz"), "no such file"),
    row(
        "transform of other vectors",
        lambda random_model: random_model(1).under(debias.hard(random_model(0), definitional_pairs=PAIRS)),
        "fitted on other vectors",
    ),
    row(
        "target of definitional words",
        lambda random_model: debias.multiclass_hard(random_model(0), definitional_sets=SETS, target=["w6"]),
        "target: all its words are definitional",
    ),
    row(
        "one target",
        lambda random_model: debias.double_hard(
            random_model(0), target=["w9"], definitional_pairs=PAIRS, variant="wefe", component=0
        ),
        "fewer than two words",
    ),
    row(
        "more components than words",
        lambda tmp_path: debias.double_hard(
            make_store(tmp_path, [f"w{i}" for i in range(6)], np.random.default_rng(1).normal(size=(6, 9))),
            definitional_pairs=PAIRS,
            n_components=6,
        ),
        "n_components: 6 is more than the 5 components of the vectors",
    ),
    row(
        "direction between equal vectors",
        lambda tmp_path: debias.leace(equal(tmp_path), bias_representation=["w0", "w1"]),
        "have the same vector: there is no direction",
    ),
    row(
        "direction of a zero vector",
        lambda tmp_path: debias.leace(equal(tmp_path), bias_representation=["w0", "w19"]),
        "has a zero vector",
    ),
    # evaluating
    row("pairs that a model lacks", hidden(["x", "y"]), "hidden: pairs: made has no whole pair"),
    row("pairs that cancel", hidden(["w0", "w1"], ["w1", "w0"]), "hidden: pairs: their differences cancel"),
    row(
        "one pair of a direction",
        evaluated(direct={"definitional_pairs": [["w0", "w1"]], "words": ["w2"]}),
        "1 whole sets",
    ),
    row(
        "pair of a direction that a model lacks",
        evaluated(direct={"definitional_pairs": [["w0", "w1"], ["x", "y"]], "words": ["w2"]}),
        "has no word of",
    ),
    row(
        "one seed pair",
        evaluated(seed_pairs={"x": [["w0", "w1"], ["w2", "gone"]]}),
        "seed_pairs: x: pairs: 1 whole sets",
    ),
    row(
        "benchmark that is not there",
        evaluated(similarity={"x": "absent"}),
        "absent: cannot read it: No such file",
    ),
    row(
        "gensim's benchmark",
        evaluated(similarity={"x": "gensim:absent.tsv"}),
        "gensim:absent.tsv: cannot read it",
    ),
    row(
        "benchmark in Latin-1",
        lambda tmp_path, random_model: evaluate(
            random_model(0), None, {"similarity": {"x": str(written(tmp_path / "latin", b"caf\xe9"))}}, 0
        ),
        "latin: not a text file in UTF-8",
    ),
    row(
        "pairs of a question",
        lambda random_model: answers(random_model(0), [("w0", "no")], ["w1"]),
        "pairs: ",
        " has no whole pair",
    ),
    row(
        "words of a question",
        lambda random_model: answers(random_model(0), [("w0", "w1")], ["no"]),
        "words: ",
        " has none",
    ),
    row(
        "method of a question",
        lambda random_model: answers(random_model(0), [("w0", "w1")], ["w2"], methods=["3cosmul"]),
        "unknown method '3cosmul'",
        " allowed: pair_distance",
    ),
    row(
        "set of a question",
        lambda random_model: answers(
            random_model(0), (), ["w2"], source=["w0"], target=["gone"], methods=["3cosavg"]
        ),
        "target: made has none of its words",
    ),
    row(
        "pairs of a spec",
        evaluated(questions={"mine": {"pairs": [["w0", "no"]], "words": ["w1"]}}),
        "questions: mine: pairs",
    ),
    # what was made
    row("condition of a table", lambda: holds(None, "boostrap"), "'boostrap'", "bootstrap"),
    row("fact of a table", lambda: facts_of(None, ["leval"]), "'leval'", "level"),
    row(
        "columns of a table",
        lambda tmp_path: tables.read(written(tmp_path / "scores.csv", "a\n")),
        "has no column criterion, query, metric",
    ),
    row(
        "name of a table",
        lambda tmp_path: tables.read(tmp_path / "scoers.csv"),
        "unknown table 'scoers'; did you mean 'scores'",
    ),
    row(
        "columns of published numbers",
        lambda tmp_path: published.read([written(tmp_path / "numbers.csv", "source,value\npaper,1\n")]),
        "line 1: the columns must be source, table",
    ),
    row("published numbers", lambda tmp_path: published.read([tmp_path / "none.csv"]), "cannot read"),
    row(
        "published number of ratings",
        lambda tmp_path: published.read(
            [
                written(
                    tmp_path / "numbers.csv",
                    ",".join(published.PUBLISHED) + "\ns,t,C,,same,m,rating_pearson,0.5,2,,,,\n",
                )
            ]
        ),
        "'rating_pearson' needs a query",
    ),
    row("ratings", lambda tmp_path: read_ratings(tmp_path / "none.csv"), "cannot read the ratings"),
    row(
        "projections of a figure",
        lambda: professions({"shares": [], "random_shares": []}, [], "m", "Gender"),
        "no projections",
    ),
    row(
        "empty figure of sentiment", lambda: sentiment(distributions([]), {}, "Origins"), "the table is empty"
    ),
    row(
        "cell of a figure",
        lambda tmp_path: distributions([written(tmp_path / "a.json", "[]")]),
        "not a cell file",
    ),
    # plugins
    row(
        "plugin that is not there",
        lambda tmp_path: load_plugins([tmp_path / "absent"]),
        "absent: no such file or folder",
    ),
    row(
        "plugin with a former import",
        lambda tmp_path: bg.load_plugins(
            [written(tmp_path / "mine.py", "from biasgrid.inference.significance import REGISTRY\n")]
        ),
        "No module named 'biasgrid.inference'; it is now biasgrid.measure",
    ),
)
def test_a_call_is_refused(refusal, request):
    refusal.check(request)
