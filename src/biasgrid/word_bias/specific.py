"""Words that belong to a group by definition, learned from a list of them (Bolukbasi et al. 2016, step 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import InputError
from ..core.keywords import checked_keywords
from ..models.checks import check_model
from ..models.model import DebiasedModel, Model
from .axis import VOCABULARY, find, whole_vocabulary

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class SpecificWords:
    """Words that a classifier finds similar to the words of a list, made by `specific_words`.

    Attributes
    ----------
    model
        The model's name.
    frame
        pandas.DataFrame, one row per learned word and per word of the list, the surest first: word, score (of the
        classifier: above 0 it classifies the word as specific; it is not a bias score), is_seed and rank (the
        word's row in the model, from 1).
    f1, f1_sd
        Mean and standard deviation of the classifier's F1 score over the folds of a cross-validation: how well it
        finds words of the list that were left out of training.
    folds, training_words
        Number of folds, and number of training words of the classifier.
    missing
        Words of the list that the model lacks.
    """

    model: str
    frame: pd.DataFrame
    f1: float
    f1_sd: float
    folds: int
    training_words: int
    missing: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """Return the list and the learned words, in the form of `ignore` of hard debiasing."""
        return list(self.frame["word"])

    @property
    def learned(self) -> list[str]:
        """Return the learned words, without the list."""
        return list(self.frame.loc[~self.frame["is_seed"], "word"])

    def __repr__(self) -> str:
        return f"<SpecificWords of {self.model}: {len(self.learned)} learned, F1 {self.f1:.2f}>"

    def _repr_html_(self) -> str:
        html: str = self.frame._repr_html_()
        return html


@checked_keywords()
def specific_words(
    model: Model,
    seeds: Iterable[str],
    *,
    vocabulary: int | None = VOCABULARY,
    only_letters: bool = True,
    c: float = 1.0,
    folds: int = 10,
    seed: int = 0,
) -> SpecificWords:
    """Learn which words belong to a group by definition (such as mother and sister) from a list of such words.

    Parameters
    ----------
    model
        A model of word vectors, not debiased.
    seeds
        Words that are specific; all other words of the vocabulary count as not specific in training.
    vocabulary, only_letters
        The words for training and application of the classifier, as in `project`.
    c
        Regularisation of the linear SVM; 1 in the paper and in scikit-learn.
    folds
        Number of folds of the cross-validation; 2 or more.
    seed
        Seed of the assignment of words to folds.

    Returns
    -------
    SpecificWords
        The list and the learned words; pass `words` to `bg.debias.hard(model, ..., ignore=...)`.

    Raises
    ------
    BiasgridError
        If fewer words of the list are in the vocabulary than there are folds, or an option is not allowed.

    References
    ----------
    Bolukbasi, T., Chang, K.-W., Zou, J., Saligrama, V., Kalai, A. (2016). Man is to computer programmer as woman is
    to homemaker? NeurIPS.
    """
    import pandas as pd
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.svm import LinearSVC

    check_model(model, ("rows", "take", "vocabulary"))
    if isinstance(model, DebiasedModel):
        raise InputError("specific_words: give the original model; the words are needed before debiasing")
    if vocabulary is not None and (type(vocabulary) is not int or vocabulary < 1):
        raise InputError(f"vocabulary: expected a whole number from 1 on, or None, not {vocabulary!r}")
    if type(folds) is not int or folds < 2:
        raise InputError(f"folds: expected a whole number from 2 on, not {folds!r}")
    if isinstance(c, bool) or not isinstance(c, (int, float)) or not 0 < c < float("inf"):
        raise InputError(f"c: expected a number above 0, not {c!r}")
    if type(seed) is not int or seed < 0:
        raise InputError(f"seed: expected a whole number from 0 on, not {seed!r}")
    listed = find(model, seeds, "seeds")
    candidates = whole_vocabulary(model, vocabulary, only_letters)
    units = candidates.units(model)
    has_direction = np.isfinite(units).all(axis=1)
    is_seed = np.isin(candidates.rows, listed.rows)
    x, y = units[has_direction], is_seed[has_direction]
    if not folds <= y.sum() <= len(y) - folds:
        raise InputError(
            f"seeds: {y.sum()} of the {len(y)} words that are read are in the list; {folds} folds need {folds} words "
            "or more in the list, and as many that are not"
        )
    # The primal problem has one solution, found without random numbers.
    classifier = LinearSVC(C=c, dual=False)
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed)
    scores = cross_val_score(classifier, x, y, cv=parts, scoring="f1")
    decision = np.full(len(units), np.nan)
    decision[has_direction] = classifier.fit(x, y).decision_function(x)
    frame = pd.DataFrame(
        {"word": candidates.words, "score": decision, "is_seed": is_seed, "rank": candidates.rows + 1}
    )
    frame = frame[is_seed | (decision > 0)].sort_values("score", ascending=False, kind="stable")
    return SpecificWords(
        model.name,
        frame.reset_index(drop=True),
        float(scores.mean()),
        float(scores.std()),
        folds,
        len(y),
        listed.missing,
    )
