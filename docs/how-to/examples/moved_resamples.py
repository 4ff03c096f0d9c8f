"""The bootstrap test: resamples of the words, moved to the no-bias value (Efron and Tibshirani 1993, chapter 16)."""

from biasgrid.core.validation import Strict, Whole, field
from biasgrid.measure.permutation import drawn_test
from biasgrid.measure.significance import Outcome, Test


class MovedOptions(Strict):
    """Test every metric of two target sets against moved resamples of its words."""

    draws: Whole = field("resamples of the words", 999, ge=19, le=1_000_000)


def run(sample, resampler, pool, seed, *, draws):
    if len(resampler.targets) < 2:
        return Outcome("there is one target set")
    values = resampler.bootstrap(draws, seed)
    null = values - values.mean() + resampler.metric.neutral
    return Outcome(drawn_test(null, resampler.value, "two-sided"))


TESTS = (
    Test(
        name="moved",
        label="Moved resamples",
        noun="test against moved resamples",
        column="p_moved",
        options=MovedOptions,
        help="the test against resamples of the words, moved to where there is no bias",
        run=run,
        question=lambda metric: "is the score further from no bias than resamples of its words differ?",
        compared="moved resamples",
    ),
)
