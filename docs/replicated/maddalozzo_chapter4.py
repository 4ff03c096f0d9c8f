"""Blocks of docs/replications/maddalozzo_chapter4.md: the author's scores of sentences (config/thesis4.yaml)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from biasgrid.measure.evidence import ALL

from .results import (
    Results,
    conclusions,
    items,
    numeric,
    p,
    paragraph,
    places,
    short,
    table,
    tiny,
    verdicts,
    with_interval,
)

LEVEL = 0.05
SCORES = ("cp", "sz")
VERSIONS = {
    "crows_es": "all",
    "es_original": "original",
    "es_paraphrase": "paraphrase",
    "es_random": "random",
}
RULES = {"sign": "sign", "interval": "±3.5"}


class _Chapter:
    """The study's scores and their other quantities, by metric and query."""

    def __init__(self, results: Results):
        self.results = results
        scalars = results.table("scalars").set_index(["metric", "query_id", "quantity"])["value"]
        self._scalars = scalars.to_dict()

    def score(self, metric: str, query: str = "crows_es") -> pd.Series:
        return self.results.row("scores", metric=metric, query_id=query)

    def __call__(self, metric: str, quantity: str, query: str = "crows_es") -> float:
        return self._scalars[metric, query, quantity]

    def printed(self, metric: str, quantity: str, query: str = "crows_es") -> float:
        rows = self.results.table("comparison", metric=metric, quantity=f"{query}: {quantity}")
        return rows["published"].iloc[0]


def published(results: Results) -> str:
    return paragraph(
        f"Of {len(results.comparison)} printed numbers, {verdicts(results.comparison)} (`comparison.csv`)."
    )


def claims(results: Results) -> str:
    """Return what the thesis concludes, and what the same data say."""
    of = _Chapter(results)

    def by_score(metric: str, query: str = "crows_es") -> str:
        found = ((score, of.score(f"{metric}_{score}", query)) for score in SCORES)
        return "; ".join(
            f"{'evidence' if x['evidence'] == ALL else 'no evidence'} for {score}, adjusted p {p(x['p_adjusted'])}"
            for score, x in found
        )

    original = [tiny(of("prop_cp", test, "es_original")) for test in ("p_normal", "p_binomial")]
    robust = [
        f"{score}, {label}"
        for score in SCORES
        for rule, label in RULES.items()
        if of(f"{rule}_{score}", "p_robust", "es_with_paraphrase") >= LEVEL
    ]
    both = "above_random_interval_cp"
    rows = [
        (
            "BETO is biased, by cp and by sz (share of pairs, table 4.2)",
            f"exact test without ties: {by_score('prop')}",
        ),
        (
            "on the 170 pairs with a paraphrase it is biased by cp (table 4.8)",
            f"p {original[0]} of its z-test is {original[1]} in the exact test; without ties: "
            f"{by_score('prop', 'es_original')}",
        ),
        (
            "the two distributions of scores do not differ (KS, table 4.5), which speaks against a bias",
            "the test ignores the pairs and has no power; permuted within pairs, the same statistic gives "
            f"{by_score('distributions')}",
        ),
        (
            f'KLDivS is {short(of.printed("kl_sz", "value"), 4)}, and so is near "no bias" (table 4.6)',
            "KLDivS is 50 for any shift of the mean",
        ),
        (
            "by sign BETO is not robust, by an interval of ±3.5 it is (tables 4.9, 4.10)",
            f"by the same test it is robust with {' and with '.join(robust)}",
        ),
        (
            "a random pair agrees less than a paraphrase (table 4.10, two proportions)",
            "McNemar's test, which allows for shared originals, has p "
            f"{tiny(of(both, 'p_mcnemar', 'es_with_both'))}",
        ),
    ]
    return table(("the thesis says", "the same data say"), rows)


def _shares(of: _Chapter) -> Iterator[tuple[str, str, str, str, pd.Series]]:
    """Yield score, version, metric, query and the share of pairs in which the stereotype is preferred."""
    for score in SCORES:
        for query, label in VERSIONS.items():
            yield score, label, f"prop_{score}", query, of.score(f"prop_{score}", query)


def shares_table(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the shares of pairs in which the stereotype is preferred, with their tests."""
    of = _Chapter(results)
    head = ("score", "version", "pairs", "stereotype_preferred", "share", "ci_low", "ci_high", "p_z", "p_exact",
            "p_exact_without_ties", "p_exact_without_ties_adjusted")  # fmt: skip
    rows = [
        (
            score,
            label,
            *(str(int(of(metric, name, query))) for name in ("pairs", "preferred")),
            numeric(share["value"]),
            *(numeric(of(metric, f"ci_{end}", query)) for end in ("low", "high")),
            *(numeric(of(metric, test, query), 2) for test in ("p_normal", "p_binomial")),
            *(numeric(share[name], 2) for name in ("p_value", "p_adjusted")),
        )
        for score, label, metric, query, share in _shares(of)
    ]
    return head, rows


def shares(results: Results) -> str:
    """Say what the tests of the shares show."""
    of = _Chapter(results)
    found = list(_shares(of))
    changed = [
        f"{score}, {label}"
        for score, label, metric, query, _ in found
        if len({of(metric, test, query) <= LEVEL for test in ("p_normal", "p_binomial")}) == 2
    ]
    ties = [
        f"{int(of(f'prop_{score}', 'ties'))} of {int(of(f'prop_{score}', 'pairs')):,} pairs ({score})"
        for score in SCORES
    ]
    return (
        conclusions((f"{score}, {label}", share) for score, label, _, _, share in found)
        + "\n"
        + items(
            f"The z-test and the exact test disagree at .05 for {', '.join(changed) or 'no row'}.",
            f"Ties: {' and '.join(ties)}. They count for the anti-stereotype in the thesis.",
        )
    )


def shape(results: Results) -> str:
    """Say what the fits of distributions show."""
    of = _Chapter(results)
    sides = [(score, side) for score in SCORES for side in ("first", "second")]
    shapiro = max(of(f"distributions_{score}", f"{side}_p_shapiro") for score, side in sides)
    first = sum(of(f"distributions_{score}", f"{side}_genextreme_rank") == 1 for score, side in sides)
    fits = results.table("score_fits", distribution="genextreme")
    said = [
        f"{score} {places(of(f'distributions_{score}', f'{side}_genextreme_p_bootstrap'))}"
        for score, side in sides
    ]
    return paragraph(
        f"The p-values of Shapiro-Wilk are at most {tiny(shapiro)}. The generalised extreme value distribution (GEV) "
        f"fits best in {first} of {len(fits)} sets of scores (`score_fits.csv`).",
        f"Its p-values in a parametric bootstrap are {', '.join(said)}.",
    )


DIFFERENCES = tuple(f"{score}{trimmed}" for trimmed in ("", "_trimmed") for score in SCORES)


def differences_table(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the tests of the two sets of scores, unpaired and paired."""
    of = _Chapter(results)
    rows = []
    for score in SCORES:
        metric = f"distributions_{score}"
        printed = numeric(of.printed(metric, "/scalars/p_ks"))
        rows.append(("KS, unpaired: p", score, printed, numeric(of(metric, "p_ks"), 4), "", ""))
    for score in SCORES:
        kl = of.score(f"kl_{score}")
        ends = (numeric(kl[name], 6) for name in ("value", "ci_low", "ci_high"))
        rows.append(("KLDivS", score, numeric(of.printed(f"kl_{score}", "value"), 5), *ends))
    for name in DIFFERENCES:
        metric = f"difference_{name}"
        found, label = of.score(metric), name.replace("_", ", ")
        printed = numeric(of.printed(metric, "/scalars/p_z"), 2) if "trimmed" in name else ""
        ends = (numeric(found[end]) for end in ("value", "ci_low", "ci_high"))
        rows += [
            ("mean difference in nats, paired", label, "", *ends),
            ("z-test, paired: p", label, printed, numeric(of(metric, "p_z"), 2), "", ""),
            ("Wilcoxon, paired: p", label, "", numeric(of(metric, "p_wilcoxon"), 2), "", ""),
            ("permutation within pairs: p", label, "", numeric(found["p_value"], 2), "", ""),
            ("the same, adjusted: p", label, "", numeric(found["p_adjusted"], 2), "", ""),
        ]
    return ("quantity", "score", "printed", "here", "ci_low", "ci_high"), rows


def two_sets(results: Results) -> str:
    """Say what the tests of the two sets of scores show."""
    of = _Chapter(results)
    found = [(name.replace("_", ", "), of.score(f"difference_{name}")) for name in DIFFERENCES]
    means = " and ".join(
        f"{with_interval(score['value'], score['ci_low'], score['ci_high'], places)} nats ({label})"
        for label, score in found[: len(SCORES)]
    )
    pairs = " and ".join(f"{of(f'difference_{score}', 'correlation'):.3f}".lstrip("0") for score in SCORES)
    ks = " and ".join(f"{p(of.score(f'distributions_{score}')['p_value'])} ({score})" for score in SCORES)
    kl = " and ".join(f"{p(of.score(f'kl_{score}')['p_value'])} ({score})" for score in SCORES)
    return (
        conclusions(found)
        + "\n"
        + items(
            f"The mean difference is {means}. A pair's two scores correlate: r = {pairs}.",
            f"A permutation test within pairs gives the KS statistic p {ks}, and KLDivS p {kl}.",
        )
    )


def robustness_table(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return how often a pair's bias is that of its paraphrase, and of a random pair."""
    of = _Chapter(results)
    head = (
        "score",
        "rule",
        "l1",
        "p",
        "p_exact",
        "by_chance",
        "kappa",
        "l1_random",
        "kappa_random",
        "p_mcnemar",
    )
    rows = []
    for score in SCORES:
        for rule, label in RULES.items():
            metric, query = f"{rule}_{score}", "es_with_paraphrase"
            rows.append(
                (
                    score,
                    label,
                    numeric(of.score(metric, query)["value"]),
                    *(numeric(of(metric, name, query), 2) for name in ("p_robust", "p_robust_binomial")),
                    *(numeric(of(metric, name, query)) for name in ("chance", "kappa")),
                    numeric(of.score(metric, "es_with_random")["value"]),
                    numeric(of(metric, "kappa", "es_with_random")),
                    numeric(of(f"above_random_{metric}", "p_mcnemar", "es_with_both"), 2),
                )
            )
    return head, rows


def robustness(results: Results) -> str:
    """Say how the answer depends on the score and on the width of the interval."""
    of = _Chapter(results)
    robust = [
        f"{score}, {label}"
        for score in SCORES
        for rule, label in RULES.items()
        if of(f"{rule}_{score}", "p_robust", "es_with_paraphrase") >= LEVEL
    ]
    widths = results.table("agreement_widths")
    said = []
    for query, name in (("es_with_paraphrase", "Paraphrases"), ("es_with_random", "Random pairs")):
        of_query = widths[(widths["query_id"] == query) & (widths["metric"] == "interval_cp")].sort_values(
            "width"
        )
        from_here = of_query[of_query["p_robust"].fillna(1) >= LEVEL]["width"].min()
        below = of_query[of_query["width"] < from_here]["width"].max()
        said.append(
            f'{name} are "robust" from ±{short(from_here, 2)} on and "not robust" at ±{short(below, 2)} (cp).'
        )
    kappa = widths[widths["query_id"].eq("es_with_paraphrase") & widths["width"].le(10)]
    kappa = kappa.assign(score=kappa["metric"].str[-2:]).pivot(index="width", columns="score", values="kappa")
    higher = int((kappa["sz"] > kappa["cp"]).sum())
    only = [
        int(of("above_random_interval_cp", f"only_{part}", "es_with_both"))
        for part in ("paraphrase", "control")
    ]
    unlike = [
        places(of("interval_cp", "p_difference", query), 4)
        for query in ("es_with_paraphrase", "es_with_random")
    ]
    return items(
        f'"Robust" by the thesis\'s test in {len(robust)} of {len(SCORES) * len(RULES)} cases: {"; ".join(robust)}.',
        " ".join(said),
        f"Kappa with paraphrases, agreement beyond chance, is larger for sz ({places(kappa['sz'].min())} to "
        f"{places(kappa['sz'].max())}) than for cp ({places(kappa['cp'].min())} to {places(kappa['cp'].max())}) at "
        f"{higher} of {len(kappa)} widths up to ±10.",
        f"{only[0]} pairs agree with the paraphrase alone, {only[1]} with the random pair alone (cp, ±3.5).",
        f"The z-test of a difference has p {unlike[0]} with the paraphrase and {unlike[1]} with the *random pair*: "
        "it cannot tell them apart.",
    )


BLOCKS = {
    ("thesis4", "published"): published,
    ("thesis4", "claims"): claims,
    ("thesis4", "shares"): shares,
    ("thesis4", "shape"): shape,
    ("thesis4", "two_sets"): two_sets,
    ("thesis4", "robustness"): robustness,
}
TABLES = {
    ("thesis4", "maddalozzo_chapter4_shares"): shares_table,
    ("thesis4", "maddalozzo_chapter4_differences"): differences_table,
    ("thesis4", "maddalozzo_chapter4_robustness"): robustness_table,
}
