"""The numbers of docs/calibration.md are those of the files beside the experiments."""

import csv
import re
from collections import defaultdict

from conftest import ROOT

NUMBERS = ROOT / "validation" / "calibration" / "numbers"
INJECTED = ROOT / "validation" / "planted_bias" / "numbers"
LINES = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8").splitlines()
PAGE = " ".join(" ".join(LINES).split())
# without the targets of links
PROSE = re.sub(r"\]\([^)]*\)", "]", PAGE)
MODELS = ("word2vec", "GloVe 6B", "GloVe 840B", "spaCy")


def file(name, folder=NUMBERS):
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def table(head):
    """The rows of the page's table of which the head begins so, by their first cell."""
    start = next(i for i, line in enumerate(LINES) if line.startswith(head)) + 2
    rows = {}
    for line in LINES[start:]:
        if not line.startswith("|"):
            return rows
        first, *rest = (cell.strip() for cell in line.strip("|").split("|"))
        rows[first] = rest
    return rows


SUMMARY = table("| what | without bias")


def whole(shares):
    """The lowest and the highest of some shares, in whole percent."""
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"


def short(share):
    return f"{float(share):.3f}".removeprefix("0")


def lowest(text):
    return float(text.split(" to ")[0])


def highest(text):
    return float(text.split(" to ")[-1])


def percent(share):
    share = float(share)
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def test_tests_of_topics():
    rows = {row["metric"]: row for row in file("real_vectors")}
    found, column = SUMMARY["permutation test, two topics"][0], "coherent: permutation"
    for metric in ("WEAT", "ECT"):
        shares = lowest(rows[metric][column]), highest(rows[metric][column])
        assert f"{whole(shares)} ({metric})" in found


def test_level_against_random_groups():
    kinds = ("a word and its 7 nearest", "a word and 7 of its 60 nearest", "8 words of a category")
    rows = [row for row in file("random_groups_level") if row["groups"] in kinds]
    assert len({row["metric"] for row in rows}) == 11
    assert whole([float(row["all"]) for row in rows]) == "2 to 8 %"
    assert SUMMARY["random groups"][0] == "rejects 2 to 8 % by metric"
    assert "The 2 to 8 % of random groups include [three further kinds of topics]" in PROSE
    tight = next(r for r in rows if (r["metric"], r["groups"]) == ("RNSB", kinds[0]))
    assert tight["all"] == max(row["all"] for row in rows)
    assert f"rejects too often if groups are tight**: {tight['all']} over four models" in PROSE
    low = sorted(row["all"] for row in rows if row["metric"] in ("RND", "SAME"))
    assert f"RND and SAME reject too rarely ({low[0]} to {low[-1]})" in PROSE


def test_power_against_random_groups():
    found = {
        (row["metric"], row["moved by"]): [float(row[model].split(", ")[1]) for model in MODELS]
        for row in file("random_groups_power")
    }
    weat, rnd = (whole(found[metric, ".2"]) for metric in ("WEAT", "RND"))
    said = "difference of the groups' means, by .2 of their length."
    assert f"{said} WEAT finds {weat} of these biases, RND only {rnd}." in PROSE
    least = 100 * min(found["WEAT", ".4"])
    smallest = whole(found["WEAT", ".1"])
    assert (
        SUMMARY["random groups"][1] == f"WEAT finds {smallest} of biases of .1, {least:.0f} % or more of .4"
    )


def test_the_ten_tests_of_caliskan_et_al():
    p_values = []
    for row in file("random_groups_caliskan"):
        for model in MODELS if row["statistic"] == "effect size" else ():
            if row[model] != "lacks words":
                _, permutation, groups = re.fullmatch(r"(\S+) \((\S+)\): \S+, (\S+), .*", row[model]).groups()
                p_values.append((float(permutation), float(groups)))
    small = [sum(p <= 0.05 for p in column) for column in zip(*p_values, strict=True)]
    assert f"give {len(p_values)} effect sizes on four models" in PROSE
    assert f"[{small[0]} have p ≤ .05 by permutation, {small[1]} against random groups]" in PROSE


def test_few_topics():
    rows = {row["model"]: row for row in file("few_topics") if row["of"] == "scores"}
    shares = [rows[model]["small"] for model in ("GloVe 6B", "spaCy")]
    assert f"{shares[0]} (GloVe 6B) and {shares[1]} (spaCy) are at most .05" in PROSE


def test_four_crossed_groups():
    rows = {row["metric"]: [*map(float, list(row.values())[1:])] for row in file("crossed_groups")}
    assert all(min(rows[metric][4:]) > 0.4 for metric in ("IBD", "EIBD"))
    assert max(rows["FISE"][4:]) <= 0.05


def test_the_mean_of_a_topic():
    shares = [
        float(row[m].split()[0]) for row in file("aggregates") for m in ("WEAT", "WEAT-ES", "RND", "MAC")
    ]
    assert SUMMARY["mean of a topic against random groups"][0] == f"rejects {whole(shares)}"


def test_false_alarms_by_frequency():
    names = {"permutation": "plain", "frequency bands": "within bands", "control words": "control words"}
    free, injected = (
        {row["test"]: row for row in file(name) if row["training"] == "all together"}
        for name in ("frequency_no_bias", "frequency_planted")
    )
    expected = {
        shown: [free[test][kind].split()[0] for kind in ("none", "targets", "both", "both_8")]
        + [injected[test][kind].split()[0] for kind in ("strong", "strong_both")]
        for shown, test in names.items()
    }
    eight = [f"{100 * float(row[3]):.0f} %" for row in expected.values()]
    assert f"{eight[0]} of permutation tests of WEAT reject, but {eight[1]} with frequency bands" in PROSE
    assert f"and {eight[2]} with control words" in PROSE
    level, power = SUMMARY["sets that differ 4 times in frequency (WEAT)"]
    plain, bands, controls = (f"{float(row[2]):.0%}".replace("%", " %") for row in expected.values())
    assert level == f"permutation test rejects {plain}, frequency bands {bands}, control words {controls}"
    assert {row[4] for row in expected.values()} == {".89"}
    assert "[all three tests find 89 %]" in PROSE
    assert power == "both find 89 % of strong biases"
    assert f"they find {100 * float(injected['within bands']['strong_against'].split()[0]):.0f} % of" in PROSE


def test_false_alarms_by_frequency_of_other_metrics():
    rows = {(row["metric"], row["test"]): row for row in file("frequency_metrics")}
    kinds = ("none", "targets", "attributes", "both", "both_8")
    bands = {
        metric: [float(row[kind].split()[0]) for kind in kinds]
        for (metric, test), row in rows.items()
        if test == "within bands"
    }
    weat = {row["test"]: row for row in file("frequency_no_bias") if row["training"] == "all together"}
    bands["WEAT"] = [float(weat["within bands"][kind].split()[0]) for kind in kinds]
    right = [share for metric in ("WEAT", "RND", "SC-WEAT", "SAME") for share in bands[metric]]
    assert f"SAME ({whole(right)}), but too wide for RNSB** (up to {100 * max(bands['RNSB']):.0f} %)" in PROSE
    plain = [float(row["both_8"].split()[0]) for (_, test), row in rows.items() if test == "plain"]
    assert (
        f"{whole([*plain, float(weat['plain']['both_8'].split()[0])])} reject if both sides differ 8" in PROSE
    )
    (fast,) = (r for r in file("frequency_no_bias") if (r["training"], r["test"]) == ("fastText", "plain"))
    assert f"WEAT rejects {whole([float(fast[kind].split()[0]) for kind in kinds])}." in PROSE
    two = next(row for row in file("frequency_bands") if row["width"] == "2")
    assert 0.5 <= float(two["no test: both_8"]) < 0.6  # "half of the queries"


def test_coverage_of_intervals():
    found = defaultdict(lambda: defaultdict(list))
    for row in file("intervals"):
        for kind in ("jackknife", "percentile", "BCa"):
            found[row["metric"]][kind] += map(int, row[kind].split(" · "))
    low = {kind: {metric: min(found[metric][kind]) for metric in found} for kind in found["WEAT"]}
    highest_share = max(max(kinds["jackknife"]) for kinds in found.values())
    span = f"{min(low['jackknife'].values())} to {highest_share} %"
    assert "The default is `jackknife`; its worst metric is WEAT-ES." in PROSE
    assert SUMMARY["default interval of a score, from 8 words on"][0] == f"covers the mean score in {span}"
    worst = {
        kind: [metric for metric, share in shares.items() if share == min(shares.values())]
        for kind, shares in low.items()
    }
    assert worst == {"jackknife": ["WEAT-ES"], "percentile": ["RIPA"], "BCa": ["ECT", "RNSB"]}
    said = f"in as little as {min(low['BCa'].values())} %** (ECT, RNSB)"
    assert f"{said}, and `percentile` in {min(low['percentile'].values())} % (RIPA)" in PROSE
    any_will_do = {metric for metric in found if min(low[kind][metric] for kind in low) >= 93}
    assert any_will_do == {"WEAT", "RND", "RIPA (mean)", "MAC", "Generalised WEAT", "SC-WEAT"}


WORLDS = ("alike", "length", "all", "models, spreads")


def decimals(value, form=".2f"):
    return f"{round(float(value), 2) + 0:{form}}".replace("0.", ".", 1).replace("-", "−")


def test_what_standardised_bias_gains_over_distance():
    rows = {(row["world"], row["metric"], row["scale"]): row for row in file("scale", INJECTED)}
    raw = {world: decimals(rows[world, "mean", "distance"]["tau"]) for world in WORLDS}
    gains = {
        world: (float(row["over_distance"]), float(row["over_distance_error"]))
        for world, row in ((world, rows[world, "mean", "standardized"]) for world in raw)
    }
    by = {world: f"by {decimals(abs(gain))} ± {decimals(error)}" for world, (gain, error) in gains.items()}
    assert f"rises from {raw['length']} {by['length']} if models differ in length" in PROSE
    assert f"rises from {raw['all']} {by['all']} if they also differ in anisotropy and dimension" in PROSE
    spreads = "models, spreads"
    assert f"it rises from {raw[spreads]} {by[spreads]}." in PROSE
    assert f"If only bias differs, it is {raw['alike']}, and falls {by['alike']}." in PROSE
    assert all(gain > 2 * error for world, (gain, error) in gains.items() if world != "alike")
    assert abs(gains["alike"][0]) < 2 * gains["alike"][1]
    assert abs(float(rows["anisotropy", "mean", "standardized"]["over_distance"])) < 0.01
    for metric in ("rnd", "rnsb", "ripa"):  # need it where vectors differ in length
        gained = rows["length", metric, "standardized"]
        assert float(gained["over_distance"]) > 2 * float(gained["over_distance_error"])
    rnd = float(rows["alike", "rnd", "standardized"]["over_distance"])
    assert f"It costs RND {decimals(-rnd)} if only bias differs" in PROSE
    cosines = [
        float(r["over_distance"])
        for (w, _, s), r in rows.items()
        if (w, s) == ("models, lengths", "standardized")
    ]
    assert f"cosine metrics up to {decimals(-min(cosines)).rstrip('0')} if bias is a share of length" in PROSE
    normal = rows["anisotropy", "mean", "normal"]
    assert f"Normal scores of the percentile add {decimals(normal['over_standardized'])} under" in PROSE
    reviewers = " ".join((ROOT / "docs" / "reviewers.md").read_text(encoding="utf-8").split())
    taus = [
        decimals(rows[world, "mean", scale]["tau"])
        for world, scale in (("alike", "distance"), ("all", "distance"), ("all", "standardized"))
    ]
    assert f"is {taus[0]} on average where only the bias differs" in reviewers
    assert f"otherwise {taus[1]} ({taus[2]} by standardised bias;" in reviewers


def test_scores_at_the_bound_and_random_topics_at_the_extremes():
    rows = [row for row in file("baselines", INJECTED) if row["scale"] == "standardized"]
    at_bound = sum(round(int(row["scores"]) * float(row["at_bound"])) for row in rows)
    assert f"{at_bound} of {sum(int(row['scores']) for row in rows)} scores exceed all 999" in PROSE
    mac = next(row for row in rows if row["metric"] == "mac")
    assert f"exceed [{float(mac['q95_low']):.1f} in one model and {float(mac['q95_high']):.1f} in" in PROSE


def test_coverage_of_standardised_bias():
    labels = {"weat": "WEAT", "rnd": "RND", "ect": "ECT", "rnsb": "RNSB", "mac": "MAC"}
    chosen = {"score": "in scores.csv", "mean": "t, words - 1"}
    found = defaultdict(list)
    for row in file("standardized"):
        if row["words"] == "8" and row["interval"] == chosen[row["of"]]:
            found[labels[row["metric"]], row["of"]].append(row)
            assert int(row["runs"]) >= 395
    shares = {key: [f"{100 * float(row['covers']):.0f}" for row in of_bias] for key, of_bias in found.items()}
    zero, other = (
        [f"{min(cells, key=int)} to {max(cells, key=int)} %" for cells in columns]
        for columns in (
            [[shares[metric, of][0] for metric in labels.values()] for of in chosen],
            [[cell for metric in labels.values() for cell in shares[metric, of][1:]] for of in chosen],
        )
    )
    summary = SUMMARY["interval of standardised bias, score · mean over queries"]
    assert summary == [f"covers its mean in {' · '.join(zero)}", " · ".join(other)]
    population = {metric: float(found[metric, "mean"][0]["covers_population"]) for metric in ("RNSB", "MAC")}
    said = " and ".join(f"{100 * share:.0f} % by {metric}" for metric, share in population.items())
    assert f"cover the value of all possible words in {said}" in PROSE
    half = [
        float(row["covers"])
        for row in file("standardized_half")
        if (row["words"], row["of"], row["interval"]) == ("8", "mean", "t, words - 1")
    ]
    assert f"covers the mean of such lists in {whole(half)}" in PROSE


def power(row):
    return " · ".join(f"{100 * float(row[f'power_{shift}']):.0f}" for shift in ("0.5", "1", "2")) + " %"


def test_level_of_two_models():
    rows = file("two_models_tests")
    chosen = {"these queries": "t, words - 1", "other queries": "t, also without each cluster"}
    these, other = (next(r for r in rows if (r["claim"], r["test"]) == pair) for pair in chosen.items())
    errors = [percent(row["family_error_largest"]) for row in (these, other)]
    level, found = SUMMARY["two models, these queries · other queries"]
    assert level == f"four equal models get a wrong difference in at most {' · '.join(errors)}"
    alike = [percent(row["alike_at_margin_largest"]) for row in (these, other)]
    assert f"called alike in at most {alike[0]} (these queries) and {alike[1]} (other queries)" in PROSE
    covers = [percent(row["covers_smallest"]) for row in (these, other)]
    assert f"intervals cover in at least {covers[0]} and {covers[1]}" in PROSE
    rejected = [float(row["family_error_largest"]) for row in rows if row not in (these, other)]
    assert len(rejected) == 12
    assert f"err in {percent(min(rejected))} or more in some design" in PROSE
    twelve = [row for row in file("two_models_queries") if row["queries"] == "12"]
    ones = {row["claim"]: power(row).split(" · ")[1] for row in twelve}
    assert (
        found
        == f"12 queries find one standard deviation in {' · '.join(f'{ones[claim]} %' for claim in chosen)}"
    )


def test_two_models_by_number_of_queries():
    rows = {(row["claim"], row["queries"]): row for row in file("two_models_queries")}
    claims = ("these queries", "other queries")
    found, alike_50, alike_12 = (
        [percent(rows[claim, queries][column]) for claim in claims]
        for column, queries in (("power_1", "50"), ("alike_if_equal", "50"), ("alike_if_equal", "12"))
    )
    said = f"SD is found with 50 queries in {found[0]} of runs (these queries) and {found[1]} (other queries)"
    assert said in PROSE
    assert (
        f"with 12 queries in {alike_12[0]} and {alike_12[1]}, with 50 queries in {alike_50[0]} and" in PROSE
    )
    assert f"with 50 queries in {alike_50[0]} and {alike_50[1]}." in PROSE


def test_a_model_without_bias():
    found = {
        (row["neutral"], row["metric"]): f"{100 * float(row['found']):.0f} %"
        for row in file("two_models_neutral")
        if (row["claim"], row["queries"], float(row["rivals_mean"])) == ("these queries", "12", 0)
    }
    by_metric = [found["exact", metric] for metric in ("weat_es", "weat", "rnd")]
    assert "in {} of runs by WEAT-ES, {} by WEAT and {} by RND".format(*by_metric) in PROSE
    assert f"WEAT finds it in {found['sampled', 'weat']}" in PROSE


def test_comparisons_of_language_models():
    errors, powers = defaultdict(list), []
    for row in file("sentence_pairs"):
        if float(row["effect"]) == 0:
            errors[row["metric"], row["queries"], row["pairs"]].append(float(row["found"]))
        elif (row["queries"], row["pairs"], row["models"]) == ("1", "16", "4"):
            powers.append(float(row["found"]))
    assert len(errors) == 6
    largest = max(map(max, errors.values()))
    assert largest <= 0.06
    assert f"the family error is at most {percent(largest)}" in PROSE
    assert sorted(powers)[len(powers) // 2] < 0.1  # "with 16 pairs, little is found"


def test_answers_that_change_without_a_model():
    rows = file("left_out")
    assert {(row["answer"], row["answer_without"]) for row in rows} == {("cannot tell", "different")}
    assert f"[{['no', 'one', 'two', 'three', 'four', 'five'][len(rows)]} answers change]" in PROSE
    assert "both from *cannot tell* to *different*" in PROSE


def test_random_criteria():
    rows = file("random_criteria")
    raw = {}
    for row in rows:
        if (row["kind"], row["place"]) == ("independent", "criterion"):
            assert row["criteria"] == "200"
            if row["claim"] == "raw values":
                raw[row["metric"]] = row["least_biased"]
            else:
                assert row["least_biased"] == "0"
    said = f"word2vec is the least biased in {raw['mac']} of them by MAC, and in {raw['rnsb']} by RNSB"
    assert said in PROSE
    of_mac = {
        row["model"]: float(row["standardized"])
        for row in file("random_criteria_means")
        if (row["kind"], row["metric"]) == ("independent", "mac")
    }
    first = of_mac.pop("word2vec-google-news-300-subset")
    (others,) = {f"{value:.1f}"[1:] for value in of_mac.values()}
    assert (
        f"its standardised bias is {first:.1f} SD for word2vec and {others} SD for the other models" in PROSE
    )
    rnsb = next(
        row
        for row in rows
        if (row["kind"], row["place"], row["metric"], row["claim"])
        == ("topics", "Overall", "rnsb", "other queries")
    )
    assert f"calls two models different in {rnsb['different']} of {rnsb['criteria']} cases" in PROSE
    # at most 9 % are allowed: 18 of 200; by MAC, no models are compared
    bounded = [row for row in rows if row["claim"] != "raw values" and row["metric"] != "mac"]
    bounded = [row for row in bounded if (row["kind"], row["claim"]) != ("topics", "these queries")]
    assert {row["criteria"] for row in bounded if row["place"] == "criterion"} == {"200"}
    assert all(int(row["least_biased"]) <= 0.09 * int(row["criteria"]) for row in bounded)


def test_ranks():
    rows = file("ranks")
    inside, decided = (
        [float(row[column].split()[0]) for row in rows]
        for column in (
            "intervals of ranks that hold the true rank, over words",
            "pairs of one truth that are decided, over words",
        )
    )
    span = f"{min(inside):.0f} to {max(inside):.0f} %"
    assert SUMMARY["interval of a rank, over words"][0] == f"contains the true rank in {span}"
    assert f"in {min(decided):.1f} to {max(decided):.1f} % of cases".replace("0.4", ".4") in PROSE


def test_pages_that_repeat_these_numbers():
    p_values, intervals = (
        re.sub(
            r"\]\([^)]*\)", "]", " ".join((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").split())
        )
        for name in ("p-values", "intervals")
    )
    (weat,) = (row["coherent: permutation"] for row in file("real_vectors") if row["metric"] == "WEAT")
    assert f"WEAT rejects [{whole([lowest(weat), highest(weat)])}] of such queries" in p_values
    covers = [
        float(row["covers"])
        for row in file("standardized")
        if row["interval"] == {"score": "in scores.csv", "mean": "t, words - 1"}[row["of"]]
    ]
    assert f"[Coverage] for lists of the same length is {100 * min(covers):.0f} % or more" in p_values
    rank = SUMMARY["interval of a rank, over words"][0]
    assert f"[Intervals of ranks] {rank.replace('contains', 'contain')} of cases" in intervals


def test_ten_claims_then_and_now():
    rows = file("then_and_now")
    assert len({row["claim"] for row in rows}) == 10
    assert all(row["then"] and row["now"] and row["command"] for row in rows)
