"""The time left, on the timeline of a full case study: 6 archives, 814 steps, 654 seconds."""

from collections import Counter

import pytest

from biasgrid.workflow.time_left import Conversion, time_left

END = 654.0  # seconds from the first step, measured with 8 steps at a time on two cores
MEGABYTES = {
    "numberbatch": 396,
    "wiki": 439,
    "twitter": 876,
    "fasttext": 1153,
    "word2vec": 1756,
    "lexvec": 2410,
}
# when an archive was there and checked, and for how long it was converted
STORES = {
    "numberbatch": (13, 86), "wiki": (22, 103), "twitter": (47, 266), "fasttext": (63, 325), "word2vec": (103, 401),
    "lexvec": (105, 473),
}  # fmt: skip
DOWNLOADED = 74.0  # seconds, at an even rate
# the steps of a model after its store: seconds of each, and seconds from the store to its end.
# The last store was there at 590 s and its model's steps were done at 623 s; the evaluation of one model took 188 s
CELLS, PER_SECOND = 100, 10
STEPS = {
    "pool": [(3, 3)],
    "cell": [(0.7, (i + 1) / PER_SECOND) for i in range(CELLS)],
    "inference": [(26, 33)] * 4,
}
EVALUATION = {"numberbatch": 188}, 20
# word2vec is there twice, as it is debiased
MODELS = [*STORES, "word2vec"]
AT_END = {"table": (13, 1.5, 600, 615), "figure": (17, 4.0, 610, 637), "report": (1, 17.0, 637, END)}


def model_steps(model):
    """(rule, seconds, when it is done) of each step."""
    ready, evaluation = sum(STORES[model]), EVALUATION[0].get(model, EVALUATION[1])
    for rule, steps in (STEPS | {"evaluation": [(evaluation, evaluation)]}).items():
        for took, end in steps:
            yield rule, took, ready + end


def state(now):
    """What is known of the run after so many seconds."""
    received = sum(MEGABYTES.values()) * min(now / DOWNLOADED, 1)
    conversions = []
    for model, (begin, took) in STORES.items():
        if now < begin:
            conversions.append(Conversion(MEGABYTES[model]))
        else:
            share = min((now - begin) / took, 1)
            conversions.append(Conversion(MEGABYTES[model], min(now - begin, took), share))
    steps = [("query", 0.005, 0.1)] * 25 + [step for model in MODELS for step in model_steps(model)]
    for rule, (count, took, begin, end) in AT_END.items():
        steps += [(rule, took, begin + (i + 1) * (end - begin) / count) for i in range(count)]
    done = [(rule, took) for rule, took, end in steps if end <= now]
    seconds = Counter()
    for rule, took in done:
        seconds[rule] += took
    at_work = {second for _, took, end in steps for second in range(int(end - took), int(min(end, now)))}
    missing = sum(MEGABYTES.values()) - received
    return {
        "missing": missing,
        "rate": sum(MEGABYTES.values()) / DOWNLOADED if missing else 0.0,
        "conversions": conversions,
        "planned": Counter(rule for rule, *_ in steps),
        "finished": Counter(rule for rule, _ in done),
        "seconds": seconds,
        "busy": len(at_work),
        "cores": 8,
    }


@pytest.mark.parametrize("now", [END / 3, END / 2, 2 * END / 3, 0.8 * END, 0.9 * END])
def test_from_a_third_on_it_is_within_a_factor_of_two(now):
    assert (END - now) / 2 < time_left(**state(now)) < 2 * (END - now)
