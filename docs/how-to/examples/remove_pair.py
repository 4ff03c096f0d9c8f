from biasgrid.debias import Method, Transform
from biasgrid.debias.lookup import find_sets
from biasgrid.debias.transform import fitted
from biasgrid.models.preprocessing import DEFAULT_FORMS


def remove_pair(model, *, pairs, preprocessors=DEFAULT_FORMS):
    """Remove the direction of the mean difference of some pairs from every word.

    With the mean v of the differences of the pairs' vectors, at unit length::

        w' = w - (w . v) v

    Parameters
    ----------
    model : EmbeddingStore
        What it is fitted on.
    pairs
        Pairs of words, such as [he, she]. A pair of which the model lacks a word is left out.
    preprocessors
        Forms in which a word is looked up, tried in this order.

    Returns
    -------
    Transform
        The transform of vectors when they are looked up.

    Notes
    -----
    **What it leaves.** It leaves all that does not lie along the one direction: words keep their neighbours.

    **Defaults.** It has no options. WEFE does not have it.

    Examples
    --------
    >>> from biasgrid import debias, load
    >>> model = load({"he": [1, 0], "she": [0, 1], "him": [2, 0], "her": [0, 2], "doctor": [3, 1]})
    >>> transform = debias.remove_pair(model, pairs=[["he", "she"], ["him", "her"]])
    >>> model.under(transform).take(["doctor"], model.rows(["doctor"])).round(6).tolist()
    [[2.0, 2.0]]
    """
    found = find_sets(model, pairs, "pairs", preprocessors)
    direction = sum(vectors[0] - vectors[1] for vectors in found.vectors)
    direction = direction / (direction @ direction) ** 0.5
    parameters = {"preprocessors": list(preprocessors)}
    return Transform(
        method="remove_pair",
        fitted_on=fitted(model, parameters, {"pairs": found.words}, {"pairs": found.lost}),
        left=direction[:, None],
        right=direction[None, :],
    )


REMOVE_PAIR = Method(
    name="remove_pair",
    label="Pair removed",
    function=remove_pair,
    words={"pairs": "sets"},
    reference="Surname, Surname. Title of the paper. Where, 2026, section 1",
)
METHODS = (REMOVE_PAIR,)
