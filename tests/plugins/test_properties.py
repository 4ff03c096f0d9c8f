"""What metrics can and cannot see: properties P01 to P52 of the scores of Schroeder et al. (2021), each a test of its
name. Expected values are the paper's, or arithmetic in the test."""

import csv
import json
import math
from functools import partial
from itertools import combinations, permutations

import biasgrid_plugin_properties as properties
import numpy as np
import pytest
from biasgrid_plugin_properties import files, scores, search, settings, texts

from biasgrid.cli import main
from biasgrid.metrics import REGISTRY

pytestmark = pytest.mark.slow

EAST, WEST, NORTH = [[1.0, 0.0]], [[-1.0, 0.0]], [[0.0, 1.0]]


def score(metric, targets, attributes, **parameters):
    sets = ([np.array(s, dtype=float) for s in side] for side in (targets, attributes))
    with np.errstate(all="ignore"):
        return REGISTRY[metric].function(*sets, **parameters)


def value(metric, targets, attributes, **parameters):
    return score(metric, targets, attributes, **parameters).value


def word_weat(word, first, second):
    """s(w, A, B)."""
    return score("weat", [[word], [word]], [first, second]).detail["association"].values[0][0]


def word_same(word, first, second):
    """b(w, A, B)."""
    return value("same_skew", [first, second], [[word]])


def pol(degrees):
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]


def vec(s):
    """A word whose s(w, east, west) is s, of -2 to 2."""
    return [s / 2, math.sqrt(1 - s * s / 4)]


def d(x, y, **parameters):
    """WEAT's effect size of words whose associations are x and y, of one word each, too."""
    parameters["one_word"] = "keep"
    return value("weat_es", [[vec(s) for s in x], [vec(s) for s in y]], [EAST, WEST], **parameters)


def mean_unit(vectors):
    vectors = np.asarray(vectors, dtype=float)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).mean(axis=0)


def close(number, tolerance=1e-12):
    return pytest.approx(number, abs=tolerance)


@pytest.fixture
def rng():
    return np.random.default_rng(6)


def random_case(rng, *shapes):
    return [rng.normal(size=shape) * rng.uniform(0.1, 9, size=(shape[0], 1)) for shape in shapes]


# WEAT


def test_p01_an_association_is_a_cosine_with_the_difference_times_its_length(rng):
    for _ in range(20):
        a, b, (w,) = random_case(rng, (5, 7), (4, 7), (1, 7))
        difference = mean_unit(a) - mean_unit(b)
        length = np.linalg.norm(difference)
        cosine = w @ difference / np.linalg.norm(w) / length
        assert word_weat(w, a, b) == close(cosine * length)


def test_p02_lengths_of_vectors_do_not_matter(rng):
    a, b, x, y = random_case(rng, (5, 7), (4, 7), (3, 7), (3, 7))
    longer = [v * rng.uniform(0.1, 9, size=(len(v), 1)) for v in (a, b, x, y)]
    for metric in ("weat", "weat_es"):
        assert value(metric, [x, y], [a, b]) == close(value(metric, longer[2:], longer[:2]))
    for metric in ("same", "same_skew", "same_stereotype"):
        assert value(metric, [a, b], [x]) == close(value(metric, longer[:2], longer[2:3]))
    assert value("mac", [x], [a, b]) == close(value("mac", longer[2:3], longer[:2]))


@pytest.mark.parametrize(("degrees", "extreme"), [(90, math.sqrt(2)), (180, 2), (10, 0.1743)])
def test_p03_the_extremes_of_word_weat_depend_on_the_groups(degrees, extreme):
    a, b = np.array(pol(0)), np.array(pol(degrees))
    assert word_weat(a - b, [a], [b]) == close(extreme, 1e-4)
    assert word_weat(b - a, [a], [b]) == close(-extreme, 1e-4)
    everywhere = [word_weat(pol(angle), [a], [b]) for angle in range(360)]
    assert max(map(abs, everywhere)) <= word_weat(a - b, [a], [b]) + 1e-12


def test_p04_word_weat_is_zero_for_a_word_in_the_middle_and_for_no_other():
    assert word_weat([1, 1], EAST, NORTH) == close(0)
    assert abs(word_weat([1, 0.9], EAST, NORTH)) > 0.05


def test_p05_four_equal_words_have_no_effect_size():
    word = [0.3, 0.7]
    for ddof in (0, 1):
        assert math.isnan(value("weat_es", [[word, word], [word, word]], [EAST, NORTH], ddof=ddof))


P06 = [[0.8, 0, 0.6], [0, 0.8, 0.6], [0.8, 0, -0.6], [0, 0.8, -0.6]]
P06_GROUPS = [[[1, 0, 0]], [[0, 1, 0]]]


def test_p06_the_effect_size_is_zero_though_every_word_is_biased():
    associations = [word_weat(word, *P06_GROUPS) for word in P06]
    assert np.abs(associations) == close(0.8)
    assert value("weat_es", [P06[:2], P06[2:]], P06_GROUPS) == close(0)
    assert value("same", P06_GROUPS, [P06]) == close(0.8 / math.sqrt(2))
    assert np.dot(np.subtract(*P06_GROUPS)[0], np.subtract(P06[0], P06[2])) == 0


def test_p07_the_partition_decides_the_effect_size():
    targets = [[P06[0], P06[2]], [P06[1], P06[3]]]
    assert value("weat_es", targets, P06_GROUPS, ddof=0) == close(2)
    assert value("weat_es", targets, P06_GROUPS, ddof=1) == close(math.sqrt(3))


def test_p08_a_sum_of_standardised_values_is_at_most_the_root_of_m_times_n_minus_m(rng):
    def chosen_sum(x, y):
        # d is the sum of the z-scores of X, divided by m (n - m) / n
        return d(x, y) * len(x) * len(y) / (len(x) + len(y))

    for _ in range(300):
        m, rest = rng.integers(1, 6, size=2)
        s = rng.uniform(-2, 2, size=m + rest)
        assert abs(chosen_sum(s[:m], s[m:])) <= math.sqrt(m * rest) + 1e-9
    assert chosen_sum([1.5] * 2, [-0.3] * 6) == close(math.sqrt(2 * 6))


def test_p09_the_bound_of_the_effect_size(rng):
    for _ in range(200):
        m, rest = rng.integers(1, 9, size=2)
        n = m + rest
        x, y = rng.uniform(-2, 2, size=m), rng.uniform(-2, 2, size=rest)
        bound = n / math.sqrt(m * rest)
        assert abs(d(x, y)) <= bound + 1e-9
        assert abs(d(x, y, ddof=1)) <= bound * math.sqrt((n - 1) / n) + 1e-9
    for size in (1.9, 0.1, 1e-4):
        assert d([size], [-size]) == close(2, 1e-9)
        assert d([-size], [size], ddof=1) == close(-math.sqrt(2), 1e-9)
    # sets of unequal size exceed 2
    assert d([1], [0.5] * 8) == close(9 / math.sqrt(8), 1e-9)


def test_p10_the_largest_effect_size_needs_no_more_than_constant_sets():
    assert d([0.30] * 3, [0.29] * 3) == close(2, 1e-9)


def test_p11_more_bias_and_a_smaller_effect_size():
    def same(x, y):
        return value("same", [EAST, WEST], [[vec(s) for s in (*x, *y)]])

    little, much = ([0.1, 0.1], [-0.1, -0.1]), ([0.1, 1.9], [-0.1, -1.9])
    assert [d(*little), d(*much)] == [close(2, 1e-9), close(1.487, 5e-4)]
    assert [same(*little), same(*much)] == [close(0.05), close(0.5)]


@pytest.mark.parametrize("m", [2, 4, 8, 16])
def test_p11b_one_extreme_word_a_side(m):
    x = [2 - 1e-9] + [1e-9] * (m - 1)
    assert d(x, [-s for s in x]) == close(2 / math.sqrt(m), 1e-6)


def test_p11c_separated_pairs_of_words_have_an_effect_size_of_115_at_least(rng):
    least = 2 / math.sqrt(3)
    for _ in range(300):
        s = np.sort(rng.uniform(-2, 2, size=4))
        assert d(s[2:], s[:2]) >= least - 1e-9
    assert d([1, 0], [0, 0]) == close(least, 1e-9)


def test_p12_the_effect_size_does_not_see_skew():
    both = [0.5, 0.3]
    assert d(both, both) == close(0)
    assert value("same_skew", [EAST, WEST], [[vec(s) for s in both]]) == close(0.2)


def test_p12b_the_papers_own_example_of_it_has_no_effect_size():
    assert math.isnan(d([0.5], [0.5]))


def test_p13_ordered_sets_have_a_positive_effect_size(rng):
    for _ in range(200):
        threshold = rng.uniform(-1.9, 1.9)
        x, y = rng.uniform(threshold, 2, size=3), rng.uniform(-2, threshold, size=5)
        assert d(x, y) > 0


def test_p14_the_difference_of_means_does_not_change_when_roles_do_and_the_effect_size_does(rng):
    a, b, x, y = random_case(rng, *[(6, 10)] * 4)
    assert value("weat", [x, y], [a, b]) == close(value("weat", [a, b], [x, y]))
    assert abs(value("weat_es", [x, y], [a, b]) - value("weat_es", [a, b], [x, y])) > 1e-3


def test_p15_an_exchange_of_two_sets_turns_the_sign(rng):
    a, b, x, y = random_case(rng, *[(6, 10)] * 4)
    for metric in ("weat", "weat_es"):
        before = value(metric, [x, y], [a, b])
        assert value(metric, [y, x], [a, b]) == close(-before)
        assert value(metric, [x, y], [b, a]) == close(-before)
        assert value(metric, [y, x], [b, a]) == close(before)


# MAC


@pytest.mark.parametrize("degrees", [0, 45, 120])
def test_p20_mac_of_opposite_groups_is_neutral_for_every_word(degrees):
    word = pol(degrees)
    assert value("mac", [[word]], [EAST, WEST]) == close(1)
    assert abs(word_weat(word, EAST, WEST)) >= 0.99


def test_p21_mac_finds_bias_in_an_unbiased_word():
    assert value("mac", [[pol(30)]], [EAST, [pol(60)]]) == close(1 - math.cos(math.radians(30)))
    assert word_weat(pol(30), EAST, [pol(60)]) == close(0)


@pytest.mark.parametrize("degrees", [0, 60, 90, 180])
def test_p22_the_range_of_mac_depends_on_the_groups(degrees):
    values = [value("mac", [[pol(angle)]], [EAST, [pol(degrees)]]) for angle in range(360)]
    length = math.cos(math.radians(degrees / 2))
    assert [min(values), max(values)] == [close(1 - length), close(1 + length)]


def test_p23_mac_is_a_mean_over_sets_and_pooled_one_over_words():
    sets = [[[1, 0]]], [[[1, 0]], [[0, 1]] * 3]
    assert value("mac", *sets) == close(0.5)
    assert value("mac", *sets, legacy_pooled=True) == close(0.75)


def test_p24_mac_sees_neither_stereotype_nor_skew():
    for words in ([pol(30), pol(150)], [pol(30), pol(30)]):
        assert value("mac", [words], [EAST, WEST]) == close(1)


# Direct Bias


@pytest.mark.parametrize("direction", ["pca", "pair", "mean", "sum"])
def test_p30_direct_bias_is_from_zero_to_one_and_one_with_exponent_zero(rng, direction):
    a, b, words = random_case(rng, (4, 7), (4, 7), (6, 7))
    values = [
        value("direct_bias", [a, b], [words], direction=direction, c=float(c)) for c in (0, 0.1, 0.5, 1, 2)
    ]
    assert values[0] == close(1)
    assert values == sorted(values, reverse=True)
    assert 0 <= values[-1] < values[0]


def crossed_pairs(r):
    """Two groups whose pairs differ more off the direction of their means than along it, where r > 1."""
    return [[-1, r], [-1, -r]], [[1, -r], [1, r]]


def test_p31_the_first_component_may_be_no_direction_of_the_groups():
    a, c = crossed_pairs(2)
    up, right = [0, 1], [1, 0]
    assert value("direct_bias", [a, c], [[up]]) == close(1)
    assert (word_weat(up, a, c), value("same", [a, c], [[up]])) == (close(0), close(0))
    assert value("direct_bias", [a, c], [[right]]) == close(0)
    assert value("same", [a, c], [[right]]) == close(1)
    # group by group it is unbiased; pair by pair it is not
    assert abs(word_weat(up, a[:1], c[:1])) == close(1.789, 1e-3)


def test_p31b_direct_bias_sees_neither_skew_nor_stereotype():
    a, c = crossed_pairs(2)
    for words, metric in (([[1, 0], [1, 0]], "same_skew"), ([[1, 0], [-1, 0]], "same_stereotype")):
        assert value("direct_bias", [a, c], [words]) == close(0)
        assert abs(value(metric, [a, c], [words])) == close(1)


@pytest.mark.parametrize("r", [0.5, 0.9, 0.1])
def test_p32_components_of_centred_differences_are_the_wrong_ones(r):
    groups = crossed_pairs(r)
    right = [[1, 0]]
    assert value("direct_bias", groups, [right]) == close(1)
    assert value("direct_bias", groups, [right], legacy_centred=True) == close(0)


def test_p33_a_pair_of_raw_vectors_misses_a_biased_word():
    a, c, w = [[2, 0]], [[0, 1]], [1, 2]
    assert value("direct_bias", [a, c], [[w]], direction="pair", legacy_raw_pair=True) == close(0)
    assert value("direct_bias", [a, c], [[w]], direction="pair") == close(1 / math.sqrt(10))
    assert word_same(w, a, c) == close(-1 / math.sqrt(10))


# SAME


def test_p40_same_of_two_groups_is_word_weat_over_the_length_of_the_difference(rng):
    for _ in range(20):
        a, b, (w,) = random_case(rng, (5, 7), (4, 7), (1, 7))
        length = np.linalg.norm(mean_unit(a) - mean_unit(b))
        assert word_same(w, a, b) == close(word_weat(w, a, b) / length)


@pytest.mark.parametrize("degrees", [10, 90, 180])
def test_p41_same_reaches_its_extremes_whatever_the_groups(degrees):
    a, b = np.array(pol(0)), np.array(pol(degrees))
    assert word_same(a - b, [a], [b]) == close(1)
    assert word_same(b - a, [a], [b]) == close(-1)
    assert value("same", [[a], [b]], [[pol(degrees / 2)]]) == close(0)


def test_p42_same_of_two_groups_is_the_mean_of_absolute_biases(rng):
    a, b, words = random_case(rng, (5, 7), (4, 7), (6, 7))
    assert value("same", [a, b], [words]) == close(np.mean([abs(word_same(w, a, b)) for w in words]))


def test_p43_the_order_of_groups_does_not_matter_to_same_but_to_the_authors_code(rng):
    *groups, words = random_case(rng, *[(4, 7)] * 4, (6, 7))
    orders = list(permutations(groups))
    assert np.ptp([value("same", order, [words]) for order in orders]) < 1e-12
    assert np.ptp([value("same", order, [words], legacy_l1=True) for order in orders]) > 0.01


def test_p44_a_group_between_two_others_adds_nothing(rng):
    a, b, words = random_case(rng, (4, 7), (4, 7), (6, 7))
    # as many words of either: its mean is the midpoint of their means
    both = np.concatenate([a, b])
    assert value("same", [a, b, both], [words]) == close(value("same", [a, b], [words]), 1e-9)


def test_p45_same_is_zero_off_the_span_of_differences_and_one_inside(rng):
    *groups, (w,) = random_case(rng, *[(3, 7)] * 3, (1, 7))
    means = np.stack([mean_unit(group) for group in groups])
    span = np.linalg.qr((means[1:] - means[0]).T)[0]
    inside = span @ (span.T @ w)
    assert value("same", groups, [[inside]]) == close(1)
    assert value("same", groups, [[w - inside]]) == close(0, 1e-7)
    for first, second in permutations(groups, 2):
        assert word_weat(w - inside, first, second) == close(0)


def test_p46_three_groups_in_the_plane_leave_no_room_for_an_unbiased_word():
    groups = [[pol(0)], [pol(120)], [pol(240)]]
    for angle in range(0, 360, 15):
        assert value("same", groups, [[pol(angle)]]) == close(1)


def test_p47_skew_and_stereotype_of_two_words():
    apart, together = [vec(1), vec(-1)], [vec(1), vec(1)]
    groups = [EAST, WEST]
    assert value("same_skew", groups, [apart]) == close(0)
    assert value("same_stereotype", groups, [apart]) == close(0.5)
    assert value("same_stereotype", groups, [apart], as_printed=True) == close(0.3536, 5e-5)
    assert value("same_skew", groups, [together]) == close(0.5)
    assert value("same_stereotype", groups, [together]) == close(0)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_p48_stereotype_as_printed_is_the_deviation_over_the_root_of_the_number_of_words(rng, n):
    a, b, words = random_case(rng, (5, 7), (4, 7), (n, 7))
    deviation = np.std([word_same(w, a, b) for w in words])
    assert value("same_stereotype", [a, b], [words]) == close(deviation)
    printed = value("same_stereotype", [a, b], [words], as_printed=True)
    assert printed == close(deviation / math.sqrt(n))


def test_p49_same_is_at_most_skew_and_stereotype_together(rng):
    for _ in range(50):
        a, b, words = random_case(rng, (5, 7), (4, 7), (rng.integers(1, 9), 7))
        same, skew, stereotype = (
            value(name, [a, b], [words]) for name in ("same", "same_skew", "same_stereotype")
        )
        assert same**2 <= skew**2 + stereotype**2 + 1e-12
    # equal where all biases have one size
    assert value("same", [EAST, WEST], [[vec(1), vec(-1), vec(1)]]) ** 2 == close((1 / 6) ** 2 + 2 / 9)


def test_p50_equal_groups_have_no_same(rng):
    a, words = random_case(rng, (5, 7), (6, 7))
    for metric in ("same", "same_skew", "same_stereotype"):
        assert math.isnan(value(metric, [a, a], [words]))
        assert math.isnan(value(metric, [a, a * 2], [words]))


def test_p51_the_difference_of_normalised_sums_is_another_direction(rng):
    def along(a, b, w):
        """|cos| of w with SAME's direction, and with the difference of normalised sums."""
        return [value("direct_bias", [a, b], [[w]], direction=direction) for direction in ("mean", "sum")]

    scattered, together = [[1, 1], [1, -1]], [[0, 1]]
    # the means are (1/sqrt 2, 0) and (0, 1), normalised (1, 0) and (0, 1)
    right = [1, 0]
    assert along(scattered, together, right) == [close(1 / math.sqrt(3)), close(1 / math.sqrt(2))]
    assert value("same", [scattered, together], [[right]]) == close(1 / math.sqrt(3))
    # as much scatter in either makes no difference
    assert np.ptp(along(scattered, [[1, 1], [-1, 1]], rng.normal(size=2))) < 1e-12


def test_p52_the_authors_sum_of_components_can_exceed_one():
    groups = [[pol(0)], [pol(120)], [pol(240)]]
    largest = max(value("same", groups, [[pol(angle)]], legacy_l1=True) for angle in range(360))
    # 1.80 for three symmetric groups: the second axis is weighted by its length before it was normalised, 3/2
    assert largest == close(math.sqrt(1 + 1.5**2), 1e-3)


# The matrix, computed


# tables 1 and 7 of the paper, as far as its theorems decide them: yes, no, or not asked
PAPER = {
    ("WEAT", "one word"): "ny",
    ("WEAT-ES", "words"): "ynnn",
    ("MAC", "one word"): "nn",
    ("MAC", "words"): "nnnn",
    ("Direct Bias (direction: pca)", "one word"): "yn",
    ("Direct Bias (direction: pca)", "words"): "ynnn",
    ("SAME", "one word"): "yy",
    ("SAME", "words"): "yyyy",
    ("SAME stereotype", "words"): "ynny",
    ("SAME skew", "words"): "ynyn",
}
OF_THE_PAPER = ("comparable", "trustworthy", "skew", "stereotype")


@pytest.fixture(scope="module", autouse=True)
def _short_search():
    """What refutes a property is among what is tried first; validation/properties tries the rest, which takes long.

    Ranges of values are compared between groups that refute it of all metrics of which anything does.
    """
    groups = ["opposite groups", "groups at 90°", "a word that is in both groups"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "DRAWN", 3)
        patch.setattr(search, "DESCENTS", 1)
        patch.setattr(search, "COMPARED", {name: settings.COMPARED[name] for name in groups})
        patch.setattr(scores, "COMPARED", scores.COMPARED[:2])
        patch.setattr(texts, "DRAWN", 200)
        yield


@pytest.fixture(scope="module")
def verdicts():
    return properties.examine_metrics()


@pytest.fixture(scope="module")
def written(verdicts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("properties")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "save", lambda figure, stem: [])
        files.write(verdicts, folder)
    return folder


@pytest.fixture(scope="module")
def holds(written):
    with open(written / "properties.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {(row["label"], row["level"], row["property"], bool(row["condition"])): row for row in rows}


@pytest.mark.parametrize("row", PAPER, ids=str)
def test_the_matrix_agrees_with_the_papers_theorems(holds, row):
    for name, verdict in zip(OF_THE_PAPER, PAPER[row], strict=False):
        found = holds[*row, name, False]
        assert found["holds"] == found["paper"] == {"y": "yes", "n": "no"}[verdict], name


def test_the_matrix_says_of_ordered_sets_what_the_paper_does(holds):
    assert holds["WEAT-ES", "words", "stereotype", True]["holds"] == "yes"
    # and beyond the paper: the sum of more words may outweigh that of fewer
    assert holds["WEAT", "words", "stereotype", True]["construction"] == "sets of unequal size"


def test_a_trustworthy_metric_sees_skew_and_stereotype(verdicts):
    """Theorem 1."""
    for row in properties.by_row(verdicts).values():
        if ("skew", "") in row and row["trustworthy", ""].holds != "no":
            assert row["skew", ""].holds != "no"
            assert row["stereotype", ""].holds != "no"


def test_every_metric_is_in_the_matrix(verdicts):
    assert {v.metric for v in verdicts} == set(REGISTRY)
    for v in verdicts:
        if v.holds == "not examined":
            assert v.note
        else:
            of_texts = REGISTRY[v.metric].needs != "vectors"  # whose counterexample is the note
            refuted = v.example is not None or v.note == "it has no value"
            assert of_texts or (v.holds in ("no", "undefined")) == refuted
            # what is said to be proved has its proof in a sentence
            assert v.note or v.holds == "not refuted"


def lean(setting):
    """s(w, A) - s(w, B) of a file's setting, of every two groups: word by word."""
    words = [word for words in setting["words"] for word in words]
    means = [mean_unit(group) for group in setting["groups"]]
    near = np.array([[mean_unit([word]) @ mean for mean in means] for word in words])
    assert near == close(np.array(setting["nearness"]), 1e-9)
    return [near[:, i] - near[:, j] for i, j in combinations(range(len(means)), 2)]


def measured(verdict, groups, words):
    """The metric's value of words, in one set or two, and groups that a file has."""
    metric = REGISTRY[verdict.metric]
    if verdict.level == "one word" and metric.name == "weat":
        return word_weat(words[0][0], *groups)
    if metric.template[0 if metric.groups == "attributes" else 1] in (1, "n"):
        words = [[word for part in words for word in part]]
    sides = (words, groups) if metric.groups == "attributes" else (groups, words)
    name, _, given = verdict.label.partition(" (")[2].rstrip(")").partition(": ")
    parameters = {name: {"false": False}.get(given, given)} if name else {}
    if "one_word" in metric.parameters:
        parameters["one_word"] = "keep"
    return value(metric.name, *sides, **parameters)


def test_counterexamples_are_what_they_are_said_to_be(verdicts, written):
    examples = json.loads((written / "counterexamples.json").read_text())
    refuted = [v for v in verdicts if v.example]
    assert len(refuted) == len(examples) > 50
    for v in refuted:
        settings = examples[v.key]["settings"]
        if v.property == "comparable":
            (low, high), (other_low, other_high) = (setting["values"] for setting in settings)
            assert max(abs(low - other_low), abs(high - other_high)) > 0.01
            for setting in settings:
                for words, extreme in zip(setting["words"], setting["values"], strict=True):
                    # of a metric of two sets, these are one half each
                    half = -(-len(words) // 2)
                    sets = [words[:half], words[half:]]
                    assert measured(v, setting["groups"], sets) == close(extreme, 1e-6)
            continue
        values = [math.nan if x is None else x for setting in settings for x in setting["values"]]
        assert [measured(v, s["groups"], s["words"]) for s in settings] == pytest.approx(
            values, abs=1e-9, nan_ok=True
        )
        if v.property == "length_free":
            for a, b in zip(lean(settings[0]), lean(settings[1]), strict=True):
                assert a == close(b)
            assert abs(values[0] - values[1]) > 1e-6
            continue
        differences = lean(settings[0])
        neutral = values[0] == close(v.neutral, 1e-8)
        if v.property == "defined" or v.holds == "undefined":
            assert math.isnan(values[0])
            # a difference between the groups is there to be measured
            assert len({tuple(mean_unit(group).round(6)) for group in settings[0]["groups"]}) > 1
        elif v.property == "trustworthy":
            assert neutral == (max(map(np.max, map(np.abs, differences))) > 1e-3)
        elif v.property == "skew":
            assert neutral
            assert max(abs(d.mean()) for d in differences) > 1e-3
        else:
            assert neutral
            assert max(np.ptp(d) for d in differences) > 1e-3


def test_the_command_prints_the_matrix_and_writes_the_same_files_again(tmp_path, capsys, monkeypatch):
    assert main(["properties", "--metric", "RIPA", "--metric", "semaxis"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["metric"] for row in rows} == {"ripa", "semaxis"}
    assert main(["properties", "--metric", "ripa", "--output", str(tmp_path / "a")]) == 0
    # once more, the figures as SVG alone
    monkeypatch.setattr(files, "save", partial(files.save, extensions=["svg"]))
    assert main(["properties", "--metric", "ripa", "--output", str(tmp_path / "b")]) == 0
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()} for folder in ("a", "b")
    )
    assert len(second) == 7
    assert second.items() <= first.items()
    names = {f"{name}.{end}" for name in files.DRAWINGS for end in ("pdf", "svg", "png")}
    assert set(first) == names | {
        "properties.csv",
        "properties.md",
        "counterexamples.csv",
        "counterexamples.json",
    }


def test_metrics_of_language_models(verdicts):
    """What is true of a share of pairs and of a mean, whoever computes it."""
    of = {(v.metric, v.level, v.property): v.holds for v in verdicts}
    # a share does not see by how much, and two pairs that lean apart give one half
    assert of["pll_preference", "words", "skew"] == of["pll_preference", "words", "stereotype"] == "no"
    assert of["pll_preference", "one word", "defined"] == "yes"
    # a mean sees skew; what leans apart cancels out
    assert of["lpbs", "words", "skew"] == "yes"
    assert of["lpbs", "words", "stereotype"] == of["lpbs", "words", "trustworthy"] == "no"
    assert of["lpbs", "one word", "trustworthy"] == "yes"
