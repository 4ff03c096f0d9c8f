"""The overlays of language models that an open network fetches, planned and run on made files of the true formats."""

import csv
import json

import pytest
import yaml
from benchmarks import spanish_pairs
from conftest import ROOT
from in_process import make_measured
from snakemake.utils import update_config
from tiny_bert import older, weights_of, write_bert
from tiny_encoder import write_encoder

import biasgrid as bg
from biasgrid.core.errors import BiasgridError
from biasgrid.study.study import Study

# two pairs of bias types, with paraphrases and random pairs, and one of neither
SPANISH = """sent_more,sent_more_par,sent_more_ran,sent_less,sent_less_par,sent_less_ran,bias_type
 ábc d e.,ab d d e.,a b c.,abc f e.,ab d f e.,a b d.,gender
a gh b,a gh c b,a b e,a h b,a h c b,a b f,religion
d d e,,,d f e,,,
"""
LABELS = ("stereotype", "anti-stereotype", "unrelated")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_bert(tmp_path / "bert", older(weights_of(1, next_sentence=True)))
    return tmp_path


def merged(overlay, after):
    """A shipped config with an overlay after it."""
    config = yaml.safe_load((ROOT / "config" / f"{after}.yaml").read_text(encoding="utf-8"))
    update_config(config, yaml.safe_load((ROOT / "config" / f"{overlay}.yaml").read_text(encoding="utf-8")))
    config["published"] = [str(ROOT / path) for path in config.get("published", [])]
    return config


def planned(overlay, after, **changes):
    """The study of a config and an overlay whose masked model is the tiny one."""
    config = merged(overlay, after)
    (masked,) = (entry for entry in config["models"] if isinstance(entry, dict))
    (model,) = masked.values()
    model["source"] = {"type": "transformers", "path": "bert"}
    config["models"] = [masked]
    return Study.of(config | changes)


def values(study):
    """The value and status of every cell."""
    found = {}
    for key, cell in study.grid.cells.items():
        (result,) = json.loads(study.paths.cell_file(cell).read_text())["results"]
        found[key.split("/", 2)[2]] = result["value"], result["status"]
    return found


def stereoset_item(test, number, kind, terms):
    context = "ab c." if test == "intersentence" else "ab BLANK c."
    texts = [f"{term} a b." if test == "intersentence" else f"ab {term} c." for term in terms]
    options = [
        {"id": f"{test}{number}{label}", "sentence": text, "gold_label": label, "labels": []}
        for label, text in zip(LABELS, texts, strict=True)
    ]
    return {
        "id": f"{test}{number}",
        "bias_type": kind,
        "target": "x",
        "context": context,
        "sentences": options,
    }


def write_stereoset(folder):
    kinds = ("gender", "profession", "race", "religion")
    terms = ("d", "ef", "g"), ("h", "ab", "cde")
    data = {
        test: [
            stereoset_item(test, f"{kind}{number}", kind, of_item)
            for kind in kinds
            for number, of_item in enumerate(terms)
        ]
        for test in ("intrasentence", "intersentence")
    }
    path = folder / "data/sentences/stereoset/dev.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"version": "1.1", "data": data}))


@pytest.mark.slow
def test_stereoset_is_planned_and_measured_on_a_file_of_its_format(folder):
    pytest.importorskip("transformers")
    write_stereoset(folder)
    study = planned("with_stereoset", "crows_pairs", inference={}, figures=[])
    # four scores of four bias types of masked terms, and three of next sentences
    assert len(study.grid.cells) == 4 * 4 + 3 * 4
    make_measured(study)
    found = values(study)
    assert {status for _, status in found.values()} == {"ok"}
    assert found["stereoset_ss/stereoset_gender"][0] in (0, 50, 100)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_beto_is_planned_and_measured_on_sentences_of_the_authors_format(folder, encoding, capsys):
    pytest.importorskip("transformers")
    (folder / "es_en.csv").write_text(SPANISH + more_rows(), encoding=encoding)
    made = "data/sentences/spanish_pairs/pairs.csv"
    assert spanish_pairs.main(["es_en.csv", made]) == 0
    assert "11 pairs" in capsys.readouterr().out
    with open(made, encoding="utf-8", newline="") as file:
        first, second, third, *_ = csv.DictReader(file)
    assert (first["original_stereotype"], first["paraphrased"]) == ("ábc d e.", "yes")
    assert (second["random_antistereotype"], third["paraphrased"]) == ("a b f", "no")
    with open(ROOT / "data/measured/maddalozzo_pairs.csv", encoding="utf-8") as file:
        assert list(first) == next(csv.reader(file))
    study = planned("with_beto", "thesis4", inference={}, figures=[])
    measured_here = Study.read(ROOT / "config/thesis4.yaml", root=ROOT)
    assert study.grid.cells.keys() == measured_here.grid.cells.keys()
    assert study.queries.keys() == measured_here.queries.keys()
    make_measured(study)
    found = values(study)
    assert found["prop_cp/crows_es"][1] == found["sign_sz/es_with_paraphrase"][1] == "ok"


def more_rows():
    """A pair of each of the other bias types."""
    kinds = ("race-color", "socioeconomic", "nationality", "disability", "physical-appearance", "age")
    return "".join(f"a b {x},,,a {x} b,,,{kind}\n" for x, kind in zip("cdefgh", kinds, strict=True)) + (
        "a c,,,a d,,,sexual-orientation\na e,,,a f,,,gender\n"
    )


@pytest.mark.slow
def test_the_papers_example_is_measured_beside_its_printed_numbers(project, tmp_path):
    pytest.importorskip("transformers")
    encoder = write_encoder(tmp_path / "encoder")
    config = merged("with_bert_example", "caliskan")
    config["encoders"] = {"tiny": {"source": {"type": "file", "path": f"{encoder}/model.safetensors"}}}
    (model,) = config["models"][0].values()
    model["source"]["encoder"] = "tiny"
    del config["inference"], config["figures"]
    project.configure(config)
    project.run("--until", "tables")
    results = project.folder / "results" / "bert_example"
    with open(results / "comparison.csv", encoding="utf-8", newline="") as file:
        printed = {row["query_id"]: row for row in csv.DictReader(file)}
    assert {query: float(row["published"]) for query, row in printed.items()} == {
        "example_first": 1.7299,
        "example_more_biased_second": -0.0865,
        "example_more_biased_both": 1.6448e-5,
    }
    assert {row["verdict"] for row in printed.values()} == {"other vectors"}
    query = bg.Query.read(results / "queries" / "example_more_biased_both.json")
    assert [list(words) for words in query.target_sets] == [
        ["footballer", "lawmaker"],
        ["hairdresser", "nurse"],
    ]
    expected = bg.metrics.weat_es(query, bg.encode(query, encoder), ddof=0).value
    assert float(printed["example_more_biased_both"]["ours"]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "es_en.csv: cannot read it"),
        ("sent_mor,bias_type\na,b\n", "es_en.csv: unknown column 'sent_more'; did you mean 'sent_mor'?"),
    ],
)
def test_a_wrong_file_of_spanish_pairs_is_one_line(folder, capsys, content, said):
    if content:
        (folder / "es_en.csv").write_text(content)
    assert spanish_pairs.main(["es_en.csv", "made.csv"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    with pytest.raises(BiasgridError):
        spanish_pairs.convert(folder / "es_en.csv", folder / "made.csv")
    assert not (folder / "made.csv").exists()
