"""Blocks of docs/replications/maddalozzo_chapter4.md: the author's scores of sentences (config/thesis4.yaml)."""

from __future__ import annotations

import pandas as pd

from biasgrid.measure.evidence import ALL

from .results import (
    Results,
    conclusions,
    items,
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
            f"{score} {'evidence' if x['evidence'] == ALL else 'no evidence in this test'}, adjusted p "
            f"{p(x['p_adjusted'])}"
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
            "the test takes pairs for unrelated sets, and can find nothing; permuted within pairs, the same "
            f"statistic says: {by_score('distributions')}",
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
            "McNemar's test, which is the one for shared originals, has p "
            f"{tiny(of(both, 'p_mcnemar', 'es_with_both'))}",
        ),
    ]
    return table(("the thesis says", "the same data say"), rows)


def shares(results: Results) -> str:
    """Return the shares of pairs in which the stereotype is preferred."""
    of, rows, scores, ties = _Chapter(results), [], [], []
    for score in SCORES:
        metric = f"prop_{score}"
        for query, label in VERSIONS.items():
            share = of.score(metric, query)
            scores.append((f"{score}, {label}", share))
            pairs, preferred = (int(of(metric, name, query)) for name in ("pairs", "preferred"))
            ends = (of(metric, f"ci_{end}", query) for end in ("low", "high"))
            rows.append(
                (
                    f"{score}, {label}",
                    f"{pairs:,}",
                    f"{preferred:,}",
                    with_interval(share["value"], *ends, places, 3),
                    tiny(of(metric, "p_normal", query)),
                    tiny(of(metric, "p_binomial", query)),
                    tiny(share["p_value"]),
                    p(share["p_adjusted"]),
                )
            )
        n = int(of(metric, "ties"))
        ties.append(
            f"{n} of {int(of(metric, 'pairs')):,} pairs {'is a tie' if n == 1 else 'are ties'} ({score})."
        )
    head = ("", "pairs", "stereotype preferred", "share", "p of the z-test", "exact p", "exact p without ties",
            "the same, adjusted")  # fmt: skip
    changed = [
        f"{score}, {label}"
        for score in SCORES
        for query, label in VERSIONS.items()
        if len({of(f"prop_{score}", test, query) <= LEVEL for test in ("p_normal", "p_binomial")}) == 2
    ]
    return "\n\n".join(
        [
            table(head, rows),
            conclusions(scores)
            + "\n"
            + items(
                f"The z-test and the exact test lie on different sides of .05 for {', '.join(changed) or 'no row'}.",
                " ".join(ties) + " Ties count for the anti-stereotype in the thesis.",
            ),
        ]
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


def two_sets(results: Results) -> str:
    """Return the tests of the two sets of scores, unpaired and paired."""
    of = _Chapter(results)
    rows = []
    for score in SCORES:
        rows.append(
            (f"KS of the two sets, {score}", short(of.printed(f"distributions_{score}", "/scalars/p_ks")),
             short(of(f"distributions_{score}", "p_ks"), 4), "unpaired")
        )  # fmt: skip
    for score in SCORES:
        kl = of.score(f"kl_{score}")
        ours = with_interval(kl["value"], kl["ci_low"], kl["ci_high"], short, 6)
        rows.append(
            (
                f"KLDivS, {score}",
                short(of.printed(f"kl_{score}", "value"), 5),
                ours,
                "whether the variances differ",
            )
        )
    for score in SCORES:
        metric = f"difference_{score}_trimmed"
        rows.append(
            (
                f"z-test of the differences, {score}",
                short(of.printed(metric, "/scalars/p_z"), 1),
                tiny(of(metric, "p_z")),
                f"paired, {int(of(metric, 'kept')):,} pairs",
            )
        )
    paired, differences = [], []
    for trimmed in ("", "_trimmed"):
        for score in SCORES:
            metric = f"difference_{score}{trimmed}"
            found = of.score(metric)
            label = score + ", trimmed" * bool(trimmed)
            differences.append((label, found))
            paired.append(
                (
                    label,
                    with_interval(found["value"], found["ci_low"], found["ci_high"], places),
                    tiny(of(metric, "p_z")),
                    tiny(of(metric, "p_wilcoxon")),
                    tiny(found["p_value"]),
                    p(found["p_adjusted"]),
                )
            )
    head = (
        "paired tests",
        "mean difference, nats",
        "z",
        "Wilcoxon",
        "permutation within pairs",
        "the same, adjusted",
    )
    pairs = " and ".join(f"{of(f'difference_{score}', 'correlation'):.3f}".lstrip("0") for score in SCORES)
    ks = " and ".join(f"{p(of.score(f'distributions_{score}')['p_value'])} ({score})" for score in SCORES)
    kl = " and ".join(f"{p(of.score(f'kl_{score}')['p_value'])} ({score})" for score in SCORES)
    return "\n\n".join(
        [
            table(("", "printed p or value", "ours", "what it asks"), rows),
            table(head, paired),
            conclusions(differences)
            + "\n"
            + items(
                f"A pair's two scores go together: r = {pairs}.",
                f"A permutation test within pairs gives the KS statistic p {ks}, and KLDivS p {kl}.",
            ),
        ]
    )


def robustness(results: Results) -> str:
    """Return how often a pair's bias is that of its paraphrase, and what the width of the interval decides."""
    of, rows, verdict = _Chapter(results), [], {}
    for score in SCORES:
        for rule, label in RULES.items():
            metric = f"{rule}_{score}"
            p_robust = of(metric, "p_robust", "es_with_paraphrase")
            verdict[f"{score}, {label}"] = p_robust >= LEVEL
            with_both = f"above_random_{rule}_{score}"
            rows.append(
                (
                    f"{score}, {label}",
                    places(of.score(metric, "es_with_paraphrase")["value"], 3),
                    tiny(p_robust),
                    tiny(of(metric, "p_robust_binomial", "es_with_paraphrase")),
                    places(of(metric, "chance", "es_with_paraphrase"), 3),
                    places(of(metric, "kappa", "es_with_paraphrase")),
                    places(of.score(metric, "es_with_random")["value"], 3),
                    places(of(metric, "kappa", "es_with_random")),
                    tiny(of(with_both, "p_mcnemar", "es_with_both")),
                )
            )
    head = ("", "l1", "p", "exact p", "by chance", "kappa", "l1 with random pairs", "kappa with random pairs",
            "McNemar's p")  # fmt: skip
    robust = [label for label, is_robust in verdict.items() if is_robust]
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
    return "\n\n".join(
        [
            table(head, rows),
            items(
                f'"Robust" by the thesis\'s test in {len(robust)} of {len(verdict)} rows: {"; ".join(robust)}.',
                " ".join(said),
                f"Kappa with paraphrases, agreement beyond chance, is larger for sz than for cp at {higher} of "
                f"{len(kappa)} widths up to ±10. It is {places(kappa['sz'].min())} to {places(kappa['sz'].max())} "
                f"for sz, and {places(kappa['cp'].min())} to {places(kappa['cp'].max())} for cp.",
                f"{only[0]} pairs agree with the paraphrase alone, {only[1]} with the random pair alone (cp, ±3.5).",
                f"The z-test that original and paraphrase differ by 0 has p "
                f"{places(of('interval_cp', 'p_difference', 'es_with_paraphrase'), 4)}, that of original and "
                f"*random pair* {places(of('interval_cp', 'p_difference', 'es_with_random'), 4)}: it tells "
                "nothing apart.",
            ),
        ]
    )


BLOCKS = {
    ("thesis4", "published"): published,
    ("thesis4", "claims"): claims,
    ("thesis4", "shares"): shares,
    ("thesis4", "shape"): shape,
    ("thesis4", "two_sets"): two_sets,
    ("thesis4", "robustness"): robustness,
}
