"""Numbers that a page repeats from its table in docs/numbers are the table's."""

import csv

import pandas as pd
import pytest
from conftest import ROOT


def rows(name):
    with (ROOT / "docs" / "numbers" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        return {row[table.fieldnames[0]]: row for row in table}


def text(page):
    return " ".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").split())


def interval(row, value, low="low", high="high"):
    return f"{row[value]} [{row[low]}, {row[high]}]".replace("-", "−").replace("0.", ".")


@pytest.mark.parametrize("pairs", ["all", "stereotypes", "violations of stereotypes"])
def test_crows_pairs(pairs):
    row = rows("crows_pairs")[pairs]
    cells = [
        interval(row, model, f"{model}_low", f"{model}_high") for model in ("smollm2_135m", "bert_tiny_brown")
    ]
    assert f"| {pairs} | {int(row['n']):,} | {cells[0]} | {cells[1]} |" in text("language_models")


def test_bias_types_of_crows_pairs():
    found, page = rows("crows_pairs"), text("language_models")
    assert f"sexual orientation ({found['sexual orientation']['smollm2_135m']}," in page
    assert f"race and colour ({found['race and colour']['bert_tiny_brown']}," in page
    assert f"nationality ({found['nationality']['bert_tiny_brown']}," in page
    assert f"In race and colour, SmolLM2's share is {found['race and colour']['smollm2_135m']}." in page


def test_seat():
    row = rows("seat")["names of men and women, career and family"]
    said = (
        f"MiniLM gives {row['minilm_words']} with the vectors of words and {row['minilm_sentences']} with those of "
        f"sentences; GloVe gives {row['glove_6b_50d']}"
    )
    assert said in text("language_models")


def test_grammatical_gender():
    found, page = rows("languages_grammar"), text("languages")
    french = found["French, spaCy 3.8.0"]
    effect = interval(french, "masculine_feminine_nouns")
    weat7 = french["weat7"].replace("-0.", "−.")
    assert f"the effect size is {effect}, while weat7 (maths and arts) gives {weat7}" in page
    spanish, other = (
        interval(found[f"{language}, encoder"], "masculine_feminine_nouns")
        for language in ("Spanish", "French")
    )
    assert f"for example {spanish} in Spanish and {other} in French" in page


def test_missing_words_of_languages():
    found, page = rows("languages_words"), text("languages")
    english, french, japanese = found.values()
    said = f"spaCy's English lacks {english['missing']} of {english['words']} words, its French "
    assert f"{said}{french['missing']} of {french['words']}." in page
    without = f"{japanese['tests_without_value']} of {japanese['tests']} tests have no value"
    assert f"Japanese lacks {japanese['missing']} of {japanese['words']}, so {without}" in page


def test_outside_measures():
    found, page = rows("validity"), text("words")
    share, exact = found["women in 2022 (BLS)"], found["women in 2022 (BLS), exact words"]
    assert f"RIPA towards women correlates {interval(share, 'pearson')} with the share of women" in page
    assert f"For the {exact['words']} exact words it is {interval(exact, 'pearson')}," in page
    assert f"matters less: {share['corrected']} (" in page


def test_sizes_of_installs():
    found, page = rows("installs"), text("install")
    small, language = (found[name] for name in ("workflow, figures", "language"))
    said = f"`workflow` and `figures` download {small['download_mb']} MB. `language` downloads "
    sizes = (f"{int(language[key]):,} MB" for key in ("download_mb", "cuda_mb"))
    assert said + "{}, of which {} are CUDA.".format(*sizes) in page
    assert f"`make study` downloads {found['make study']['download_mb']} MB" in page


def test_models_trained_here():
    found, page = rows("text8"), text("corpora")
    low, *_, high = sorted(row["men"] for row in found.values())
    assert f"correlation with human similarity ratings (MEN) is {low} to {high}" in page
    low, *_, high = sorted(row["cpu_minutes"] for row in found.values())
    assert f"in {low} to {high} minutes of CPU time each" in page
    epochs = rows("trainings")["epochs"]
    beyond = f"{epochs['values_beyond_the_seeds']} of {epochs['values_measured']} values are beyond"
    assert f"With {epochs['values'].replace(', ', ' and ')} epochs, {beyond} the seeds" in page


def of_bert(picture, vectors, **where):
    """Return the models that a picture of the fine-tuned BERT shows and that learnt the injected bias."""
    table = pd.read_csv(ROOT / "docs" / "images" / f"{picture}.csv")
    for column, value in ({"trainer": "bert", "judged": "yes", "vectors": vectors} | where).items():
        table = table[table[column] == value]
    assert len(table) == 62
    return table


@pytest.mark.parametrize("vectors", ["contextual", "input"])
@pytest.mark.parametrize(
    ("picture", "against"), [("planted-words", "injected"), ("planted-words-unmasking", "unmasking")]
)
def test_scores_of_words_in_the_fine_tuned_bert(picture, against, vectors):
    found = rows("schroeder_bert_words")
    shown = {"SAME; WEAT": ("same", "signed"), "Direct Bias, signed": ("direct_bias", "signed")}
    for row, (metric, truth) in (shown | {"MAC, unsigned": ("mac", "absolute")}).items():
        squares = of_bert(picture, vectors, truth=truth)[metric] ** 2
        cells = [found[row][f"{against}_{vectors}{end}"] for end in ("", "_sd")]
        assert [float(cell) for cell in cells] == pytest.approx([squares.mean(), squares.std()], abs=0.0051)


@pytest.mark.parametrize("vectors", ["contextual", "input"])
def test_values_of_sets_in_the_fine_tuned_bert(vectors):
    found = rows("schroeder_bert_sets")
    shown = {
        "mean": {"SAME skew": "same_skew"},
        "sd": {"SAME stereotype": "same_stereotype", "WEAT's effect size": "weat_es"},
        "absolute": {"SAME": "same", "Direct Bias": "direct_bias", "MAC": "mac"},
    }
    for truth, metrics in shown.items():
        table = of_bert(f"planted-truth-{truth}", vectors)
        column = f"{'distance' if truth == 'absolute' else truth}_{vectors}"
        for row, metric in metrics.items():
            r = table[metric].corr(table[f"true_{truth}"])
            assert float(found[row][column]) == pytest.approx(r, abs=0.0051)
