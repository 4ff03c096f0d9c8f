"""A toy of each thing that is one file, in a user's folder: all of them take part in a study, and nothing else is
edited."""

import json
import subprocess
from pathlib import Path

import forks
import pandas as pd
import pytest
from biasgrid_plugin_properties import examine_metric
from conftest import GRID_WORDS, ROOT, Project, biasgrid
from refusals import refused
from reruns import append, cells, planned

from biasgrid import BiasgridError, InputError, Query, load, measure_grid, metrics, tables
from biasgrid.core.numbers import p_value
from biasgrid.core.registry import load_plugins
from biasgrid.study.study import Study

pytestmark = pytest.mark.slow
TOYS = {
    "metric": '''
import numpy as np

from biasgrid.metrics import Metric, Score


def length(targets, attributes):
    """Difference of the mean lengths of two target sets' vectors."""
    first, second = (np.linalg.norm(vectors, axis=1).mean() for vectors in targets)
    return Score(float(first - second))


METRICS = (
    Metric("length", "Length", length, template=(2, 1), range=(-np.inf, np.inf), neutral=0.0, reference="this test",
           asks="Are the words of {T1} longer than those of {T2}?"),
)
''',
    "method": '''
import numpy as np

from biasgrid.debias import Method, Transform
from biasgrid.debias.transform import fitted


def halve(model, *, pairs):
    """Half of every vector."""
    size = model.array.shape[1]
    return Transform("halve", fitted(model, {}, {}, {}), matrix=np.eye(size, dtype="float32") / 2)


METHODS = (Method("halve", "Halved", halve, words={"pairs": "sets"}, reference="this test"),)
''',
    "table": """
from biasgrid.measure.results import results
from biasgrid.tables.keys import CELL
from biasgrid.tables.table import Column, Table


def make(inputs, spec):
    rows = [(*key, result["words_used"]) for key, _, result in results(inputs["cells"])]
    return SIZES.finish(rows)


SIZES = Table(
    "sizes",
    "One row per cell: how many words it uses.",
    (*CELL, Column.count("words", "words that are used")),
    make,
    reads=("cells",),
)
TABLES = (SIZES,)
""",
    "evaluation": """
from pydantic import Field

from biasgrid.evaluation import Evaluation, Outcome
from biasgrid.evaluation.facts import fact
from biasgrid.core.validation import Strict, field


class Spread(Strict):
    words: list[str] = field("words whose lengths are compared")


def measure(model, state, spec, options, seed):
    vectors = state.take(spec.words, state.rows(spec.words))
    return Outcome([fact("spread", "deviation", float(vectors.std()), len(vectors))])


EVALUATIONS = (Evaluation("spread", "How far vectors spread.", Spread, measure),)
""",
    "source": """
from pathlib import Path

from biasgrid.models.sources.source import Key, Source
from biasgrid.core.files import hash_file


def fetch(source, folder, *, progress, limits):
    (folder / "copy.txt").write_bytes(Path(source["from"]).read_bytes())
    return {"copy.txt": hash_file(folder / "copy.txt")}


SOURCES = (Source("copied", "a file that is copied", {"from": Key("the file")}, fetch),)
""",
    "section": """
from biasgrid.report.sections import Section


def make(material):
    return {"sizes": material.tables["sizes"]}


SECTIONS = (Section("sizes", "Words <used>", ("sizes",), make, "section.html"),)
""",
    "kind": '''
import json

import numpy as np

from biasgrid import BiasgridError
from biasgrid.models.kinds import Kind
from biasgrid.models.temporary import working_folder
from biasgrid.metrics import Metric, Score
from biasgrid.core.validation import Strict, field


class Section(Strict):
    """What only counts have."""

    least: int = field("a word counts at least so often", None, ge=1)


class Counts:
    """How often words occur: no vectors."""

    kind, vocab_prefix = "counts", ""

    def __init__(self, folder, name=None):
        try:
            self.metadata = json.loads((folder / "model.json").read_text())
        except OSError:
            raise BiasgridError(f"{folder}: no counts") from None
        self.name, self.counts = name or self.metadata["name"], self.metadata["counts"]
        self.places = {word: row for row, word in enumerate(self.counts)}

    def rows(self, words):
        return np.array([self.places.get(word, -1) for word in words], dtype=np.int64)

    def take(self, words, rows):
        return np.array(list(self.counts.values()), dtype=float)[rows]


def make(archive, folder, *, name, model, metadata):
    counts = {}
    for word in archive.read_text().split():
        counts[word] = counts.get(word, 0) + 1
    counts = {word: max(count, model.get("least", 1)) for word, count in counts.items()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.json").write_text(json.dumps({**metadata, "kind": "counts", "name": name, "counts": counts}))


def load(source, name=None, sha256=None):
    """Of a file of text."""
    with working_folder() as folder:
        make(source, folder.path, name=name or source.stem, model={}, metadata={})
        return Counts(folder.path)


def ratio(targets, attributes):
    """How much more often the first target set's words occur than the second's."""
    first, second = (counts.mean() for counts in targets)
    return Score(float(np.log2(first / second)))


KINDS = (
    Kind(
        "counts",
        "How often each word occurs.",
        open=Counts,
        make="biasgrid_plugin_kind:make",
        load="biasgrid_plugin_kind:load",
        formats={},
        section=Section,
        called="table of counts",
    ),
)
METRICS = (
    Metric(
        "ratio", "Ratio", ratio, template=(2, 1), range=(-np.inf, np.inf), neutral=0.0, reference="", needs="counts"
    ),
)
''',
}
for name, file in (("test", "moved_resamples.py"), ("reader", "bars.py")):
    TOYS[name] = (ROOT / "docs" / "how-to" / "examples" / file).read_text(encoding="utf-8")
QUERY = {
    "targets": {letter.upper(): [f"{letter}{i}" for i in range(4)] for letter in "ab"},
    "attributes": {"C": [f"c{i}" for i in range(4)]},
}
TEMPLATE = """{% for row in sizes.itertuples() %}<p>{{ row.model | label }}: {{ row.words | count }}</p>
{% endfor %}"""
CONFIG = {
    "study": "small",
    "plugins": ["toys"],
    "models": {
        "one": {"label": "One", "source": {"type": "copied", "from": "one.bars"}},
        "corpus": {"label": "Corpus", "kind": "counts", "source": {"type": "file", "path": "corpus.txt"}},
        "floored": {
            "label": "Floored",
            "kind": "counts",
            "least": 2,
            "source": {"type": "file", "path": "corpus.txt"},
        },
    },
    "criteria": {"First": {"queries": {"q1": QUERY}}},
    "metrics": {"length": {}, "ratio": {}, "rnd": {}},
    "debias": {"First": {"halved": {"method": "halve", "words": {"pairs": [["a0", "b0"]]}}}},
    "evaluation": {"First": {"spread": {"words": ["a0", "b0", "c0"]}}},
    "inference": {
        "permutation": {"exact": 100},
        "random_groups": {"draws": 19},
        "bootstrap": {"draws": 20},
        "moved": {"draws": 39},
    },
    "figures": ["rankings"],
}


@pytest.fixture(scope="module")
def with_toys(tmp_path_factory):
    """A finished study of toys."""
    made = Project(tmp_path_factory.mktemp("toys"))
    folder = made.folder / "toys"
    folder.mkdir()
    for name, text in TOYS.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "section.html").write_text(TEMPLATE)
    lines = (made.folder / "one.txt").read_text().splitlines()[1:]
    (made.folder / "one.bars").write_text(
        "\n".join(["bars", *(line.replace(" ", "|") for line in lines)]) + "\n"
    )
    text = " ".join(
        word for i, word in enumerate(GRID_WORDS) for _ in range(2 if word[0] == "a" else 1 + i % 2)
    )
    (made.folder / "corpus.txt").write_text(text)
    made.configure(CONFIG)
    made.run()
    return made


def table(project, name):
    return pd.read_csv(project.folder / "results" / "small" / f"{name}.csv")


def test_toys_are_in_the_grid_and_in_the_tables(with_toys):
    scores = table(with_toys, "scores").set_index(["metric", "model", "debias"])
    # a metric meets the models of the kind that it needs, and no others
    assert set(scores.index) == {
        ("length", "one", "none"),
        ("length", "one", "halved"),
        ("rnd", "one", "none"),
        ("rnd", "one", "halved"),
        ("ratio", "corpus", "none"),
        ("ratio", "floored", "none"),
    }
    assert (scores["status"] == "ok").all()
    halved, whole = (scores.loc[("length", "one", state), "value"] for state in ("halved", "none"))
    assert halved == pytest.approx(whole / 2)
    assert scores.loc[("ratio", "corpus", "none"), "value"] == pytest.approx(0.4150375)  # log2(2 / 1.5)
    assert scores.loc[("ratio", "floored", "none"), "value"] == 0
    assert scores["p_value"].notna().all()
    tests = table(with_toys, "tests").set_index(["test", "metric", "model"])
    assert "no vectors" in tests.loc[("random_groups", "ratio", "corpus"), "reason"]
    sizes = table(with_toys, "sizes")
    assert len(sizes) == 6
    assert set(sizes["words"]) == {12}
    spread = table(with_toys, "mitigation").query("group == 'spread'").iloc[0]
    assert spread["after"] == pytest.approx(spread["before"] / 2)


def test_a_test_of_a_plugin_is_in_tables_page_python_and_the_command_line(with_toys, monkeypatch):
    """With options, columns and their meaning, and texts from its one declaration."""
    scores = table(with_toys, "scores")
    tests = table(with_toys, "tests").query("test == 'moved'").reset_index(drop=True)
    assert tests["p_value"].between(1 / 40, 1).all()
    assert (tests["draws"] == 39).all()
    pd.testing.assert_series_equal(tests["p_value"], scores["p_moved"], check_names=False)
    assert (scores["p_moved_adjusted"] >= scores["p_moved"]).all()
    # it is no part of what a score is evidence for
    assert set(scores["tests"]) == {1, 2}
    page = (with_toys.folder / "results" / "small" / "report.html").read_text()
    assert "Moved resamples" in page
    assert "is the score further from no bias than resamples of its words differ?" in page

    monkeypatch.chdir(with_toys.folder)
    load_plugins(["toys"])
    meanings = {column.name: column.meaning for column in tables.REGISTRY["scores"].columns}
    assert (
        meanings["p_moved"]
        == "p-value of the test against moved resamples; `tests.csv` has the reason if there is none"
    )
    model = load("data/embeddings/one")
    query = Query([*QUERY["targets"].values()], [*QUERY["attributes"].values()], [*"AB"], ["C"])
    result = metrics.rnd(query, model, moved={"draws": 39})
    assert f"moved resamples {p_value(result.p_moved)}" in repr(result)
    grid = measure_grid(["rnd"], [query], [model], moved=True, progress=False)
    assert grid.scores["p_moved"].between(0.01, 1).all()
    with pytest.raises(BiasgridError, match="moved: draws: 3 is not allowed"):
        metrics.rnd(query, model, moved={"draws": 3})
    Path("q.json").write_text(query.to_json())
    command = ["measure", "--metric", "rnd", "--model", "data/embeddings/one", "--query", "q.json"]
    measured = biasgrid(*command, "--plugins", "toys", "--moved", "draws=39")
    assert json.loads(measured.stdout)["p_moved"] == result.p_moved
    text = " ".join(biasgrid("measure", "--help", "--plugins", "toys").stdout.split())
    assert (
        "the test against resamples of the words, moved to where there is no bias: draws (none: defaults)"
        in text
    )
    with pytest.raises(BiasgridError, match="inference: moved: draws: 3 is not allowed"):
        Study.of(CONFIG | {"inference": {"moved": {"draws": 3}}})
    with pytest.raises(BiasgridError, match="inference: unknown key 'mooved'; did you mean 'moved'"):
        Study.of(CONFIG | {"inference": {"mooved": {}}})


def test_a_section_of_a_plugin_is_on_the_page_that_the_run_makes_and_on_no_other(with_toys, tmp_path):
    page = (with_toys.folder / "results" / "small" / "report.html").read_text()
    section = page[page.index('<section id="sizes"') :].partition("</section>")[0]
    assert "Words &lt;used&gt;</h2>" in section
    assert "<p>One: 12</p>" in section
    # it is open, as it has no lead; what stands once on the page still does
    assert page.count('id="find"') == 1
    # to look at results runs no code of theirs
    done = biasgrid("report", with_toys.folder / "results" / "small", "--output", tmp_path / "again.html")
    assert done.returncode == 0
    assert 'id="sizes"' not in (tmp_path / "again.html").read_text()


def test_a_test_of_a_plugin_that_is_not_loaded_is_read(with_toys):
    code = "import biasgrid; print(set(biasgrid.open_study('results/small').frame('tests')['test']))"
    done = subprocess.run([forks.python(), "-c", code], cwd=with_toys.folder, capture_output=True, text=True)
    assert "'moved'" in done.stdout, done.stderr
    assert "toys" in (with_toys.folder / "results/small/study.json").read_text()


def test_a_kind_of_a_plugin_is_ranked_and_drawn(with_toys):
    ranks = table(with_toys, "rankings").query("metric == 'ratio'").set_index("model")["rank"]
    assert ranks.to_dict() == {"floored": 1, "corpus": 2}
    figures = with_toys.folder / "results" / "small" / "figures"
    assert any("Floored" in path.read_text() for path in figures.glob("rankings*.svg"))


def test_a_kind_of_a_plugin_is_loaded_by_the_rule_of_all_kinds(with_toys, monkeypatch):
    monkeypatch.chdir(with_toys.folder)
    load_plugins(["toys"])
    model = load("corpus.txt", kind="counts", name="mine")
    assert (model.name, model.take(["a0", "b0"], model.rows(["a0", "b0"])).tolist()) == ("mine", [2, 1])
    stores = Path("data/embeddings")
    assert load(stores / "floored").take(["b0"], [4]).tolist() == [2]
    assert load(stores / "floored", kind="counts", name="other").name == "other"
    for source, options, says in (
        ("corpus.txt", {"format": "text"}, "format: is not for a table of counts; leave it out"),
        (str(stores / "one"), {}, "is no table of counts; it is of kind vectors"),
        ("nowhere.txt", {}, "'nowhere.txt': no such file or folder"),
    ):
        with pytest.raises(InputError, match=says):
            load(source, kind="counts", **options)
    Path("q.json").write_text(Query([["a0"], ["b0"]], [["c0"]]).to_json())
    measured = biasgrid(
        *("measure", "--metric", "ratio", "--model", "corpus.txt", "--query", "q.json", "--plugins", "toys")
    )
    assert json.loads(measured.stdout)["value"] == 1
    (verdict,) = examine_metric(metrics.metric("ratio"))
    assert verdict.note == "it is of models of kind counts, of which there are no examples"


@pytest.mark.parametrize(
    ("model", "change", "says"),
    [
        (
            "floored",
            {"least": 0},
            "models: floored: least: 0 is not allowed: it should be greater than or equal to 1",
        ),
        ("one", {"least": 2}, "models: one: unknown key 'least'; did you mean 'fast'? allowed: "),
        ("floored", {"leest": 2}, "models: floored: unknown key 'leest'; did you mean 'least'?"),
        (
            "floored",
            {"window": 2},
            "models: floored: window: is for models of kind corpus, and this model is counts",
        ),
    ],
)
def test_the_keys_of_a_kind_of_a_plugin_are_checked(with_toys, monkeypatch, model, change, says):
    monkeypatch.chdir(with_toys.folder)
    config = CONFIG | {"models": CONFIG["models"] | {model: CONFIG["models"][model] | change}}
    with refused(f"small: {says}"):
        Study.of(config, "small")


def test_toys_are_listed(with_toys, monkeypatch):
    monkeypatch.chdir(with_toys.folder)
    for topic, names in {
        "metrics": ["length", "ratio"],
        "debias": ["halve"],
        "tables": ["sizes"],
        "evaluations": ["spread"],
        "formats": ["bars"],
        "sources": ["copied"],
        "kinds": ["counts"],
    }.items():
        done = biasgrid("list", topic, "--study", "config/config.yaml")
        listed = {entry["name"]: entry["description"] for entry in json.loads(done.stdout)}
        assert all(listed[name] for name in names)


def test_an_edited_toy_makes_its_own_steps_stale_and_no_others(with_toys, tmp_path):
    project = with_toys.copy(tmp_path / "project")
    toys = project.folder / "toys"
    append(toys / "kind.py", "\n# a comment\n")
    path = toys / "table.py"
    path.write_text(path.read_text().replace('result["words_used"]', 'result["words_used"] + 0'))
    jobs = planned(project)
    assert set(jobs) == {"tables", "evaluation_tables", "figures", "report"}
    project.run()
    path = toys / "kind.py"
    path.write_text(path.read_text().replace("np.log2(first / second)", "np.log2(first) - np.log2(second)"))
    assert cells(planned(project)) == {"corpus/none/ratio/q1", "floored/none/ratio/q1"}
