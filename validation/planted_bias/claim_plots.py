"""Figures of a benchmark's models: directions, an example, included models, and the paper's claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from biasgrid.core.numbers import coefficient, plain, share, typeset
from biasgrid.figures.frame import Frame, empty_page, styled
from biasgrid.figures.palette import ABOVE, BELOW, DASHED, GREY, ZEBRA, colour_map
from biasgrid.figures.text import SMALL, fit_text, line_count, sentences
from biasgrid.figures.types.rows import height, rows, width
from biasgrid.figures.visuals import few_ticks, legend_line, legend_mark, under_head

from .labels import ACT_LABELS, VECTORS
from .thresholds import ALIKE, BIASED, GATE, NEAR_0, SEEN, WORSE, near_0_by_chance
from .truth_plots import COLOURS, HOLLOW, NOT_JUDGED, dot, hollow_dot, is_judged, tick_numbers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

EXPERIMENTS = {
    "E1": "An example (the paper's figure 2)",
    "E2": "Injected bias (5.1)",
    "E3": "Words (5.2)",
    "E4": "Directions (5.2.1)",
    "E5": "Comparability (5.2.2)",
    "E6": "Sets (5.3)",
    "E7": "Halves of the words (5.3.1)",
    "kinds": "Context (not in the paper)",
    "downstream": "Downstream errors (not in the paper)",
}
VERDICTS = {
    "holds": {"marker": "o", "color": ABOVE, "markersize": 4.5},
    "cannot be said": {"marker": "o", "markersize": 4.5, "markerfacecolor": "white", "markeredgecolor": GREY},
    "does not hold": {"marker": "X", "color": BELOW, "markersize": 5.5, "markeredgewidth": 0},
}


@styled
def directions(table: pd.DataFrame, labels: Mapping[str, str]) -> figure.Figure:
    """Draw the difference of SAME's and Direct Bias's R² of words, by the angle of their directions.

    There is a panel per trainer and kind of vectors, and a mark per model.

    Parameters
    ----------
    table
        One row per model and kind of vectors, in the format of figures/directions.csv.
    labels
        The printed text of a trainer's key.
    """
    title = "Does Direct Bias lose where its direction is another one?"
    if not {"same", "direct_bias"} <= set(table) or not (table["same"] - table["direct_bias"]).notna().any():
        return empty_page(title, "SAME or Direct Bias has no scores of words.")
    table = table.assign(lost=table["same"] - table["direct_bias"])
    low, high = min(table["lost"].min(), -0.02), max(table["lost"].max(), 0.1)
    lines = [line for line in (ALIKE, WORSE) if line < 1.06 * high]
    note = (
        "Each mark is a model. Across: degrees between Direct Bias's direction, the first principal component of the "
        "pairs, and SAME's, the difference of the groups' means. Up: how much more of the injected share SAME's "
        "scores of words recover than Direct Bias's, both with their sign (difference of R²). Schroeder et al. call "
        f"Direct Bias similar up to {plain(ALIKE)} and worse from {plain(WORSE)} on{' (dashed)' if lines else ''}, "
        f"of models where SAME has {plain(SEEN)} or more. The paper takes Direct Bias without its sign: "
        "claims.csv has that reading, too. ρ: rank correlation, of all judged models."
    )
    legend = [
        (f"SAME has R² of {plain(SEEN)} or more", dot(ABOVE)),
        (
            f"SAME has less than {plain(SEEN)}",
            legend_mark(marker="^", markersize=4, markeredgewidth=0, color="#E69F00"),
        ),
    ]
    parts = _parts(table)
    if not is_judged(table).all():
        legend.append((NOT_JUDGED, hollow_dot()))
    heads = {}
    for (trainer, kind), part in parts.items():
        judged_rows = part[is_judged(part) & part["lost"].notna()]
        rho = judged_rows["angle"].rank().corr(judged_rows["lost"].rank()) if len(judged_rows) > 2 else np.nan
        worse = ((judged_rows["lost"] > WORSE) & (judged_rows["same"] >= SEEN)).sum()
        text = f"ρ {typeset(rho, form=coefficient) or '–'}; worse in {worse} of {len(judged_rows)} models"
        heads[trainer, kind] = _head(trainer, kind, labels), text
    page = Frame(title, notes=sentences(note))
    panels = _panels(page, heads, "degrees", "R² of SAME − R² of Direct Bias")
    for key, axes in panels.items():
        part = parts[key]
        judged_mask, seen_mask = is_judged(part), part["same"] >= SEEN
        for line in lines:
            axes.axhline(line, **DASHED)
        axes.axhline(0, color="#AAAAAA", linewidth=0.6, zorder=1)
        for mask, look in (
            (judged_mask & ~seen_mask, {"color": "#E69F00", "s": 8, "marker": "^", "linewidths": 0}),
            (judged_mask & seen_mask, {"color": ABOVE, "s": 8, "linewidths": 0}),
            (~judged_mask, {"s": 8} | HOLLOW),
        ):
            axes.scatter(part.loc[mask, "angle"], part.loc[mask, "lost"], **look)
        pad = 0.06 * (high - low)
        axes.set(xlim=(0, table["angle"].max() * 1.06), ylim=(low - pad, high + pad))
    return page.done(legend)


@styled
def example(table: pd.DataFrame, labels: Mapping[str, str]) -> figure.Figure:
    """Draw effect sizes of the same six words for each way to divide them into two sets.

    There is a panel per trainer and kind of vectors, with ten marks per model.

    Parameters
    ----------
    table
        One row per model and kind of vectors, in the format of figures/example.csv.
    labels
        The printed text of a trainer's key.
    """
    title = "One bias, ten effect sizes: WEAT of the same six words"
    names = [name for name in table if name.removeprefix("example_").isdigit()]
    if not names or not table[names].notna().any(axis=None):
        return empty_page(title, "no model has the six words of the paper's example.")
    note = (
        "Footballer, bishop, lawmaker, hairdresser, sociologist and nurse can be parted into two sets of three in "
        "ten ways. Each column of marks is a model. Across: SAME of the six words, which needs no sets. Up: the size "
        "of WEAT's effect size d for each of the ten ways. Words and vectors of a column are the same. Above each "
        f"panel: the share of models whose smallest |d| of the ten is below {plain(NEAR_0)}, of judged models in "
        f"which these words have a mean bias above {plain(BIASED)}. By chance that share is "
        f"{share(near_0_by_chance())}: that of draws of six independent normal scores."
    )
    looks = {
        "largest": {"marker": "^", "color": ABOVE, "s": 11},
        "smallest": {"marker": "v", "color": BELOW, "s": 11},
    }
    legend = [
        ("the largest of ten", legend_mark(marker="^", markersize=4.5, markeredgewidth=0, color=ABOVE)),
        ("the smallest", legend_mark(marker="v", markersize=4.5, markeredgewidth=0, color=BELOW)),
        ("the others", legend_mark(marker="o", markersize=2.5, markeredgewidth=0, color="#999999")),
    ]
    if not is_judged(table).all():
        legend.append((f"{NOT_JUDGED} (all ten)", hollow_dot()))
    parts = _parts(table)
    heads = {}
    for key, part in parts.items():
        biased_rows = part[
            is_judged(part) & (part["example_bias"] > BIASED) & part["example_smallest"].notna()
        ]
        near = (biased_rows["example_smallest"] < NEAR_0).mean()
        share_text = f"{share(near)} of {len(biased_rows)} models" if len(biased_rows) else "no biased model"
        heads[key] = _head(*key, labels), f"smallest below {plain(NEAR_0)}: {share_text}"
    page = Frame(title, notes=sentences(note))
    panels = _panels(page, heads, "SAME", "|d|")
    for key, axes in panels.items():
        part = parts[key]
        judged_rows = part[is_judged(part)]
        other_rows = part[~is_judged(part)]
        for name in names:
            axes.scatter(judged_rows["example_same"], judged_rows[name], s=2.5, color="#999999", linewidths=0)
            axes.scatter(other_rows["example_same"], other_rows[name], s=4, **HOLLOW)
        for name, look in looks.items():
            axes.scatter(judged_rows["example_same"], judged_rows[f"example_{name}"], linewidths=0, **look)
        axes.set(ylim=(-0.08, 2.08), xlim=(0, np.nanmax(table["example_same"]) * 1.06 or 1), yticks=[0, 1, 2])
    return page.done(legend)


@styled
def gate(table: pd.DataFrame, labels: Mapping[str, str]) -> figure.Figure:
    """Draw how well models reproduce the injected bias: R² of unmasking bias and injected share, a mark per model.

    Parameters
    ----------
    table
        One row per model, in the format of figures/gate.csv.
    labels
        The printed text of a trainer's key.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    title = "Do models reproduce the bias of their sentences?"
    if table.empty:
        return empty_page(title, "no model fills gaps.")
    name, colours = COLOURS["mu"]
    note = (
        "Each mark is a model: R² over occupations of the unmasking bias (the probability of the male pronoun in "
        "test sentences) and the share of male pronouns in the sentences that it was trained on. Models above "
        f"the line ({plain(GATE)}, the paper's) are included, the others are shown and excluded. Marks of one "
        "standard deviation stand in the order of their injected means."
    )
    sigmas, means = (sorted(table[key].unique()) for key in ("sigma", "mu"))
    shades = ScalarMappable(Normalize(means[0], max(means[-1], means[0] + 1e-9)), colour_map("mu", colours))
    # With many means, the position shows the mean; with few means, the legend lists all.
    has_few_means = len(means) <= 5
    markers = dict(zip(means, "osD^v" if has_few_means else "o" * len(means), strict=False))
    ends = means if has_few_means else [means[0], means[-1]]
    legend = [
        (
            f"{name} {plain(mu)}",
            legend_mark(marker=markers[mu], markersize=4, markeredgewidth=0, color=shades.to_rgba(mu)),
        )
        for mu in dict.fromkeys(ends)
    ]
    legend.append(("hollow: excluded", hollow_dot()))
    heads = {}
    for trainer, part in table.groupby("trainer", sort=False):
        judged_count = (part["judged"] == "yes").sum()
        heads[trainer, ""] = labels.get(trainer, trainer), f"{judged_count} of {len(part)} models are judged"
    page = Frame(title, notes=sentences(note))
    panels = _panels(page, heads, "injected standard deviation", "R²", least=4.6)
    for (trainer, _), axes in panels.items():
        axes.axhline(GATE, **DASHED)
        for row in table[table["trainer"] == trainer].itertuples():
            place = (means.index(row.mu) + 0.5) / len(means) - 0.5
            jitter = np.random.default_rng(row.replicate).uniform(-0.25, 0.25) / len(means)
            look = {"marker": markers[row.mu], "s": 14 if has_few_means else 8, "linewidths": 0.8}
            colour = shades.to_rgba(row.mu)
            is_full = row.judged == "yes"
            look |= (
                {"color": colour, "linewidths": 0}
                if is_full
                else {"edgecolors": [colour], "facecolors": "none"}
            )
            axes.scatter(sigmas.index(row.sigma) + 0.8 * place + jitter, row.gate, **look)
        axes.set(ylim=(-0.03, 1.03), xlim=(-0.55, len(sigmas) - 0.45), yticks=[0, 0.5, GATE, 1])
        axes.set_yticklabels(["0", "0.5", plain(GATE), "1"])
        axes.set_xticks(range(len(sigmas)), [plain(sigma) for sigma in sigmas])
    return page.done(legend)


@styled
def claims(table: pd.DataFrame, labels: Mapping[str, str]) -> figure.Figure:
    """Draw the claims' results, with a row per claim and a column per trainer and kind of vectors.

    Parameters
    ----------
    table
        One row per claim, trainer and kind of vectors, in the format of figures/claims.csv.
    labels
        The printed text of a trainer's key.
    """
    title = "Which claims of Schroeder et al. hold?"
    if table.empty:
        return empty_page(title, "no claim has a number.")
    note = (
        "Each number is what the claim is about, such as a mean difference of R² (claims.csv has its threshold and "
        "its 95 % interval over plans). A claim holds where the interval is on the claimed side of its threshold, "
        "and does not hold where it is on the other; where it contains the threshold, or fewer than 3 plans (20 of a "
        "correlation) have a number, nothing can be said. No interval is adjusted for how many claims there are: "
        "about one of 20 without any effect has a result by chance."
    )
    if (table["vectors"] == "behaviour").any():
        note += (
            " Words are compared with the injected bias. So are sets, except those of a model that fills gaps: they "
            "are compared with its unmasking bias, as in the paper."
        )
    kinds = table[["trainer", "vectors"]].drop_duplicates().itertuples(index=False, name=None)
    columns = [kind for kind in kinds if kind[1] != "behaviour"]
    places: dict[tuple, list[float]] = {column: [i] for i, column in enumerate(columns)}
    for trainer in table["trainer"].unique():
        # Draw the behaviour of a model across all columns of its trainer, because it is not a kind of vectors.
        places[trainer, "behaviour"] = [
            i for i, (column_trainer, _) in enumerate(columns) if column_trainer == trainer
        ]
    page = Frame(title, notes=sentences(note))
    cell, line = 0.78, 0.125
    left = page.inside - cell * len(columns)
    drawn = _claim_rows(table)
    texts = [fit_text(text, left - 0.3, SMALL) for _, text, _ in drawn]
    heights = [
        line * line_count(text) + (0.02 if cells else 0.06)
        for text, (_, _, cells) in zip(texts, drawn, strict=True)
    ]
    axes = page.panel(sum(heights))
    axes.set(xlim=(0, page.inside), ylim=(sum(heights), 0), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    for i, (trainer, kind) in enumerate(columns):
        text = fit_text(_head(trainer, kind, labels), cell - 0.06, SMALL)
        axes.text(
            left + cell * i + 0.03, -0.04, text, size=SMALL, va="bottom", weight="bold", linespacing=1.0
        )
    y = 0.0
    for i, (text, space, (_, _, cells)) in enumerate(zip(texts, heights, drawn, strict=True)):
        middle = y + space / 2
        if cells:
            if i % 2:
                axes.axhspan(y, y + space, color=ZEBRA, linewidth=0, zorder=0)
            axes.text(0.08, middle, text, size=SMALL, va="center", linespacing=1.1)
        else:
            axes.text(0, y + space - 0.03, text, size=SMALL, va="bottom", weight="bold")
        for row in cells:
            x = left + cell * float(np.mean(places[row.trainer, row.vectors])) + 0.1
            axes.plot([x], [middle], linestyle="", **VERDICTS[row.verdict])
            axes.text(x + 0.09, middle, typeset(row.value) or "–", size=SMALL, va="center")
        y += space
    return page.done([(name, legend_mark(**look)) for name, look in VERDICTS.items()])


@styled
def downstream(table: pd.DataFrame, labels: Mapping[str, str]) -> figure.Figure:
    """Draw R² of word scores and a model's errors with its interval.

    There is a row per metric, and a panel per trainer and kind of vectors.

    Parameters
    ----------
    table
        One row per metric, trainer and kind of vectors, in the format of figures/downstream.csv.
    labels
        The printed text of the key of a metric or a trainer.
    """
    title = "Which scores of words go with errors in a task?"
    if table.empty or not table["value"].notna().any():
        return empty_page(title, "no model has a task.")
    note = (
        "R² of occupations' scores with the model's downstream errors, with the sign of r: right of 0 the model errs "
        "towards the gender that the score says. Bars: 95 % intervals over plans. Scores without a direction are "
        "correlated, as distances from their neutral value, with the size of the errors. In the task another word "
        f"tells the right pronoun: {_tasks(table, labels)}. A model that hardly reads that word repeats its "
        "unmasking bias in other sentences."
    )
    labels = ACT_LABELS | labels
    table = table.assign(metric=table["claim"].str.removeprefix("errors_"))
    best = table.groupby("metric")["value"].max()
    metrics = sorted(best.index, key=lambda metric: (-best[metric], metric))
    names = {metric: labels.get(metric, metric) for metric in metrics}
    of_vectors = table[table["vectors"] != "behaviour"]
    columns = list(of_vectors[["trainer", "vectors"]].drop_duplicates().itertuples(index=False, name=None))
    ends = table[["value", "low", "high"]].to_numpy()
    look = {"color": ABOVE, "marker": "o", "markersize": 4, "linestyle": ""}
    page = Frame(title, notes=sentences(note))
    panels = page.panels(
        {column: _head(*column, labels) for column in columns}, height(names, 2), labels=width(names)
    )
    for (trainer, kind), axes in panels.items():
        marks = table[(table["trainer"] == trainer) & table["vectors"].isin((kind, "behaviour"))]
        rows(axes, marks.assign(row=marks["metric"], series=""), names, {"": look}, neutral=0)
        axes.set_xlim(min(np.nanmin(ends), 0) - 0.03, max(np.nanmax(ends), 0.1) + 0.03)
        few_ticks(axes.xaxis, 4)
        tick_numbers(axes, "x")
        axes.set_xlabel("R², with the sign of r", labelpad=1)
    return page.done([("mean over models, with its interval", legend_line(**look | {"linestyle": "-"}))])


def _tasks(table: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """Describe the accuracy of each trainer's models in the task, and the reliability of their errors."""
    texts = []
    for trainer, part in table.groupby("trainer", sort=False):
        accuracy, alpha = (part[name].mean() for name in ("accuracy", "reliability"))
        task_text = (
            f"mean accuracy {typeset(accuracy, form=coefficient)} (chance: .50), "
            f"Cronbach's alpha of the errors {typeset(alpha, form=coefficient)}"
        )
        texts.append(
            f"{task_text} ({labels.get(trainer, trainer)})" if table["trainer"].nunique() > 1 else task_text
        )
    return "; ".join(texts)


def _parts(table: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the rows of each trainer and kind of vectors."""
    return dict(iter(table.groupby(["trainer", "vectors"], sort=False)))


def _head(trainer: str, kind: str, labels: Mapping[str, str]) -> str:
    return f"{labels.get(trainer, trainer)}, {VECTORS[kind]}"


def _panels(
    page: Frame,
    heads: Mapping[tuple[str, str], tuple[str, str]],
    x_label: str,
    y_label: str,
    least: float = 2.9,
) -> dict[tuple[str, str], Axes]:
    """Return the panels, each with a heading, a text below it, and the names of its axes."""
    panels = page.panels({key: head for key, (head, _) in heads.items()}, 1.9, least=least)
    for key, axes in panels.items():
        under_head(axes, f"{heads[key][1]}\n↑ {y_label}")
        axes.spines["left"].set_visible(True)
        few_ticks(axes.xaxis, 5)
        few_ticks(axes.yaxis, 5)
        tick_numbers(axes)
        axes.set_xlabel(x_label, labelpad=1.5, size=SMALL)
    return panels


def _claim_rows(table: pd.DataFrame) -> list[tuple[str, str, list]]:
    """Return experiment, text, and the rows of claims.csv for each row of the figure; a heading has no such rows."""
    rows: list[tuple[str, str, list]] = []
    for experiment, name in EXPERIMENTS.items():
        experiment_rows = table[table["experiment"] == experiment]
        if len(experiment_rows):
            rows.append((experiment, name, []))
        # Claims on several truths may share a text; the truths differ by trainer, except in claims about context.
        for _, claim_rows in experiment_rows.groupby(["claim", "text"], sort=False):
            rows.append((experiment, claim_rows["text"].iloc[0], list(claim_rows.itertuples())))
    return rows
