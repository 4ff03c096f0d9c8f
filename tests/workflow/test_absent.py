"""A model, a debiased model or a benchmark that its host does not give: the others are measured as in a study without
it, the run says so and ends with 1, and the next run makes what is missing and nothing else."""

import copy
import http.server
import io
import re

import pandas as pd
import pytest
from conftest import GRID_WORDS, Project, grid_config, write_text_model
from in_process import make_project
from loopback import Handler, acting, answer, reset, started

from biasgrid import open_study
from biasgrid.figures import frame
from biasgrid.study import steps
from biasgrid.study.study import Study

pytestmark = pytest.mark.slow

MODELS = ("one", "two", "three")
HARD = {
    "method": "hard",
    "models": ["three"],
    "words": {
        "definitional_pairs": [["a0", "b0"], ["a1", "b1"], ["a2", "b2"], ["a3", "b3"]],
        "equalize_pairs": [["a4", "b4"]],
        "ignore": ["a5", "b5"],
    },
}
PUBLISHED = """source,table,criterion,query,metric,model,quantity,published,digits,runs,run_sd,test,note
A paper,scores,First,,weat,one,abs_avg,0.2,1,,,,
A paper,scores,First,,weat,three,abs_avg,0.2,1,,,,
"""


class Files(http.server.ThreadingHTTPServer):
    """Answers each path as `plans` has it."""

    def __init__(self):
        self.seen, self.sent, self.plans, self.plan = [], 0, {}, []
        super().__init__(("127.0.0.1", 0), Handler)

    def usual(self, handler):
        plan = self.plans[handler.path]
        (plan.pop(0) if isinstance(plan, list) else plan)(handler)


@pytest.fixture
def server():
    with started(Files()) as server:
        yield server


@pytest.fixture
def served(tmp_path, server):
    """A project of three models on a server."""
    project = Project(tmp_path / "project")
    config = grid_config()
    address = f"http://127.0.0.1:{server.server_port}"
    for seed, name in enumerate(MODELS):
        file = write_text_model(tmp_path / f"{name}.txt", GRID_WORDS, dimensions=200, seed=seed)
        server.plans[f"/{name}.txt"] = acting(body=file.read_bytes())
        source = {"type": "url", "url": f"{address}/{name}.txt"}
        config["models"][name] = {"label": f"Model {name}", "source": source}
    pairs = zip(GRID_WORDS, GRID_WORDS[5:], strict=False)
    lines = [f"{a}\t{b}\t{6 - i % 7}\n" for i, (a, b) in enumerate(pairs)]
    server.plans["/pairs.tsv"] = acting(body="".join(lines).encode())
    config["benchmarks"] = {"pairs": {"source": {"type": "url", "url": f"{address}/pairs.tsv"}}}
    config["quality"] = {"similarity": {"Pairs": "pairs:pairs.tsv"}}
    project.configure(config)
    return project


def tables(project):
    """The tables by name, and the rows of what is absent."""
    made, absent = {}, {}
    for path, content in project.results().items():
        if path.endswith(".csv"):
            table = pd.read_csv(io.BytesIO(content), keep_default_na=False, dtype=str)
            is_absent = pd.Series(False, table.index)
            if "status" in table:
                is_absent = table["status"] == "not_downloaded"
            made[path], absent[path] = table[~is_absent].reset_index(drop=True), table[is_absent]
    return made, absent


def times(project, part):
    folder = project.folder / "results"
    return {name: (folder / name).stat().st_mtime_ns for name in project.results() if part in name}


def said(done):
    assert done.returncode == 1, done.stderr
    return [
        line.removeprefix("biasgrid: ") for line in done.stderr.splitlines() if line.startswith("biasgrid: ")
    ]


def test_the_others_are_measured_as_in_a_study_without_it(served, server, tmp_path, monkeypatch):
    config = served.config
    del config["metrics"]["rnsb"]  # which fits a thousand times
    config["debias"] = {"First": {"hard": HARD}}
    config["evaluation"] = {"First": {"similarity": {"Pairs": "pairs:pairs.tsv"}, "vocabulary": 40}}
    config["inference"] = {
        "permutation": {"draws": 99},
        "random_groups": {"draws": 99},
        "bootstrap": {"draws": 50},
        "sensitivity": {"halves": 3},
    }
    config["null_distributions"] = ["one/none/weat/q1", "three/none/weat/q1"]
    config["published"] = ["published.csv"]
    (served.folder / "published.csv").write_text(PUBLISHED)
    some = config | {"figures": ["rankings"]}
    other = served.copy(tmp_path / "other")
    rest = copy.deepcopy(config)
    del rest["models"]["three"], rest["debias"], rest["evaluation"]
    rest["null_distributions"].pop()
    other.configure(rest)
    make_project(other)
    # never without the model where it is asked for
    whole = served.copy(tmp_path / "whole")
    whole.configure(some)
    whole.run()

    served.configure(some)
    three = server.plans["/three.txt"]
    server.plans["/three.txt"] = answer(404)
    lines = said(served.snakemake("--cores", "1"))
    assert lines[-1] == "report: results/small/report.html", lines
    (line,) = (line for line in lines if line.startswith("could not download"))
    assert line.startswith("could not download three (http")
    assert line.endswith("the server answers 404 Not Found)")
    assert "not measured: three; tables, figures and page are of the other models" in lines
    assert "to go on with it: the same command tries again" in lines
    assert any(line.startswith("to go on without it: take it out of the config's models") for line in lines)

    made, absent = tables(served)
    expected, _ = tables(other)
    comparison = made["small/comparison.csv"]
    is_absent = comparison["model"] == "three"
    made["small/comparison.csv"] = comparison[~is_absent].reset_index(drop=True)
    assert comparison.loc[is_absent, "verdict"].tolist() == ["no value"]
    for path, table in expected.items():
        pd.testing.assert_frame_equal(made[path], table, obj=path)
    assert all(made[path].empty for path in made.keys() - expected.keys())
    # RND divides each of the three queries in two; two of them are measured under the debias method, too
    rows = absent["small/scores.csv"]
    assert rows["debias"].value_counts().to_dict() == {"none": 3 * (2 + 2), "hard": 2 * (2 + 2)}
    assert set(rows["model"]) == {"three"}
    assert set(rows["value"]) == {""}
    assert absent["small/quality.csv"]["model"].tolist() == ["three"]
    page = served.results()["small/report.html"].decode()
    assert "Model three is not measured: it could not be downloaded." in page
    assert re.search(r"all \d+ scores could be computed", page)
    study = open_study(served.folder / "results" / "small")
    assert list(study.models) == ["one", "two"]
    assert set(study.scores.loc[study.scores["model"] == "three", "status"]) == {"not_downloaded"}
    assert "Model three is not measured" in study.summary()

    # nor is any other figure of it kept from being drawn
    monkeypatch.chdir(served.folder)
    monkeypatch.setattr(frame, "_content", lambda figure, extension: b"")
    del config["figures"]
    every = Study.of(config)
    others = [drawing for drawing in every.figures.values() if drawing.kind not in some["figures"]]
    assert len(others) > 5
    for drawing in others:
        steps.figure_step(every, drawing).now().run()

    server.plans["/three.txt"] = three
    expected_results = whole.results()
    for name in served.results().keys() - expected_results.keys():
        assert "/figures/" in name
        (served.folder / "results" / name).unlink()
    before = times(served, "/cells/one") | times(served, "/inference/two")
    assert before
    served.run()
    assert before.items() <= (times(served, "/cells/one") | times(served, "/inference/two")).items()
    results = served.results()
    assert results.keys() == expected_results.keys()
    assert [name for name in results if results[name] != expected_results[name]] == []
    assert "Nothing to be done" in served.run().stderr


def test_what_has_come_is_kept_and_a_benchmark_that_cannot_be_had_costs_what_is_evaluated_on_it(
    served, server
):
    body = (served.folder.parent / "three.txt").read_bytes()
    server.plans["/three.txt"] = [acting(body=body, upto=65536, then=reset), answer(404), acting(body=body)]
    server.plans["/pairs.tsv"] = answer(404)
    lines = said(served.snakemake("-c1"))
    assert "not measured: three; tables, figures and page are of the other models" in lines
    lines = said(served.snakemake("-c1"))
    assert not any("not measured" in line for line in lines)
    assert "nothing is evaluated on the benchmarks of pairs" in lines
    ranges = [headers["Range"] for path, headers in server.seen if path == "/three.txt"]
    assert ranges[0] is None
    # a reset connection may lose what was not read yet
    assert 0 < int(ranges[1].removeprefix("bytes=").removesuffix("-")) <= 65536
    assert ranges[2] == ranges[1]
    _, absent = tables(served)
    assert absent["small/quality.csv"]["model"].tolist() == ["one", "two", "three"]
    scores = open_study(served.folder / "results" / "small").scores
    assert (set(scores["model"]), set(scores["status"])) == ({*MODELS}, {"ok"})


def test_without_any_model_there_is_nothing_to_measure(served, server):
    server.plans = dict.fromkeys(server.plans, answer(404))
    lines = said(served.snakemake("--cores", "1"))
    assert lines[-1].startswith("could not download one (")
    assert lines[-1].endswith("biasgrid run config/embedded.yaml")
    assert not (served.folder / "results" / "small" / "scores.csv").exists()


def test_a_wrong_checksum_has_its_own_hint_and_a_missing_file_is_no_absence(served):
    config = served.config
    config["models"]["three"]["source"]["md5"] = "0" * 32
    served.configure(config)
    (line, *rest) = [line for line in said(served.snakemake("-c1", "fetch")) if "download " in line]
    assert "expected md5 00000000000000000000000000000000, got " in line
    assert "nothing was kept: the file on the server has changed, or the checksum is wrong" in line
    assert rest == []
    config["models"]["three"]["source"] = {"type": "file", "path": "typo.txt"}
    served.configure(config)
    assert "archive three failed: three: typo.txt is not there" in said(served.snakemake("-c1"))
    assert not (served.folder / "results" / "small" / "scores.csv").exists()
