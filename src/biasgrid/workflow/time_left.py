"""How long the rest of a run may take: by bytes while bytes are missing, by archives' sizes, then by steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import median

BEGUN = 0.02  # of an archive: what is read of less says nothing of its speed
# a cell's inference on one core, with every test, until a step of inference is done: these come after all cells, as
# each takes every core, and are the longest steps. Of the rehearsed case study's 861 scores, on two cores: 112 s
INFERENCE = 0.13


@dataclass(frozen=True)
class Conversion:
    """An archive that becomes a store.

    Parameters
    ----------
    megabytes
        Of the archive.
    seconds
        For which it has been at work, or which it took; None before it begins.
    share
        What was read of the archive, 0 to 1, 1 where the store is done; None: not known.
    """

    megabytes: float
    seconds: float | None = None
    share: float | None = None


def time_left(
    *,
    missing: float,
    rate: float,
    conversions: Collection[Conversion],
    planned: Mapping[str, int],
    finished: Mapping[str, int],
    seconds: Mapping[str, float],
    busy: float,
    cores: int,
    running: Mapping[str, Collection[float]] | None = None,
) -> float | None:
    """Seconds that a run may still take; None where nothing says.

    Where a rule has no finished step, its steps are assumed to take as long as those of other rules. As soon as one
    has taken longer, nothing is known.

    Parameters
    ----------
    missing
        Megabytes that are still to be downloaded.
    rate
        Megabytes a second that came lately while downloads were at work.
    conversions
        All of this run. A store's time grows with its archive. While none is done, nothing is known.
    planned, finished
        Counts of the other steps by rule.
    seconds
        What those that are finished took, by rule.
    busy
        Seconds in which one of these steps was at work, or several.
    cores
        How many steps go side by side at most.
    running
        For how many seconds each of the steps that are at work has been so, by rule.
    """
    at_work = running or {}
    done = [each for each in conversions if each.share == 1 and each.seconds]
    means = {rule: seconds[rule] / count for rule, count in finished.items() if count}
    rest = {
        rule: count - finished.get(rule, 0)
        for rule, count in planned.items()
        if count > finished.get(rule, 0)
    }
    if (conversions and not done) or (missing and not rate) or (rest and not means):
        return None
    # models' steps go on beside conversions; rules of which no step is done yet come at the end
    beside = max(1.0, min(cores, sum(seconds.values()) / max(busy, 1.0)))
    begun = sum(min(elapsed, means[rule]) for rule in means for elapsed in at_work.get(rule, ()))
    of_models = (sum(means[rule] * count for rule, count in rest.items() if rule in means) - begun) / beside
    usual = median(means.values()) if means else 0.0
    unknown = {rule: count for rule, count in rest.items() if rule not in means}
    of_inference = sum(unknown.pop(rule) for rule in list(unknown) if rule.startswith("inference"))
    all_inference = sum(count for rule, count in planned.items() if rule.startswith("inference"))
    at_end = usual * sum(unknown.values()) / beside
    one_inference = INFERENCE * planned.get("cell", 0) / max(all_inference, 1) / cores
    at_end += one_inference * of_inference
    for rule, times in at_work.items():
        if rule not in means and rule in rest:
            expected = one_inference if rule.startswith("inference") else usual
            if max(times, default=0.0) > expected:
                return None
            at_end -= sum(times) / (1 if rule.startswith("inference") else beside)
    arrive = missing / rate if missing else 0.0
    open_stores = [each for each in conversions if each.share != 1]
    if not open_stores:
        return arrive + of_models + at_end
    speed = sum(each.megabytes for each in done) / sum(each.seconds or 0 for each in done)
    waiting = _together([each.megabytes / speed for each in open_stores if each.seconds is None], cores)
    stores = max(arrive + waiting, _together([_rest(each, speed) for each in open_stores], cores))
    # those of the last store, once it is there
    of_last = sum(means[rule] * planned[rule] for rule in means) / len(conversions) / beside
    # where cores are few, conversions and steps wait for each other
    work = sum(_rest(each, speed) for each in open_stores) + of_models * beside
    return max(stores + of_last, of_models, work / cores) + at_end


def _rest(conversion: Conversion, speed: float) -> float:
    """Seconds that a conversion still takes."""
    elapsed, share = conversion.seconds or 0.0, conversion.share or 0.0
    if share > BEGUN:
        return elapsed * (1 - share) / share
    return max(conversion.megabytes / speed - elapsed, 0.0)


def _together(times: Collection[float], cores: int) -> float:
    """Seconds that so many take side by side."""
    return max([*times, sum(times) / cores]) if times else 0.0
