"""Hard debias (Bolukbasi, Chang, Zou, Saligrama, Kalai, NeurIPS 2016): neutralise and equalise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.geometry import unit_or_zero
from ..core.limits import Count
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import EmbeddingStore
from .lookup import FoundSets, check_pairs, choose_words, find_sets, subspace
from .registry import Method
from .transform import Transform, fitted


def hard(
    model: EmbeddingStore,
    *,
    definitional_pairs: Sequence[Sequence[str]],
    equalize_pairs: Sequence[Sequence[str]] | None = None,
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    n_components: Count = 1,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> Transform:
    """Remove the bias subspace, and equalise pairs of words.

    Bolukbasi et al. 2016, section 6, steps 1 and 2a. All vectors are scaled to unit length. With an orthonormal
    basis B of the bias subspace, every word except `ignore` (or only `target`) becomes::

        w' = (w - sum over b in B of (w . b) b), scaled to unit length

    Then the two words of every equalize pair get the same vector outside the subspace, and inside it the same
    distance to either side.

    Parameters
    ----------
    model : EmbeddingStore
        Model to fit on.
    definitional_pairs
        Pairs of words, such as [she, he], whose differences span the subspace.
    equalize_pairs
        Pairs to equalise. None takes the definitional pairs, as WEFE does; [] equalises nothing. Each pair is also
        equalised in Title and UPPER case, as in the authors' code. The words are equalised whether ignored or not,
        starting from their vectors before neutralisation; if a word is in several pairs, the last one counts.
    ignore
        Words that are left alone.
    target
        The only words that are changed; by default all are.
    n_components
        Dimensions of the subspace; the paper's 1.
    preprocessors
        Forms in which a word is looked up, tried in this order: mappings of `lowercase`, `uppercase`, `titlecase` and
        `strip_accents`. `{}` is the word as it is written. Default: as written, else in lower case.

    Returns
    -------
    Transform
        The transform of vectors when they are looked up: `model.under(transform)`. `fitted_on` lists the words that
        were found and the missing ones; `save` writes the transform to a file.

    Notes
    -----
    **What it leaves.** Only the bias subspace is removed. Words with the same bias remain neighbours, so that a
    classifier or a clustering can still find a word's original side (Gonen & Goldberg 2019). Nothing is removed
    from the words in `ignore`, and bias outside the span of the definitional pairs stays.

    **Defaults.** The default is the paper's algorithm. `equalize_pairs` are the definitional pairs by default, as
    in WEFE 1.0.1. WEFE normalises a second time by outdated lengths, so that equalised words have lengths up to
    1.13, and keeps incomplete pairs unless it is verbose. No option reproduces either.

    Examples
    --------
    >>> from biasgrid import debias, load
    >>> model = load({"he": [3, 4], "she": [-3, 4], "man": [4, 3], "woman": [-4, 3], "nurse": [-4, 3]})
    >>> transform = debias.hard(model, definitional_pairs=[["he", "she"], ["man", "woman"]])
    >>> model.under(transform).take(["nurse"], model.rows(["nurse"])).round(3).tolist()
    [[0.0, 1.0]]
    """
    check_pairs(definitional_pairs, "definitional_pairs")
    pairs = find_sets(model, definitional_pairs, "definitional_pairs", preprocessors)
    basis = subspace([unit_or_zero(v) for v in pairs.vectors], n_components, "definitional_pairs")
    if equalize_pairs is None:
        equalize_pairs = definitional_pairs
    check_pairs(equalize_pairs, "equalize_pairs")
    case_variants = [
        [case(word) for word in pair] for pair in equalize_pairs for case in (str.lower, str.title, str.upper)
    ]
    # Drop pairs such as [us, US], whose case variants are the same word twice.
    case_variants = [pair for pair in case_variants if pair[0] != pair[1]]
    # Look up only the given pairs in further forms. Otherwise, the variant DAD and MOM would become DAD and mom.
    variants = find_sets(model, case_variants, "equalize_pairs", preprocessors[:1], strict=False)
    given_pairs = [list(pair) for pair in equalize_pairs if list(pair) in case_variants]
    given = find_sets(model, given_pairs, "equalize_pairs", preprocessors, strict=False)
    added = [place for place, entries in enumerate(given.words) if entries not in variants.words]
    equality_sets = FoundSets(
        (*variants.words, *(given.words[place] for place in added)),
        [*variants.vectors, *(given.vectors[place] for place in added)],
        given.lost,
    )
    words, lost_words = choose_words(model, target, ignore, preprocessors)
    return neutralize_and_equalize(
        model,
        "hard",
        basis,
        equality_sets,
        words,
        {"n_components": n_components, "preprocessors": list(preprocessors)},
        {"definitional_pairs": pairs.words, "equalize_pairs": equality_sets.words},
        {"definitional_pairs": pairs.lost, "equalize_pairs": equality_sets.lost, **lost_words},
    )


def neutralize_and_equalize(
    model: EmbeddingStore,
    method: str,
    basis: np.ndarray,
    equality_sets: FoundSets,
    words: dict,
    params: dict,
    found_words: dict,
    lost: dict,
) -> Transform:
    """Build the transform of hard debias: `basis` (k, d) spans the bias subspace, `words` selects neutralised
    words."""
    overrides: dict[str, np.ndarray] = {}
    not_equalized: list[tuple[str, ...]] = []
    for entries, vectors in zip(equality_sets.words, equality_sets.vectors, strict=True):
        equalized = equalize_vectors(unit_or_zero(vectors), basis)
        if equalized is None:
            not_equalized.append(entries)
        else:
            overrides.update(zip(entries, equalized, strict=True))
    override_vectors = np.array(list(overrides.values())).reshape(len(overrides), model.dimensions)
    return Transform(
        method=method,
        fitted_on=fitted(model, params, found_words, lost, subspace=len(basis), not_equalized=not_equalized),
        normalize=True,
        left=basis.T.copy(),
        right=basis,
        renormalize=True,
        override_words=tuple(overrides),
        overrides=override_vectors,
        **words,
    )


def equalize_vectors(vectors: np.ndarray, basis: np.ndarray) -> np.ndarray | None:
    """Equalise an equality set's unit vectors (n, d): the same vector outside the subspace, and unit length.

    Bolukbasi et al. 2016, section 6, step 2a. Return None if a word's part in the subspace is the set's mean, as
    the word is then on neither side.
    """
    projections = vectors @ basis.T @ basis
    common = vectors.mean(axis=0) - projections.mean(axis=0)
    sides = projections - projections.mean(axis=0)
    distances = np.linalg.norm(sides, axis=1, keepdims=True)
    if distances.min() < 1e-9:
        return None
    return common + np.sqrt(max(0.0, 1.0 - common @ common)) * sides / distances


HARD = Method(
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
    reference="Bolukbasi, Chang, Zou, Saligrama, Kalai. Man is to computer programmer as woman is to homemaker? "
    "Debiasing word embeddings. NeurIPS 2016, section 6",
)
METHODS = (HARD,)
