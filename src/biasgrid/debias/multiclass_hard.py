"""Hard debias for more than two groups (Manzini, Lim, Black, Tsvetkov, NAACL 2019)."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import BiasgridError
from ..core.geometry import unit_or_zero
from ..core.limits import Count
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import EmbeddingStore
from .hard import neutralize_and_equalize
from .lookup import choose_words, find_sets, find_words, subspace
from .registry import Method
from .transform import Transform

# Use at most this number of components of the multiclass subspace, as WEFE does.
COMPONENTS = 10


def multiclass_hard(
    model: EmbeddingStore,
    *,
    definitional_sets: Sequence[Sequence[str]],
    equalize_sets: Sequence[Sequence[str]] = (),
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    n_components: Count | None = None,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> Transform:
    """Apply hard debias to any number of groups.

    Manzini et al. 2019, section 3: like `hard`, with definitional sets such as [judaism, christianity, islam] and
    equalize sets of any size. With an orthonormal basis B of the bias subspace and unit vectors::

        w' = (w - sum over b in B of (w . b) b), scaled to unit length

    Definitional words are not neutralised.

    Parameters
    ----------
    model : EmbeddingStore
        Model to fit on.
    definitional_sets
        Sets of words whose differences span the subspace.
    equalize_sets
        Sets whose words are changed so that they differ only within the subspace.
    ignore
        Words that are left alone.
    target
        The only words that are changed; by default all are.
    n_components
        Dimensions of the bias subspace. None: 10, as in WEFE, or the number of dimensions that the sets span, if
        smaller. The paper's experiments take the first few.
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
    **What it leaves.** It leaves the same bias as hard debias: words keep their neighbours, and bias outside the
    span of the definitional sets stays. The definitional words keep their part in the subspace.

    **Defaults.** `n_components` is 10, as in WEFE 1.0.1, but at most the number of dimensions that the sets span.
    WEFE removes ten dimensions for sets that span seven, of which three are arbitrary; no option reproduces that.

    Examples
    --------
    >>> from biasgrid import debias, load
    >>> words = {"he": [3, 4], "she": [-3, 4], "man": [4, 3], "woman": [-4, 3], "nurse": [-4, 3]}
    >>> model = load(words)
    >>> transform = debias.multiclass_hard(model, definitional_sets=[["he", "she"], ["man", "woman"]])
    >>> model.under(transform).take(["nurse"], model.rows(["nurse"])).round(3).tolist()
    [[0.0, 1.0]]
    """
    sets = find_sets(model, definitional_sets, "definitional_sets", preprocessors)
    vectors = [unit_or_zero(v) for v in sets.vectors]
    basis = subspace(vectors, n_components, "definitional_sets")
    if n_components is None:
        basis = basis[:COMPONENTS]
    equality_sets = find_sets(model, equalize_sets, "equalize_sets", preprocessors, strict=False)
    words, lost_words = choose_words(model, target, ignore, preprocessors)
    # Include the words of incomplete sets.
    given_words = [word for word_set in definitional_sets for word in word_set]
    definitional_words = find_words(model, given_words, "definitional_sets", preprocessors).words
    if words["only"] is None:
        words["leave"] = tuple(dict.fromkeys([*words["leave"], *definitional_words]))
    else:
        words["only"] = tuple(word for word in words["only"] if word not in definitional_words)
        if not words["only"]:
            raise BiasgridError("target: all its words are definitional, and these are not neutralised")
    return neutralize_and_equalize(
        model,
        "multiclass_hard",
        basis,
        equality_sets,
        words,
        {"n_components": n_components, "preprocessors": list(preprocessors)},
        {"definitional_sets": sets.words, "equalize_sets": equality_sets.words},
        {"definitional_sets": sets.lost, "equalize_sets": equality_sets.lost, **lost_words},
    )


MULTICLASS_HARD = Method(
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
    reference="Manzini, Lim, Black, Tsvetkov. Black is to criminal as Caucasian is to police: detecting and "
    "removing multiclass bias in word embeddings. NAACL 2019, section 3",
)
METHODS = (MULTICLASS_HARD,)
