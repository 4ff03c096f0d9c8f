"""The factory: what is planted is in the corpus, models of it are the same each time, and their bias is recovered."""

import copy
import itertools
import json
import os
import re
import shutil
from collections import Counter
from functools import partial

import forks
import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT
from scipy.stats import norm

from biasgrid import metrics
from biasgrid.core.validation import to_record
from biasgrid.figures.frame import save
from biasgrid.models.directions import angles
from biasgrid.study import code
from validation.__main__ import main
from validation.planted_bias import Factory, Templates, draw, figures, plan, steps, train, trainer_parameters
from validation.planted_bias import corpus as sentences_of
from validation.planted_bias.recovery import percentage_difference

TEMPLATES = Templates.read(ROOT / "data" / "templates" / "schroeder.json")
OCCUPATIONS = json.loads((ROOT / "data" / "word_sets" / "schroeder.json").read_text())["sets"]["occupations"]


def corpus(templates, occupations, probabilities, seed):
    """The sentences of a corpus that is drawn with these probabilities, and the truth."""
    drawn = draw(templates, probabilities, seed)
    return sentences_of(templates, occupations, drawn), drawn.truth


TINY = {
    "factory": "tiny",
    "mu": [0.25, 0.75],
    "sigma": [0.3],
    "replicates": 2,
    "trainers": {"ppmi": {"label": "Counts"}},
    "metrics": {
        "weat": {"groups": "attributes", "truth": "sd"},
        "mac": {"groups": "attributes", "words": "targets_eval"},
        "rnsb": {"groups": "targets", "params": {"n_iterations": 2}},
    },
}


def test_the_templates_are_those_of_the_paper():
    """35 in its table (20 of he and she); the sentences of its second list have possessive pronouns."""
    assert Counter(TEMPLATES.pronouns) == {("he", "she"): 20, ("his", "her"): 15}
    assert TEMPLATES.groups == [["he", "his"], ["she", "her"]]
    assert " ".join(TEMPLATES.fill("nurse", [False] * 35)[6]) == (
        "the nurse was in a hurry because she was late for work"
    )
    assert " ".join(TEMPLATES.fill("nurse", [True] * 35)[20]) == "the nurse enjoyed his lunch"


def test_what_is_planned_is_normal_and_clipped():
    planned = plan(0.25, 0.35, 100_000, seed=1)
    assert planned.min() == 0
    assert (planned == 0).mean() == pytest.approx(norm.cdf(-0.25 / 0.35), abs=0.005)
    inside = (planned > 0) & (planned < 1)
    assert inside.mean() == pytest.approx(norm.cdf(0.75 / 0.35) - norm.cdf(-0.25 / 0.35), abs=0.005)
    assert np.median(planned) == pytest.approx(0.25, abs=0.01)


def test_the_truth_is_what_stands_in_the_corpus():
    """Counted from the sentences' text, without the code that made them."""
    planned = plan(0.6, 0.2, len(OCCUPATIONS), seed=2)
    sentences, truth = corpus(TEMPLATES, OCCUPATIONS, planned, seed=3)
    assert len(sentences) == 258 * 35
    male, all_of = Counter(), Counter()
    for sentence in sentences:
        text = f" {' '.join(sentence)} "
        (occupation,) = (word for word in sentence if word in set(OCCUPATIONS))
        all_of[occupation] += 1
        male[occupation] += bool(re.search(r" (he|his) ", text))
        assert bool(re.search(r" (he|his) ", text)) != bool(re.search(r" (she|her) ", text))
    assert set(all_of.values()) == {35}
    assert truth.tolist() == [male[word] / 35 for word in OCCUPATIONS]
    # binomial: within chance of the plan, and not the plan itself
    spread = np.sqrt(planned * (1 - planned) / 35)
    assert np.mean(np.abs(truth - planned) <= 2 * spread + 1e-12) == pytest.approx(0.95, abs=0.04)
    other = corpus(TEMPLATES, OCCUPATIONS, planned, seed=4)[1]
    assert not np.array_equal(truth, other)


def test_extremes_are_planted_without_exception():
    sentences, truth = corpus(TEMPLATES, ["nurse", "dean"], np.array([0.0, 1.0]), seed=1)
    assert truth.tolist() == [0, 1]
    assert not any("nurse" in s and {"he", "his"} & set(s) for s in sentences)


def test_ppmi_is_what_it_is_defined_as():
    """Without truncation, products of words' and contexts' vectors are the PPMI, counted here by hand."""
    sentences = [["a", "b"], ["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"], ["d", "e"], ["e", "a"]]
    words, own, context = train(sentences, "ppmi", {"dimensions": 4}, seed=0)
    assert words == ["a", "b", "c", "d", "e"]
    counts = np.zeros((5, 5))
    for x, y in sentences:
        counts["abcde".index(x), "abcde".index(y)] += 1
        counts["abcde".index(y), "abcde".index(x)] += 1
    margin = counts.sum(axis=0)
    with np.errstate(divide="ignore"):
        ppmi = np.maximum(np.log(counts * counts.sum() / np.outer(margin, margin)), 0)
    left, values, right = np.linalg.svd(ppmi)
    expected = left[:, :4] * np.sqrt(values[:4])
    assert np.allclose(own @ own.T, expected @ expected.T, atol=1e-6)
    # word times context is what the two words' PPMI is
    assert np.allclose(own @ context.T, left[:, :4] * values[:4] @ right[:4], atol=1e-6)


def test_the_angle_of_directions():
    """Two pairs, by hand."""
    male, female = np.array([[1.0, 0, 0], [0, 1.0, 0]]), np.array([[-1.0, 0, 0], [0, 0, 1.0]])
    # differences (2, 0, 0) and (0, 1, -1): the first component is (1, 0, 0), the mean (1, .5, -.5)
    assert angles(male, female)["pca", "mean"] == pytest.approx(np.degrees(np.arccos(1 / np.sqrt(1.5))))


def test_percentage_difference_of_a_tuple():
    assert percentage_difference([1, 2, 3]) == pytest.approx((1 / 1.5 + 2 / 2 + 1 / 2.5) / 3)
    assert percentage_difference([2, 2]) == 0
    assert np.isnan(percentage_difference([2]))


def only(recovered, *key):
    """The row of a metric's R², by level and truth, of sums of word and context vectors."""
    recovered = recovered[recovered["vectors"] == "word+context"]
    keys = recovered[["metric", "level", "truth", "what"]].itertuples(index=False)
    (place,) = [i for i, found in enumerate(keys) if tuple(found) == (*key, "r_squared")]
    return recovered.iloc[place]


def write_config(folder, config):
    folder.mkdir(exist_ok=True)
    path = folder / "factory.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The workflow on a grid of two means and two replicates, on two cores."""
    folder = tmp_path_factory.mktemp("factory")
    for name in ("src", "plugins", "validation", "workflow", "profiles", "data/word_sets", "data/templates"):
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    write_config(folder / "config", TINY)
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    arguments = (
        "--snakefile",
        "validation/experiment.smk",
        "--cores",
        "2",
        "--quiet",
        "--configfile",
        "config/factory.yaml",
    )
    done = forks.run(arguments, folder, environment)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_files_are_the_same_on_two_cores_and_one_by_one(tiny, tmp_path, monkeypatch):
    """The models of the second replicate, tables and figures, made once more."""
    for name in ("data", "config", "results/tiny/models"):
        shutil.copytree(tiny / name, tmp_path / name, ignore=shutil.ignore_patterns("2.json"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "save", partial(save, extensions=["svg"]))

    def files(folder):
        return {
            file.relative_to(folder): file.read_bytes()
            for file in (folder / "results").rglob("*")
            if file.suffix in (".json", ".csv", ".md", ".svg")
        }

    assert len(files(tmp_path)) == 2
    assert main(["step", "config/factory.yaml", "model ppmi/0.75/0.3/2", "model ppmi/0.25/0.3/2"]) == 0
    assert main(["step", "config/factory.yaml"]) == 0
    made = files(tiny)
    assert files(tmp_path) == made
    drawn = [file for file in made if file.suffix == ".svg"]
    truths = {f"truth-ppmi-{entry.truth}.svg" for entry in Factory.of(TINY).config.metrics.values()}
    others = {"words.svg", "directions.svg", "example.svg", "claims.svg"}
    assert {file.name for file in drawn} == {*others, *truths}
    # the table of the figures is beside them
    tables = {file.name for file in made if file.suffix == ".csv" and file.parent.name == "figures"}
    assert tables == {"words.csv", "truth-ppmi.csv", "directions.csv", "example.csv", "claims.csv"}


def test_what_an_edit_re_runs(monkeypatch):
    """What trains and measures is the code of models; what summarises, a config and the command line are not."""
    monkeypatch.chdir(ROOT)

    def all_steps(config):
        factory = Factory.of(config)
        model = steps.model_step(factory, next(iter(factory.cells.values())))
        return {"model": model, **factory.table_steps(), **factory.figure_steps()}

    made = all_steps(TINY)
    closures = {
        name: code.closure(step.function.partition(":")[0], *step.modules) for name, step in made.items()
    }

    def stale(module):
        # figures draw with tools of their own, which may need anything below them
        drawn = set(Factory.of(TINY).figure_steps())
        return {name for name, part in closures.items() if module in part} - drawn

    for module in (
        "validation.planted_bias.measuring",
        "validation.planted_bias.corpus",
        "biasgrid.models.directions",
        "biasgrid.models.words",
        "biasgrid.metrics.weat",
        "biasgrid.metrics.mac",
    ):
        assert stale(module) == {"model"}
    assert "model" in stale("validation.planted_bias.training")
    assert "model" not in stale("validation.planted_bias.recovery")
    assert stale("validation.planted_bias.markdown") == {"recovery.md", "claims.md"}
    # one module writes both texts
    assert stale("validation.planted_bias.estimates") == {
        "claims.csv",
        "figures/claims.csv",
        "claims.md",
        "recovery.md",
    }
    assert not [
        name
        for name in closures["model"]
        if re.match(r"biasgrid\.(config|cli|figures|tables|study|plan)\b", name)
    ]
    labelled = TINY["metrics"]["weat"] | {"label": "W"}
    other = all_steps(TINY | {"metrics": TINY["metrics"] | {"weat": labelled}})
    changed = {name for name in made if made[name].depends_on != other[name].depends_on}
    drawn = {"words", "directions", "example", "claims"}
    drawn |= {f"truth-ppmi-{name}" for name in ("mean", "sd", "absolute")}
    assert changed == {"recovery.md", "claims.md", *drawn}


@pytest.mark.slow
def test_replicates_have_one_plan_and_sentences_of_their_own(tiny):
    records = [json.loads((tiny / f"results/tiny/models/ppmi/0.25/0.3/{i}.json").read_text()) for i in (1, 2)]
    assert records[0]["planned"] == records[1]["planned"]
    assert records[0]["truth"] != records[1]["truth"]
    other = json.loads((tiny / "results/tiny/models/ppmi/0.75/0.3/1.json").read_text())
    assert np.mean(other["truth"]) > 0.6 > 0.4 > np.mean(records[0]["truth"])


@pytest.mark.slow
def test_the_planted_bias_is_recovered(tiny):
    models = pd.read_csv(tiny / "results" / "tiny" / "factory.csv")
    models = models[models["vectors"] == "word+context"]
    words = models[(models["level"] == "word") & (models["truth"] == "signed")]
    squares = words[words["what"] == "r_squared"].set_index(["metric", "mu", "sigma", "replicate"])["value"]
    # .95 in the specification's prototype
    assert squares["same"].min() > 0.85
    # scores of WEAT and SAME differ by a factor, the same for all words
    for metric in ("weat", "same_skew"):
        assert np.allclose(squares[metric], squares["same"])
    assert squares["mac"].max() < 0.5
    values = models[(models["level"] == "set") & (models["truth"] == "mean")]
    skew = values[values["metric"] == "same_skew"].groupby("mu")["value"]
    assert skew.max()[0.25] < 0 < skew.min()[0.75]

    recovered = pd.read_csv(tiny / "results" / "tiny" / "recovery.csv")
    mean = only(recovered, "same", "word", "signed")
    assert mean["value"] == pytest.approx(squares["same"].mean())
    assert mean["models"] == 4
    x, y = values.loc[values["metric"] == "same_skew", ["true", "value"]].to_numpy().T
    found = only(recovered, "same_skew", "set", "mean")
    assert found["value"] == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)
    assert found["p_value"] < 0.001


def records(folder):
    """Setting of each model -> its record."""
    files = (folder / "results" / "tiny" / "models").rglob("*.json")
    found = [json.loads(file.read_text()) for file in files]
    return {(record["mu"], record["sigma"], record["replicate"]): record for record in found}


@pytest.mark.slow
def test_both_kinds_of_vectors_are_of_one_training(tiny):
    """What a record says of each kind is what SAME's definition gives for a matrix that is trained here once."""
    record = records(tiny)[0.75, 0.3, 2]
    sentences, truth = corpus(TEMPLATES, OCCUPATIONS, np.array(record["planned"]), record["corpus_seed"])
    assert truth.tolist() == record["truth"]
    words, own, context = train(sentences, "ppmi", trainer_parameters("ppmi", {}), record["corpus_seed"])
    place = {word: i for i, word in enumerate(words)}
    assert list(record["measured"]) == ["word+context", "word"]
    for kind, vectors in {"word": own, "word+context": own + context}.items():
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        male, female = (units[[place[w] for w in group]].mean(axis=0) for group in TEMPLATES.groups)
        expected = units[[place[w] for w in OCCUPATIONS]] @ (male - female) / np.linalg.norm(male - female)
        found = record["measured"][kind]["metrics"]
        assert np.allclose(found["same_skew"]["words"], expected, atol=1e-6)
        assert found["same"]["value"] == pytest.approx(np.abs(expected).mean(), abs=1e-6)


@pytest.mark.slow
def test_one_kind_of_vectors_is_measured_as_it_is_beside_the_other(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(tiny / "data", tmp_path / "data")
    path = write_config(tmp_path / "config", TINY | {"trainers": {"ppmi": {"vectors": ["word"]}}})
    assert main(["step", str(path), "model ppmi/0.25/0.3/1"]) == 0
    alone = records(tmp_path)[0.25, 0.3, 1]["measured"]
    assert alone == {"word": records(tiny)[0.25, 0.3, 1]["measured"]["word"]}


@pytest.mark.slow
def test_the_tables_of_the_figures_are_the_correlations_of_the_records(tiny):
    results = tiny / "results" / "tiny"
    recovered = pd.read_csv(results / "recovery.csv").set_index(
        ["vectors", "metric", "level", "truth", "what"]
    )["value"]
    words = pd.read_csv(results / "figures" / "words.csv")
    sets = pd.read_csv(results / "figures" / "truth-ppmi.csv")
    found = records(tiny)
    assert len(words) == 4 * 2 * 2
    assert len(sets) == 4 * 2
    for row in words.itertuples():
        record = found[row.mu, row.sigma, row.replicate]
        truth = (
            np.array(record["truth"]) if row.truth == "signed" else np.abs(np.array(record["truth"]) - 0.5)
        )
        scores = record["measured"][row.vectors]["metrics"]["weat"]["words"]
        assert row.weat == pytest.approx(np.corrcoef(scores, truth)[0, 1], abs=1e-5)
    for row in sets.itertuples():
        record = found[row.mu, row.sigma, row.replicate]
        assert row.true_sd == pytest.approx(np.std(record["truth"]), rel=1e-5)
        assert row.weat == pytest.approx(
            record["measured"][row.vectors]["metrics"]["weat"]["value"], rel=1e-5
        )
    for kind in ("word", "word+context"):
        mine = words[(words["vectors"] == kind) & (words["truth"] == "signed")]
        assert recovered[kind, "weat", "word", "signed", "positive"] == (mine["weat"] > 0).mean()
        part = sets[sets["vectors"] == kind]
        r = np.corrcoef(part["true_mean"], part["semaxis"])[0, 1]
        assert recovered[kind, "semaxis", "set", "mean", "pearson"] == pytest.approx(r, abs=1e-4)


@pytest.mark.slow
def test_the_tables_to_read_are_those_of_recovery_csv(tiny):
    results = tiny / "results" / "tiny"
    recovered = pd.read_csv(results / "recovery.csv")
    tables = markdown_tables((results / "recovery.md").read_text())
    assert [next(iter(table)) for table in tables] == ["metric"] * 3
    assert tables[0].columns[1] == "Counts, word + context: R²"
    same = only(recovered, "same", "word", "signed")
    printed = tables[0].set_index("metric").loc["SAME"].iloc[0]
    assert printed == f"{same['value']:.2f} ({same['sd']:.2f})".replace("0.", ".")


def markdown_tables(text):
    """Tables of a Markdown file."""
    lines, tables = text.splitlines(), []
    for i, line in enumerate(lines):
        if line.startswith("| --- "):
            found = [lines[i - 1], *itertools.takewhile(lambda row: row.startswith("|"), lines[i + 1 :])]
            head, *rows = ([cell.strip() for cell in row.strip("|").split("|")] for row in found)
            tables.append(pd.DataFrame(rows, columns=head))
    return tables


def test_words_alone_do_not_see_what_sums_with_contexts_see():
    """Occupations stand in the same sentences: words' own factors see what contexts they share, and that is all."""
    planned = plan(0.5, 0.35, len(OCCUPATIONS), seed=5)
    sentences, truth = corpus(TEMPLATES, OCCUPATIONS, planned, seed=6)
    words, own, context = train(sentences, "ppmi", trainer_parameters("ppmi", {}), seed=0)
    place = {word: i for i, word in enumerate(words)}
    squares = []
    for vectors in (own + context, own):
        male, female, neutral = (vectors[[place[w] for w in s]] for s in (*TEMPLATES.groups, OCCUPATIONS))
        scores = metrics.REGISTRY["same_skew"].function([male, female], [neutral]).detail["bias"].values[0]
        squares.append(np.corrcoef(scores, truth)[0, 1] ** 2)
    assert squares[0] > 0.9
    assert squares[1] < 0.2


def test_word2vec_is_the_same_each_time():
    sentences, _ = corpus(TEMPLATES, OCCUPATIONS[:20], np.full(20, 0.5), seed=1)
    params = trainer_parameters("word2vec", {"epochs": 1, "vector_size": 8})
    words, own, context = train(sentences, "word2vec", params, seed=3)
    again, same, same_context = train(sentences, "word2vec", params, seed=3)
    assert words == again
    assert np.array_equal(own, same)
    assert np.array_equal(context, same_context)
    assert own.shape == context.shape
    assert not np.array_equal(own, train(sentences, "word2vec", params, seed=4)[1])
    without = trainer_parameters("word2vec", params | {"hs": 1, "negative": 0})
    assert train(sentences, "word2vec", without, seed=3)[2] is None


def test_a_metric_of_a_plugin_appears_by_itself(tmp_path, monkeypatch):
    for name in ("_entries", "_modules", "_read"):
        monkeypatch.setattr(metrics.REGISTRY, name, copy.copy(getattr(metrics.REGISTRY, name)))
    (tmp_path / "planted_toys.py").write_text(
        "from biasgrid.metrics.registry import Metric, Score\n"
        "def nothing(targets, attributes):\n    return Score(0.0)\n"
        "METRICS = [Metric('toy', 'Toy', nothing, (2, 'n'), (0.0, 1.0), 0.0, ''),\n"
        "           Metric('crowd', 'Crowd', nothing, (4, 1), (0.0, 1.0), 0.0, '')]\n"
    )
    found = Factory.of(TINY | {"plugins": ["planted_toys.py"]}, root=tmp_path).config.metrics
    assert to_record(found["toy"]) == {
        "metric": "toy", "label": "Toy", "params": {}, "groups": "targets", "split": False, "truth": "absolute",
    }  # fmt: skip
    assert "crowd" not in found
    assert found["weat"].split


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mu": [1.5]}, "mu: 0: 1.5 is not allowed: it should be less than or equal to 1"),
        ({"trainers": {"gpt": {}}}, "trainers: gpt: unknown trainer 'gpt'; allowed: ppmi, word2vec, bert"),
        ({"trainers": {"ppmi": {"params": {"dimensions": 1}}}}, "trainers: ppmi: dimensions: 1 is not allowed"),
        ({"trainers": {"word2vec": {"params": {"workers": 2}}}}, "trainers: word2vec: workers: is always 1"),
        ({"trainers": {"ppmi": {"params": {"context_vectors": True}}}}, "unknown parameter 'context_vectors'; "),
        ({"trainers": {"word2vec": {"params": {"hs": 1}}}}, "trainers: word2vec: hierarchical softmax (hs) has no "),
        ({"vectors": ["context"]}, "vectors: 0: unknown value 'context'; did you mean 'contextual'? allowed: word"),
        ({"metrics": {"weet": {}}}, "metrics: weet: unknown metric 'weet'"),
        ({"metrics": {"rnd": {"groups": "attributes"}}}, "metrics: rnd: rnd does not take two groups as attributes"),
        ({"metrics": {"ripa": {"groups": "attributes"}}}, "metrics: ripa: "),
        ({"replicate": 3}, "unknown key 'replicate'; did you mean 'replicates'? allowed: "),
    ],
)  # fmt: skip
def test_a_wrong_config_is_one_line(tmp_path, capsys, wrong, message):
    path = write_config(tmp_path, TINY | wrong)
    assert main(["step", str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert error.startswith(f"biasgrid: {path}: ")


def test_a_detail_that_a_metric_does_not_have_is_one_line(tmp_path, capsys, monkeypatch):
    path = write_config(tmp_path, TINY | {"metrics": {"mac": {"words": "target_eval"}}})
    model = next(iter(Factory.read(path).cells))
    assert main(["step", str(path), f"model {model}"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("biasgrid: metrics: mac: words: it has no detail 'target_eval'; it has ")
    assert error.count("\n") == 1
    assert not Factory.read(path).paths.model_file(model).exists()


def test_what_is_not_there_is_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_config(tmp_path / "config", TINY)
    assert main(["step", str(path), "model ppmi/0.3/0.3/1"]) == 2
    assert "unknown step 'model ppmi/0.3/0.3/1'; did you mean " in capsys.readouterr().err
    assert main(["step", str(path)]) == 2
    assert "ppmi/0.25/0.3/1.json: cannot read it" in capsys.readouterr().err
    path = write_config(tmp_path / "config", TINY | {"templates": "nowhere"})
    assert main(["step", str(path), "model ppmi/0.25/0.3/1"]) == 2
    assert capsys.readouterr().err.startswith("biasgrid: data/templates/nowhere.json: cannot read it")
    templates = tmp_path / "wrong.json"
    templates.write_text(json.dumps({"templates": {"he/she": ["[MASK] is one of the OCCUPATIONs"]}}))
    with pytest.raises(
        Exception, match=r"'\[MASK\] is one of the OCCUPATIONs': expected \[MASK\] and OCCUPATION"
    ):
        Templates.read(templates)
    assert not (tmp_path / "results").exists()


def test_the_committed_config_has_the_papers_grid():
    """11 means by 6 standard deviations by 5 replicates."""
    committed = Factory.read(ROOT / "validation" / "planted_bias" / "factory.yaml")
    assert sum(cell.place["trainer"] == "ppmi" for cell in committed.cells.values()) == 330


@pytest.mark.slow
def test_every_metric_of_the_committed_config_has_a_value(tmp_path, monkeypatch):
    """Of the roles that the config gives it: RNSB has none of two pronouns a side, of which none can be held out."""
    monkeypatch.chdir(ROOT)
    committed = yaml.safe_load((ROOT / "validation" / "planted_bias" / "factory.yaml").read_text()) | {
        "results": str(tmp_path)
    }
    factory = Factory.of(committed)
    factory.steps["model ppmi/0.5/0.35/1"].run()
    for measured in json.loads(factory.paths.model_file("ppmi/0.5/0.35/1").read_text())["measured"].values():
        statuses = {name: found["status"] for name, found in measured["metrics"].items()}
        # of two groups: the templates have no four
        of_vectors = [
            name
            for name, metric in metrics.REGISTRY.items()
            if metric.needs == "vectors" and metric.template[0] != 4
        ]
        assert statuses == dict.fromkeys(of_vectors, "ok")
    # as README.md says, these get occupations in two sets
    two = {name for name, entry in factory.config.metrics.items() if entry.split}
    assert two == {"weat", "weat_es", "rnsb", "generalized_weat", "indirect_bias"}
