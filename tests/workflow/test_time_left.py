"""The time left, on timelines of a full case study: one as measured (6 archives, 814 steps, 654 seconds), and one
scheduled here, on two cores, whose last download waits for cells and then comes slowly."""

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
    steps = [("query", 0.005, 0.1)] * 25 + [step for model in MODELS for step in model_steps(model)]
    for rule, (count, took, begin, end) in AT_END.items():
        steps += [(rule, took, begin + (i + 1) * (end - begin) / count) for i in range(count)]
    return known(now, received, sum(MEGABYTES.values()) / DOWNLOADED, STORES, steps, cores=8)


def known(now, received, rate, stores, steps, cores):
    """The same, of stores (when they begin, and for how long they are at work) and steps (`model_steps`)."""
    missing = sum(MEGABYTES.values()) - received
    conversions = []
    for model, megabytes in MEGABYTES.items():
        begin, took = stores[model]
        if now < begin:
            conversions.append(Conversion(megabytes))
        else:
            conversions.append(Conversion(megabytes, min(now - begin, took), min((now - begin) / took, 1)))
    done = [(rule, took) for rule, took, end in steps if end <= now]
    seconds = Counter()
    for rule, took in done:
        seconds[rule] += took
    at_work = {second for _, took, end in steps for second in range(int(end - took), int(min(end, now)))}
    return {
        "missing": missing,
        "rate": rate if missing else 0.0,
        "conversions": conversions,
        "planned": Counter(rule for rule, *_ in steps),
        "finished": Counter(rule for rule, _ in done),
        "seconds": seconds,
        "busy": len(at_work),
        "cores": cores,
    }


@pytest.mark.parametrize("now", [END / 3, END / 2, 2 * END / 3, 0.8 * END, 0.9 * END])
def test_from_a_third_on_it_is_within_a_factor_of_two(now):
    assert (END - now) / 2 < time_left(**state(now)) < 2 * (END - now)


# of the timeline scheduled here, in megabytes and seconds
ORDER = ["lexvec", "fasttext", "numberbatch", "wiki", "twitter", "word2vec"]
LINE, SLOWS, SLOW_LINE, CONVERTED = 400, 10, 40, 30  # a second; when the line slows down
CELL, INFERENCE, REPORT, TICK, LATELY = 0.2, 10, 15, 0.2, 30
LAST = ["store", "inference", "archive"]  # as the engine has it: what reads the least


def schedule(cores=2, *, after_all=False):
    """(time, megabytes received, their rate lately) of each tick; stores; steps. `after_all`: no inference before the
    last cell, as the engine does where each takes all cores."""
    rest, after = {}, {}
    for model in ORDER:
        rest["archive", model], after["archive", model] = MEGABYTES[model], []
        rest["store", model], after["store", model] = MEGABYTES[model] / CONVERTED, [("archive", model)]
    for number, model in enumerate(MODELS):
        cells = [("cell", number, i) for i in range(CELLS)]
        rest |= dict.fromkeys(cells, CELL) | {("inference", number): INFERENCE}
        after |= {cell: [("store", model)] for cell in cells} | {("inference", number): cells}
    if after_all:
        all_cells = [name for name in rest if name[0] == "cell"]
        after |= {name: all_cells for name in rest if name[0] == "inference"}
    rest["report", ""], after["report", ""] = REPORT, [name for name in rest if name[0] == "inference"]
    looks, came, begun, ended, received, now = [], [0.0], {}, {}, 0.0, 0.0
    while len(ended) < len(rest):
        ready = [name for name in rest if name not in begun and ended.keys() >= set(after[name])]
        ready.sort(key=lambda name: LAST.index(name[0]) if name[0] in LAST else -1)
        begun |= dict.fromkeys(ready[: cores - len(begun) + len(ended)], now)
        at_work = [name for name in begun if name not in ended]
        downloads = [name for name in at_work if name[0] == "archive"]
        now += TICK
        for name in at_work:
            line = (LINE if now < SLOWS else SLOW_LINE) / max(len(downloads), 1)
            done = min(TICK * (line if name in downloads else 1), rest[name])
            rest[name] -= done
            received += done if name in downloads else 0
            if rest[name] < 1e-9:
                ended[name] = now
        came += [received] if downloads else []
        lately = came[-int(LATELY / TICK) :]
        looks.append((now, received, (lately[-1] - lately[0]) / len(lately) / TICK))
    stores = {
        model: (begun["store", model], ended["store", model] - begun["store", model]) for model in STORES
    }
    steps = [
        (name[0], ended[name] - begun[name], ended[name])
        for name in rest
        if name[0] not in ("archive", "store")
    ]
    return looks, stores, steps


@pytest.mark.slow
@pytest.mark.parametrize("after_all", [False, True])
def test_where_downloads_and_stores_wait_for_cells_and_the_line_slows_down(after_all):
    looks, stores, steps = schedule(after_all=after_all)
    end = looks[-1][0]
    for now, received, rate in looks[len(looks) // 3 : int(0.9 * len(looks)) : 20]:
        left = time_left(**known(now, received, rate, stores, steps, cores=2))
        assert (end - now) / 2 < left < 2 * (end - now), now


CELLS_DONE = {
    "missing": 0, "rate": 0.0, "conversions": [], "planned": {"cell": 700, "inference": 20, "report": 1},
    "finished": {"cell": 700}, "seconds": {"cell": 70.0}, "busy": 35, "cores": 2,
}  # fmt: skip


def test_time_left_goes_down_while_long_steps_are_at_work():
    """Also where none of them is done: a step of inference is assumed to take 2.3 s here."""
    lefts = [time_left(**CELLS_DONE, running={"inference": [at_work] * 2}) for at_work in (0.0, 1.0, 2.0)]
    assert lefts == sorted(lefts, reverse=True)
    assert lefts[0] - lefts[2] == pytest.approx(4)
    done = CELLS_DONE | {
        "finished": {"cell": 700, "inference": 2},
        "seconds": {"cell": 70.0, "inference": 40.0},
    }
    first, later = (time_left(**done, running={"inference": [at_work] * 2}) for at_work in (1.0, 11.0))
    assert first - later == pytest.approx(10, rel=0.2)


def test_time_left_is_not_known_when_the_first_steps_of_a_kind_take_longer_than_assumed():
    assert time_left(**CELLS_DONE, running={"inference": [20.0, 20.0]}) is None
    end = CELLS_DONE | {
        "finished": {"cell": 700, "inference": 20},
        "seconds": {"cell": 70.0, "inference": 400.0},
    }
    assert time_left(**end, running={"report": [0.5]}) is not None
    assert time_left(**end, running={"report": [60.0]}) is None
