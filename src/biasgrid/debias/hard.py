"""Hard debias (Bolukbasi, Chang, Zou, Saligrama, Kalai, NeurIPS 2016) and its form for more than two groups
(Manzini, Lim, Black, Tsvetkov, NAACL 2019): neutralise and equalise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..embeddings.store import EmbeddingStore
from ..errors import BiasgridError
from ..geometry import unit_or_zero
from .lookup import FoundSets, check_count, check_pairs, chosen, find_sets, find_words, subspace
from .registry import Method
from .transform import Transform, fitted

COMPONENTS = 10  # of the multiclass subspace, at most: WEFE's


def hard(
    model: EmbeddingStore,
    *,
    definitional_pairs: Sequence[Sequence[str]],
    equalize_pairs: Sequence[Sequence[str]] | None = None,
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    n_components: int = 1,
    preprocessors: Sequence = ({},),
) -> Transform:
    """Hard debias: all vectors to unit length; the bias subspace removed from every word but `ignore` (or from
    `target` only) and the rest scaled to unit length again; then every equalize pair made to differ within the
    subspace alone, both words at the same distance from it (Bolukbasi et al. 2016, section 6, steps 1 and 2a).

    definitional_pairs  pairs such as [she, he] whose differences span the subspace (`n_components`, the paper's 1)
    equalize_pairs      None takes the definitional pairs, as WEFE does; [] equalises nothing. Each pair also as
                        Title and UPPER case, as in the authors' code. Their words are equalised whether ignored
                        or not, from the vectors that they have before anything is neutralised; where a word is in
                        several pairs the last counts
    """
    check_pairs(definitional_pairs, "definitional_pairs")
    pairs = find_sets(model, definitional_pairs, "definitional_pairs", preprocessors)
    basis = subspace([unit_or_zero(v) for v in pairs.vectors], n_components, "definitional_pairs")
    if equalize_pairs is None:
        equalize_pairs = definitional_pairs
    check_pairs(equalize_pairs, "equalize_pairs")
    cased = [
        [case(word) for word in pair] for pair in equalize_pairs for case in (str.lower, str.title, str.upper)
    ]
    # of [US, us] no case has two words
    cased = [pair for pair in cased if pair[0] != pair[1]]
    equalize = find_sets(model, cased, "equalize_pairs", preprocessors, strict=False)
    given = {tuple(pair) for pair in equalize_pairs}
    lost = [pair for pair in equalize.lost if tuple(pair) in given]
    words, lost_words = chosen(model, target, ignore, preprocessors)
    return _neutralize_and_equalize(
        model,
        "hard",
        basis,
        equalize,
        words,
        {"n_components": n_components, "preprocessors": list(preprocessors)},
        {"definitional_pairs": pairs.words, "equalize_pairs": equalize.words},
        {"definitional_pairs": pairs.lost, "equalize_pairs": lost, **lost_words},
    )


def multiclass_hard(
    model: EmbeddingStore,
    *,
    definitional_sets: Sequence[Sequence[str]],
    equalize_sets: Sequence[Sequence[str]] = (),
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    n_components: int | None = None,
    preprocessors: Sequence = ({},),
) -> Transform:
    """Hard debias for groups of any number (Manzini et al. 2019, section 3): as `hard`, with definitional sets such
    as [judaism, christianity, islam] and equalize sets of any size. Definitional words are not neutralised.

    n_components  of the bias subspace. None: 10, WEFE's number, or as many as the sets span where that is less.
                  The paper's experiments take the first few
    """
    sets = find_sets(model, definitional_sets, "definitional_sets", preprocessors)
    vectors = [unit_or_zero(v) for v in sets.vectors]
    basis = subspace(vectors, n_components, "definitional_sets")
    if n_components is None:
        basis = basis[:COMPONENTS]
    equalize = find_sets(model, equalize_sets, "equalize_sets", preprocessors, strict=False)
    words, lost_words = chosen(model, target, ignore, preprocessors)
    # also those of a set that is not whole
    given = [word for words_ in definitional_sets for word in words_]
    definitional = find_words(model, given, "definitional_sets", preprocessors).words
    if words["only"] is None:
        words["leave"] = tuple(dict.fromkeys([*words["leave"], *definitional]))
    else:
        words["only"] = tuple(word for word in words["only"] if word not in definitional)
        if not words["only"]:
            raise BiasgridError("target: all its words are definitional, and these are not neutralised")
    return _neutralize_and_equalize(
        model,
        "multiclass_hard",
        basis,
        equalize,
        words,
        {"n_components": n_components, "preprocessors": list(preprocessors)},
        {"definitional_sets": sets.words, "equalize_sets": equalize.words},
        {"definitional_sets": sets.lost, "equalize_sets": equalize.lost, **lost_words},
    )


def _neutralize_and_equalize(
    model: EmbeddingStore,
    method: str,
    basis: np.ndarray,
    equalize: FoundSets,
    words: dict,
    params: dict,
    found: dict,
    lost: dict,
) -> Transform:
    overrides: dict[str, np.ndarray] = {}
    same = []
    for entries, vectors in zip(equalize.words, equalize.vectors, strict=True):
        vectors = equalized(unit_or_zero(vectors), basis)
        if vectors is None:
            same.append(entries)
        else:
            overrides.update(zip(entries, vectors, strict=True))
    stacked = np.array(list(overrides.values())).reshape(len(overrides), model.dimensions)
    return Transform(
        method=method,
        fitted_on=fitted(model, params, found, lost, subspace=len(basis), not_equalized=same),
        normalize=True,
        left=basis.T.copy(),
        right=basis,
        renormalize=True,
        override_words=tuple(overrides),
        overrides=stacked,
        **words,
    )


def equalized(vectors: np.ndarray, basis: np.ndarray) -> np.ndarray | None:
    """An equality set's unit vectors (n, d) after equalising: the same outside the subspace, of unit length
    (Bolukbasi et al. 2016, section 6, step 2a).

    None where a word's part in the subspace is that of the set's mean: it has no side to be on.
    """
    within = vectors @ basis.T @ basis
    common = vectors.mean(axis=0) - within.mean(axis=0)
    sides = within - within.mean(axis=0)
    distances = np.linalg.norm(sides, axis=1, keepdims=True)
    if distances.min() < 1e-9:
        return None
    return common + np.sqrt(max(0.0, 1.0 - common @ common)) * sides / distances


def _check(n_components, preprocessors) -> None:
    check_count("n_components", n_components)


def _check_multiclass(n_components, preprocessors) -> None:
    if n_components is not None:
        check_count("n_components", n_components)


METHODS = (
    Method(
        name="hard",
        label="Hard debias",
        function=hard,
        words={
            "definitional_pairs": "sets",
            "equalize_pairs": "sets",
            "ignore": "words",
            "target": "words",
        },
        aliases=("HardDebias",),
        check=_check,
        reference="Bolukbasi, Chang, Zou, Saligrama, Kalai. Man is to computer programmer as woman is to homemaker? "
        "Debiasing word embeddings. NeurIPS 2016, section 6",
    ),
    Method(
        name="multiclass_hard",
        label="Multiclass hard debias",
        function=multiclass_hard,
        words={
            "definitional_sets": "sets",
            "equalize_sets": "sets",
            "ignore": "words",
            "target": "words",
        },
        aliases=("MulticlassHardDebias",),
        check=_check_multiclass,
        reference="Manzini, Lim, Black, Tsvetkov. Black is to criminal as Caucasian is to police: detecting and "
        "removing multiclass bias in word embeddings. NAACL 2019, section 3",
    ),
)
