from biasgrid.metrics import Metric, Score


def spread(targets, attributes, *, power=2):
    """Measure how far apart the means of two groups are, whatever the words.

    With the means m_1 and m_2 of the target sets' vectors::

        spread = sum over dimensions of |m_1 - m_2|^power

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up.
    power
        2: the squared Euclidean distance; 1: the sum of absolute differences.

    Returns
    -------
    Score
        Range [0, inf), no-bias value 0. It has no sign, and is NaN only where a vector is.

    Notes
    -----
    **Blind spots.** It does not look at the attribute words: it shows that groups differ, not
    how.

    **Defaults.** WEFE does not have it. `power=1` gives a large difference in one dimension less weight.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [0, 1], "doctor": [1, 1]})
    >>> metrics.spread(Query([["he"], ["she"]], [["doctor"]]), model).value
    2.0
    """
    difference = abs(targets[0].mean(axis=0) - targets[1].mean(axis=0))
    return Score(float((difference**power).sum()))


SPREAD = Metric(
    name="spread",
    label="Spread",
    function=spread,
    template=(2, "n"),
    range=(0.0, float("inf")),
    neutral=0.0,
    scaled=True,
    asks="How far apart are the means of {T1} and {T2}, whatever the words of {A}?",
    above="the means of {T1} and {T2} are apart",
    reference="Surname, Surname. Title of the paper. Where, 2026, equation 1",
)
METRICS = (SPREAD,)
