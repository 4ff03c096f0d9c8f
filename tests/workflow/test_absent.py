"""A model, a benchmark or a debiased model that its host does not give: the others are measured as in a study without
it, the run says so and ends with 1, and the next run makes what is missing and nothing else."""

import copy
import http.server
import io

import pandas as pd
import pytest
from conftest import GRID_WORDS, Project, grid_config, write_text_model
from loopback import Handler, acting, answer, started

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


class FromPaths(http.server.ThreadingHTTPServer):
    """Answers each path as `plans` has it."""

    def __init__(self):
        self.seen, self.sent, self.plans, self.plan = [], 0, {}, []
        super().__init__(("127.0.0.1", 0), Handler)

    def usual(self, handler):
        self.plans[handler.path](handler)


@pytest.fixture
def server():
    with started(FromPaths()) as server:
        yield server


@pytest.fixture
def served(tmp_path, server):
    """A project of three models on a server, the third of which it lacks; it is debiased, too."""
    project = Project(tmp_path / "project")
    config = grid_config()
    address = f"http://127.0.0.1:{server.server_port}"
    for seed, name in enumerate(MODELS):
        body = write_text_model(tmp_path / f"{name}.txt", GRID_WORDS, seed=seed).read_bytes()
        server.plans[f"/{name}.txt"] = acting(body=body)
        config["models"][name] = {
            "label": f"Model {name}",
            "source": {"type": "url", "url": f"{address}/{name}.txt"},
        }
    config["debias"] = {"First": {"hard": HARD}}
    config["evaluation"] = {"First": {"similarity": {"Pairs": "pairs:pairs.tsv"}, "vocabulary": 40}}
    config["quality"] = {"similarity": {"Pairs": "pairs:pairs.tsv"}}
    pairs = "".join(f"{a}\t{b}\t{i % 7}\n" for i, (a, b) in enumerate(zip(GRID_WORDS, GRID_WORDS[5:], strict=False)))
    server.plans["/pairs.tsv"] = acting(body=pairs.encode())
    config["benchmarks"] = {"pairs": {"source": {"type": "url", "url": f"{address}/pairs.tsv"}}}
    config["inference"] = {
        "permutation": {"draws": 99},
        "random_groups": {"draws": 99},
        "bootstrap": {"draws": 50},
        "sensitivity": {"halves": 3},
    }
    config["null_distributions"] = ["one/none/weat/q1", "three/none/weat/q1"]
    del config["figures"]
    project.configure(config)
    return project


def without(project, folder):
    """The same study, whose config lacks the third model."""
    other = Project(folder)
    config = copy.deepcopy(project.config)
    del config["models"]["three"], config["debias"]
    config["null_distributions"] = ["one/none/weat/q1"]
    other.configure(config)
    return other


def tables(project):
    """The tables by name, and the rows of what is absent."""
    made, absent = {}, {}
    for path, content in project.results().items():
        if path.endswith(".csv"):
            table = pd.read_csv(io.BytesIO(content), keep_default_na=False, dtype=str)
            is_absent = table["status"] == "not_downloaded" if "status" in table else pd.Series(False, table.index)
            made[path], absent[path] = table[~is_absent].reset_index(drop=True), table[is_absent]
    return made, absent


def test_a_model_that_cannot_be_had_is_absent_and_the_next_run_makes_it(served, server, tmp_path):
    whole = served.copy(tmp_path / "whole")
    whole.run()
    present = server.plans["/three.txt"]
    server.plans["/three.txt"] = answer(404)
    done = served.snakemake("--cores", "2")
    assert done.returncode == 1, done.stderr
    lines = done.stderr.splitlines()
    assert lines[-1] == "biasgrid: report: results/small/report.html"
    said = "\n".join(lines)
    assert "could not download three" in said and "404" in said
    other = without(served, tmp_path / "other")
    other.run()
    made, absent = tables(served)
    expected, _ = tables(other)
    for path, table in expected.items():
        pd.testing.assert_frame_equal(made[path], table, obj=path)
    assert all(made[path].empty for path in made.keys() - expected.keys())
    rows = absent["small/scores.csv"]
    assert set(rows["model"]) == {"three"} and set(rows["debias"]) == {"none", "hard"}
    # RND divides each of the three queries in two, two of which are measured under the debias method, too
    assert len(rows) == 3 * (3 + 2) + 2 * (3 + 2) and (rows["value"] == "").all()
    page = served.results()["small/report.html"].decode()
    assert "Model three is not measured: it could not be downloaded." in page
    server.plans["/three.txt"] = present
    times = {name: (served.folder / "results" / name).stat().st_mtime_ns for name in served.results() if "/cells/one" in name}
    assert times
    done = served.run()
    assert {name: (served.folder / "results" / name).stat().st_mtime_ns for name in times} == times
    results, expected_results = served.results(), whole.results()
    assert results.keys() == expected_results.keys()
    assert [name for name in results if results[name] != expected_results[name]] == []
    assert "Nothing to be done" in served.run().stdout + served.run().stderr
