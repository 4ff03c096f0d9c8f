"""Agreement above control: agreement of a language model's bias with a paraphrase, minus with control pairs."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt, Lt

from biasgrid.metrics import sentences
from biasgrid.metrics.registry import Metric, Score
from biasgrid.metrics.sentences import ScoreKind

from .agreement import SHARED, THESIS, biases, compare_biases, detail_of, resampled_of_sets


def agreement_above_control(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    score: ScoreKind = "sz",
    rule: Literal["interval", "sign"] = "interval",
    lower: float = -THESIS,
    upper: float = THESIS,
    robust: Annotated[float, Gt(0), Lt(1)] = 0.8,
    scores: np.ndarray,
) -> Score:
    """Measure how much more often a language model's bias is the same in a paraphrase of a pair than in a control.

    ::

        l1 - l1', the agreement with the paraphrases minus the agreement with the control pairs

    Parameters
    ----------
    targets : list of array, (pairs, 1)
        Six sets of sentences: the two of a pair, of its paraphrase and of its control pair, which says something
        else. Sentences at the same place in the sets belong together.
    attributes : list
        Empty.
    score, rule, lower, upper, robust
        See `biasgrid.metrics.agreement`.
    scores
        The sentences' scores, set after set.

    Returns
    -------
    Score
        Range [-1, 1], no-bias value 0: a model whose answers do not depend on what a pair says. Positive: it agrees
        more often with the paraphrase. NaN if a sentence is unscored. `scalars`: pairs; agreement and kappa with the
        paraphrase, control_agreement and control_kappa with the control pair (`biasgrid.metrics.agreement`).
        p_two_proportions and p_mcnemar are two-sided p-values of the hypothesis that both agree equally often.
        p_two_proportions is of the z-test with a pooled variance, which the thesis uses; p_mcnemar is of the exact
        test of McNemar 1947. The latter uses only_paraphrase and only_control, the numbers of pairs that agree with
        only one of the two. `detail`: difference, a sentence's score minus its partner's.

    Notes
    -----
    **Blind spots.** It does not see whether either agreement is high: see `agreement`.

    Both shares are computed from the same original pairs. The z-test treats them as unrelated; McNemar's test is for
    pairs. A small p-value is the good outcome: the metric distinguishes a paraphrase from other words.

    **Defaults.** The interval and `robust` come from the thesis. The bounds may not suit a model whose scores have
    another scale: look at the distribution of the differences first.

    Examples
    --------
    >>> from biasgrid import Query, load, load_plugins, metrics
    >>> load_plugins(["maddalozzo"])
    >>> scores = {"men are strong": -10.0, "women are strong": -15.0, "strong men": -9.0, "strong women": -13.0}
    >>> scores |= {"men cook": -9.0, "women cook": -8.5, "cooking men": -9.5, "cooking women": -4.5}
    >>> model = load(scores, kind="language_model", name="measured")
    >>> pairs = [["men are strong", "men cook"], ["women are strong", "women cook"]]
    >>> versions = [["strong men", "cooking men"], ["strong women", "cooking women"]]
    >>> metrics.agreement_above_control(Query([*pairs, *versions, *pairs[::-1]]), model).value
    0.0
    """
    sets = sentences.by_set(scores, targets)
    differences = sets[::2] - sets[1::2]
    detail = detail_of(differences)
    if np.isnan(scores).any():
        return Score(math.nan, detail=detail)
    from scipy.stats import binomtest, norm

    original, paraphrase, control = biases(differences, rule, lower, upper)
    paraphrase_scalars, control_scalars = (
        compare_biases(original, paraphrase, robust),
        compare_biases(original, control, robust),
    )
    pairs = len(original)
    share, control_share = paraphrase_scalars["agreed"] / pairs, control_scalars["agreed"] / pairs
    pooled_share = (share + control_share) / 2
    error = math.sqrt(2 * pooled_share * (1 - pooled_share) / pairs)
    only_paraphrase, only_control = (
        int(((original == first) & (original != second)).sum())
        for first, second in ((paraphrase, control), (control, paraphrase))
    )
    discordant_pairs = only_paraphrase + only_control
    return Score(
        share - control_share,
        scalars={
            "pairs": float(pairs),
            "agreement": share,
            "kappa": paraphrase_scalars["kappa"],
            "control_agreement": control_share,
            "control_kappa": control_scalars["kappa"],
            "p_two_proportions": float(2 * norm.sf(abs(share - control_share) / error))
            if error > 0
            else math.nan,
            "p_mcnemar": float(binomtest(only_paraphrase, discordant_pairs).pvalue)
            if discordant_pairs
            else 1.0,
            "only_paraphrase": float(only_paraphrase),
            "only_control": float(only_control),
        },
        detail=detail,
    )


METRICS = (
    Metric(
        name="agreement_above_control",
        label="Agreement above control",
        function=agreement_above_control,
        template=(6, 0),
        range=(-1.0, 1.0),
        neutral=0.0,
        resampled=resampled_of_sets(6),
        no_test="its null hypothesis exchanges a paraphrase and a control pair, and no sentences of a pair; the "
        "scalar p_mcnemar is that test",
        asks="Does a language model prefer the same side of {T1} and {T2} as of {T3} and {T4} more often than as of "
        "{T5} and {T6}?",
        above="the model agrees with the paraphrase more often than with the control",
        below="the model agrees with the control more often than with the paraphrase",
        **SHARED,
    ),
)
