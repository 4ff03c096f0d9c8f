"""Metrics of groups and words - SAME's family, Direct Bias, Generalised WEAT, MAC - on real vectors against printed
and independently computed numbers, against their definitions written out, and their invariants."""

import json
from itertools import permutations

import numpy as np
import pytest
import scipy.stats
from conftest import ROOT, make_store, printed, refusal
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from refusals import refused
from resampled import drawn, pooled
from sklearn.decomposition import PCA

from biasgrid import Query, metrics
from biasgrid.metrics.direct_bias import expected_noise
from biasgrid.metrics.registry import one_by_one
from biasgrid.models import build_store, directions
from biasgrid.study.study import Study

MODEL = "bolukbasi-w2v-gnews-small"
SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def google_news():
    """The 26,423 words of word2vec-google-news-300 that Bolukbasi et al. published, from the package registry."""
    study = Study.read(ROOT / "config" / "same.yaml")
    return build_store(MODEL, study.models[MODEL], ROOT / "data" / "embeddings")


def word_set(key):
    stem, name = key.split(".")
    return json.loads((ROOT / "data" / "word_sets" / f"{stem}.json").read_text())["sets"][name]


def benchmark():
    """The query of WEFE's documentation, chapter 13."""
    names = ["female_terms", "male_terms", "family", "career"]
    sets = [word_set(f"weat.{name}") for name in names]
    return Query(sets[:2], sets[2:], names[:2], names[2:])


def occupations():
    """The 258 occupations, and the ten definitional pairs with she and he first."""
    pairs = word_set("debiaswe.definitional_pairs")
    pairs.sort(key=lambda pair: pair != ["she", "he"])
    return Query(list(zip(*pairs, strict=True)), [word_set("schroeder.occupations")])


def value(name, groups, words, **parameters):
    with np.errstate(all="ignore"):
        return metrics.metric(name).function(groups, words, **parameters).value


def units(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def gaussian(seed, *sizes, d=6):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, d)) * rng.uniform(0.1, 5, size=(n, 1)) for n in sizes]


# real vectors


@pytest.mark.parametrize(
    ("name", "parameters", "printed"),
    [
        ("weat", {}, 0.46343881433),
        ("weat_es", {"ddof": 0}, 0.4507652792646716),
        ("weat_es", {"ddof": 1}, 0.4364516797305417),
        ("generalized_weat", {}, 0.02896493),
        ("same", {"orientation": "wefe_benchmark"}, 0.26771209292),
        # computed beside the benchmark's, as no library has it
        ("same", {"orientation": "paper"}, 0.069241),
    ],
)
def test_the_numbers_of_wefes_benchmark(google_news, name, parameters, printed):
    assert metrics.metric(name)(benchmark(), google_news, **parameters).value == pytest.approx(
        printed, abs=1e-6
    )


@pytest.mark.parametrize("pooled_sets", [False, True])
def test_mac_of_wefes_benchmark(google_news, pooled_sets):
    """Attribute sets of one size: pooled or not."""
    result = metrics.mac(benchmark(), google_news, legacy_pooled=pooled_sets)
    assert result.value == pytest.approx(0.84164152356, abs=1e-6)


@pytest.mark.parametrize(
    ("direction", "found"), [("pca", 0.07219), ("mean", 0.07308), ("sum", 0.07782), ("pair", 0.07077)]
)
def test_direct_bias_of_the_occupations(google_news, direction, found):
    result = metrics.direct_bias(occupations(), google_news, direction=direction)
    assert result.value == pytest.approx(found, abs=5.1e-6)
    assert result.scalars["noise"] == pytest.approx(np.sqrt(2 / (np.pi * 300)), rel=1e-3)
    assert result.scalars["ratio"] == pytest.approx(result.value / result.scalars["noise"])


def test_the_occupations_most_of_either_gender(google_news):
    same = metrics.same(occupations(), google_news)
    direct = metrics.direct_bias(occupations(), google_news, direction="mean")
    assert same.value == pytest.approx(direct.value)
    for result in (same, direct):
        (bias,) = result.detail["bias"].values()
        order = sorted(bias, key=bias.get)
        assert order[-2:] == ["nurse", "homemaker"]
        assert order[:2] == ["philosopher", "financier"]
        found = [bias[word] for word in ("homemaker", "nurse", "philosopher", "financier")]
        assert found == pytest.approx([0.319, 0.316, -0.197, -0.190], abs=5.1e-4)
    for name, found in (("same_skew", 0.00035), ("same_stereotype", 0.09548)):
        assert metrics.metric(name)(occupations(), google_news).value == pytest.approx(found, abs=5.1e-6)


# by definition


def bolukbasi_axes(groups, k):
    """Eigenvectors of the scatter of the defining sets about their means (section 5.1)."""
    scatter = np.zeros((groups[0].shape[1],) * 2)
    for defining in zip(*map(units, groups), strict=True):
        mean = sum(defining) / len(defining)
        scatter += sum(np.outer(v - mean, v - mean) for v in defining) / len(defining)
    return np.linalg.eigh(scatter)[1][:, ::-1][:, :k].T


@given(SEEDS, st.integers(2, 4), st.integers(1, 3), st.sampled_from([0.5, 1, 2]))
@settings(max_examples=25, deadline=None)
def test_pca_is_that_of_the_defining_sets(seed, groups, k, c):
    *groups, one, other = gaussian(seed, *[5] * groups, 4, 3)
    axes = bolukbasi_axes(groups, k)
    expected = np.mean([np.linalg.norm(axes @ w) ** c for w in units(np.concatenate([one, other]))])
    assert value("direct_bias", groups, [one, other], c=c, k=k) == pytest.approx(expected)
    added = np.mean([np.abs(axes @ w).sum() ** c for w in units(np.concatenate([one, other]))])
    legacy = value("direct_bias", groups, [one, other], c=c, k=k, legacy_component_sum=True)
    assert legacy == pytest.approx(added)


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_legacy_pca_is_scikit_learns_of_the_differences(seed):
    a, b, words = gaussian(seed, 5, 5, 7)
    axis = PCA(1).fit(units(a) - units(b)).components_[0]
    expected = np.abs(units(words) @ axis).mean()
    assert value("direct_bias", [a, b], [words], legacy_centred=True) == pytest.approx(expected)


def test_legacy_pca_takes_away_what_the_pairs_have_in_common():
    """Pairs that differ along x mostly: centred differences differ along y."""
    a = np.array([[1, 0.5], [1, -0.5]])
    word = [np.array([[1.0, 0.0]])]
    assert value("direct_bias", [a, -a], word) == pytest.approx(1)
    assert value("direct_bias", [a, -a], word, legacy_centred=True) == pytest.approx(0, abs=1e-12)


@given(SEEDS, st.sampled_from([1, 3]))
@settings(max_examples=25, deadline=None)
def test_the_pair_is_the_first_at_unit_length(seed, c):
    a, b, words = gaussian(seed, 5, 5, 7)
    for raw, difference in ((False, units(a[0]) - units(b[0])), (True, a[0] - b[0])):
        expected = np.mean(np.abs(units(words) @ units(difference)) ** c)
        found = value("direct_bias", [a, b], [words], direction="pair", c=c, legacy_raw_pair=raw)
        assert found == pytest.approx(expected)


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_sum_is_the_difference_of_sums_at_unit_length(seed):
    a, b, one, other = gaussian(seed, 3, 5, 7, 2)
    axis = units(units(units(a).sum(axis=0)) - units(units(b).sum(axis=0)))
    expected = np.abs(units(np.concatenate([one, other])) @ axis).mean()
    assert value("direct_bias", [a, b], [one, other], direction="sum") == pytest.approx(expected)
    # the other way round: the first target set's words
    swapped = value("direct_bias", [one, other], [a, b], direction="sum", orientation="wefe_benchmark")
    assert swapped == pytest.approx(np.abs(units(one) @ axis).mean())


@given(SEEDS, st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_the_mean_direction_is_sames(seed, groups):
    *groups, words = gaussian(seed, *range(2, groups + 2), 9)
    found = value("direct_bias", groups, [words], direction="mean")
    assert found == pytest.approx(value("same", groups, [words]))


@given(SEEDS, st.integers(1, 6), st.integers(1, 6), st.integers(2, 9))
@settings(max_examples=60, deadline=None)
def test_the_direction_of_all_pairs_is_the_first_component_of_all_their_differences(seed, n, m, d):
    a, b, words = gaussian(seed, n, m, 4, d=d)
    differences = (units(a)[:, None] - units(b)).reshape(-1, d)
    squares, vectors = np.linalg.eigh(differences.T @ differences)
    first = vectors[:, -1] * np.sign(vectors[:, -1] @ differences.mean(axis=0))
    score = metrics.metric("direct_bias").function([a, b], [words], direction="all_pairs")
    assume(np.sqrt(squares[-1]) - np.sqrt(squares[:-1].max(initial=0)) > 1e-3)
    assume(abs(first @ differences.mean(axis=0)) > 1e-6)
    assert score.detail["bias"].values[0] == pytest.approx(units(words) @ first, abs=1e-6)
    # the lists have no order
    other = metrics.metric("direct_bias").function([a[::-1], b[::-1]], [words], direction="all_pairs")
    assert other.value == pytest.approx(score.value)


def test_of_one_pair_the_direction_of_all_pairs_is_its_difference():
    a, b, words = gaussian(8, 1, 1, 5)
    pair = value("direct_bias", [a, b], [words], direction="pair")
    assert value("direct_bias", [a, b], [words], direction="all_pairs") == pytest.approx(pair)


def test_the_direction_of_all_pairs_is_of_two_groups():
    metric = metrics.metric("direct_bias").under({"direction": "all_pairs"})
    assert metric.template == (2, "n")
    assert not metric.paired


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("direction", ["pca", "mean", "sum"])
def test_words_have_their_sign_and_components(direction, k):
    a, b, x, words = gaussian(4, 5, 5, 5, 9)
    groups, options = ([a, b, x], {"k": 2} if direction == "pca" else {}) if k == 2 else ([a, b], {})
    score = metrics.metric("direct_bias").function(groups, [words], direction=direction, **options)
    (bias,) = score.detail["bias"].values
    assert np.abs(bias).mean() == pytest.approx(score.value)
    if k == 1:
        towards = units(words) @ (units(a).mean(axis=0) - units(b).mean(axis=0))
        assert scipy.stats.spearmanr(bias, towards).statistic > 0.5
        back = metrics.metric("direct_bias").function([b, a], [words], direction=direction, **options)
        assert back.detail["bias"].values[0].tolist() == pytest.approx((-bias).tolist())
        assert "components" not in score.detail
    else:
        (components,) = score.detail["components"].values
        assert np.linalg.norm(components, axis=1) == pytest.approx(bias)


def test_words_of_same_lean_to_the_group_that_they_are_nearer_to():
    a, b, words = gaussian(4, 5, 6, 9)
    (bias,) = metrics.metric("same").function([a, b], [words]).detail["bias"].values
    axis = units(a).mean(axis=0) - units(b).mean(axis=0)
    assert bias == pytest.approx(units(words) @ axis / np.linalg.norm(axis))
    assert (bias > 0).any()
    assert (bias < 0).any()


@given(SEEDS, st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_generalised_weat_is_the_papers_sum(seed, k):
    sets = gaussian(seed, *range(1, 2 * k + 1))
    x, a = ([units(s).mean(axis=0) for s in side] for side in (sets[:k], sets[k:]))
    expected = sum((x[i] - sum(x) / k) @ (a[i] - sum(a) / k) for i in range(k))
    score = metrics.metric("generalized_weat").function(sets[:k], sets[k:])
    assert score.value == pytest.approx(expected, abs=1e-12)
    assert sum(score.scalars.values()) == pytest.approx(expected, abs=1e-12)


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_generalised_weat_of_two_groups_is_weat(seed):
    sets = gaussian(seed, 4, 4, 3, 5)
    assert 8 * value("generalized_weat", sets[:2], sets[2:]) == pytest.approx(
        value("weat", sets[:2], sets[2:])
    )


def test_mac_counts_sets_alike_or_words():
    sets = [np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]] * 3)]
    word = [np.array([[1.0, 0.0]])]
    assert value("mac", word, sets) == 0.5
    assert value("mac", word, sets, legacy_pooled=True) == 0.75


# invariants


@pytest.mark.slow
@given(SEEDS, st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_lengths_do_not_matter(seed, k):
    sets, lengths = gaussian(seed, *[4] * (2 * k)), np.random.default_rng(seed).uniform(0.1, 9, (2 * k, 4, 1))
    longer = [s * length for s, length in zip(sets, lengths, strict=True)]
    for name, parameters in [
        *((name, {}) for name in ("same", "same_skew", "same_stereotype", "generalized_weat")),
        *(
            ("direct_bias", {"direction": direction})
            for direction in ("pca", "pair", "mean", "sum", "all_pairs")
        ),
    ]:
        n = k if metrics.metric(name).under(parameters).template[0] == "k" else 2
        first, second = (value(name, s[:n], s[k:], **parameters) for s in (sets, longer))
        assert second == pytest.approx(first, abs=1e-9)


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_the_order_of_groups_does_not_matter(seed):
    *groups, words = gaussian(seed, 3, 3, 3, 3, 9)
    for name, parameters in [
        ("same", {}),
        ("same_stereotype", {"contrast": "rest"}),
        *(("direct_bias", {"direction": direction}) for direction in ("pca", "mean", "sum")),
    ]:
        first, *others = (value(name, list(order), [words], **parameters) for order in permutations(groups))
        assert others == pytest.approx([first] * 23)


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_sames_square_is_at_most_skews_and_stereotypes(seed):
    a, b, words = gaussian(seed, 3, 5, 9)
    same, skew, stereotype = (value(n, [a, b], [words]) for n in ("same", "same_skew", "same_stereotype"))
    assert same**2 <= skew**2 + stereotype**2 + 1e-12
    assert -1 <= skew <= 1
    assert 0 <= stereotype <= 1
    # of one word, or of words of one bias, they are equal
    same, skew, stereotype = (value(n, [a, b], [words[:1]]) for n in ("same", "same_skew", "same_stereotype"))
    assert same**2 == pytest.approx(skew**2 + stereotype**2)


def test_what_is_not_singled_out_is_undefined():
    a, b, words = gaussian(5, 3, 3, 4)
    for direction in ("pca", "pair", "mean", "sum", "all_pairs"):
        assert np.isnan(value("direct_bias", [a, a], [words], direction=direction))
        assert np.isnan(value("direct_bias", [np.zeros_like(a), b], [words], direction=direction))
        assert np.isnan(value("direct_bias", [a, b], [0 * words], direction=direction))
    assert np.isnan(value("direct_bias", [a, a], [words], c=0))
    assert value("direct_bias", [a, b], [words], c=0) == 1
    # three pairs have three components
    assert value("direct_bias", [a, b], [words], k=3) <= 1
    assert np.isnan(value("direct_bias", [a, b], [words], k=4))
    # of pairs along x and along y neither is the first
    x, y = np.eye(2)
    assert np.isnan(value("direct_bias", [np.array([x, y]), np.array([-x, -y])], [words[:, :2]]))
    # all of the space
    assert value("direct_bias", [a[:2, :2], b[:2, :2]], [words[:, :2]], k=2) == pytest.approx(1)
    assert np.isnan(value("generalized_weat", [a, 0 * b], [a, b]))


@pytest.mark.parametrize("groups", [2, 3])
def test_what_is_left_of_a_group_that_cancels_out_is_no_direction(groups):
    """Three vectors at 120 degrees: their sum is 0 but for rounding, which has no direction to be scaled up."""
    fan, *others = (
        np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=1)
        for degrees in ([0, 120, 240], [10, 20, 30], [50, 70, 100])
    )
    sets, words = [fan, *others[: groups - 1]], np.array([[1.0, 2.0]])
    assert 0 < np.linalg.norm(fan.sum(axis=0)) < 1e-12
    assert np.isnan(value("direct_bias", sets, [words], direction="sum"))
    metric = metrics.metric("direct_bias").under({"direction": "sum"})
    with np.errstate(all="ignore"):
        statistic = metric.resampled(np.concatenate(sets), words, direction="sum")
        assert np.isnan(
            statistic(list(np.kron(np.eye(groups), np.ones((1, 3)))[:, None]), [np.ones((1, 1))])
        ).all()
    # the difference of means is there
    assert value("direct_bias", sets, [words], direction="mean") > 0


# many samples at once

SAMPLED = [
    ("same", {}),
    ("same_skew", {"contrast": "pair"}),
    ("same_skew", {"contrast": "rest"}),
    ("same_stereotype", {"contrast": "rest"}),
    ("same_stereotype", {"as_printed": True}),
    *((name, {"orientation": "wefe_benchmark"}) for name in ("same", "same_skew", "same_stereotype")),
    ("same_skew", {"orientation": "wefe_benchmark", "contrast": "rest"}),
    ("direct_bias", {}),
    ("direct_bias", {"k": 2, "c": 0.5}),
    ("direct_bias", {"k": 3, "legacy_component_sum": True}),
    ("direct_bias", {"legacy_centred": True, "c": 2}),
    ("direct_bias", {"direction": "pair"}),
    ("direct_bias", {"direction": "pair", "legacy_raw_pair": True}),
    ("direct_bias", {"direction": "mean", "c": 2}),
    ("direct_bias", {"direction": "pair", "c": 0}),
    ("direct_bias", {"direction": "sum"}),
    ("direct_bias", {"direction": "sum", "orientation": "wefe_benchmark"}),
    ("direct_bias", {"direction": "all_pairs", "c": 2}),
    ("direct_bias", {"direction": "all_pairs", "orientation": "wefe_benchmark"}),
    ("generalized_weat", {}),
    ("mac", {"legacy_pooled": True}),
]


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize(("name", "parameters"), SAMPLED)
def test_samples_have_the_functions_values(name, parameters, groups):
    metric = metrics.metric(name).under(parameters)
    targets, attributes = ({"k": groups, "n": groups}.get(n, n) for n in metric.template)
    rng = np.random.default_rng(groups)
    for d in (5, 20):
        sizes = [6] * targets if metric.paired else [4, 5, 6][:targets]
        sizes += [7, 3, 5][:attributes]
        vectors = [rng.normal(size=(n, d)) for n in sizes]
        counts = [drawn(rng, n, 30) for n in sizes]
        if metric.paired:
            counts[:targets] = [counts[0]] * targets
            if name == "direct_bias" and parameters.get("direction") != "pair":
                # there is one pair in the first sample, and a repeated pair is one component
                counts = [c[1:] for c in counts]
        sides = [np.concatenate(vectors[:targets]), np.concatenate(vectors[targets:])]
        weights = [pooled(counts[:targets]), pooled(counts[targets:])]
        with np.errstate(all="ignore"):
            fast = metric.resampled(*sides, **parameters)(*weights)
            slow = one_by_one(metric, *sides, parameters)(*weights)
        assert np.isfinite(slow).mean() > 0.6
        assert fast.tolist() == pytest.approx(slow.tolist(), rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("parameters", [{}, {"k": 2}, {"legacy_centred": True}])
def test_pairs_whose_words_have_changed_places(parameters):
    metric = metrics.metric("direct_bias").under(parameters)
    rng = np.random.default_rng(3)
    words, attributes = rng.normal(size=(12, 8)) + 1, rng.normal(size=(5, 8))
    times, swapped = rng.integers(1, 3, size=(30, 6)), rng.integers(2, size=(30, 6))
    first = np.concatenate([times * (1 - swapped), times * swapped], axis=1).astype(float)
    sets = [first, np.roll(first, 6, axis=1)], [np.ones((1, 5))]
    fast = metric.resampled(words, attributes, **parameters)(*sets)
    slow = one_by_one(metric, words, attributes, parameters)(*sets)
    assert np.ptp(slow) > 0.01
    assert fast.tolist() == pytest.approx(slow.tolist(), abs=1e-12)


@pytest.mark.parametrize("apart", [1, 0.1, 1e-3])
@pytest.mark.parametrize("d", [5, 300])
@pytest.mark.parametrize(("name", "parameters"), [("same", {}), ("direct_bias", {"direction": "mean"})])
def test_a_group_between_two_others_adds_nothing(name, parameters, d, apart):
    """Rounding is no third direction, however near to each other the two groups are."""
    for seed in range(10):
        a, other, words = gaussian(seed, 7, 7, 20, d=d)
        b = a + apart * other
        groups = [a, b, np.concatenate([a, b])]
        expected = value(name, [a, b], [words], **parameters)
        assert value(name, groups, [words], **parameters) == pytest.approx(expected, abs=1e-6)
        ones = [np.ones((1, len(g)), dtype=int) for g in groups]
        fast = metrics.metric(name).resampled(np.concatenate(groups), words, **parameters)
        assert fast(pooled(ones), [np.ones((1, 20))])[0] == pytest.approx(expected, abs=1e-6)


# random directions


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "d", "c"), [(1, 4, 1), (1, 300, 1), (3, 10, 1), (2, 7, 0.5), (2, 7, 3), (5, 5, 2)]
)
def test_the_expected_noise_is_that_of_random_directions(k, d, c):
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(20_000, d, k)))[0]
    # the first coordinate axis is as good a word as any
    sizes = np.linalg.norm(axes[:, 0], axis=1) ** c
    error = sizes.std() / np.sqrt(len(sizes))
    assert expected_noise(k, d, c) == pytest.approx(sizes.mean(), abs=4 * error + 1e-12)


@pytest.mark.parametrize("d", [30, 100, 300, 1000])
def test_the_noise_is_about_the_root_of_two_by_pi_d(d):
    assert expected_noise(1, d, 1) == pytest.approx(np.sqrt(2 / (np.pi * d)), rel=0.3 / d)


@pytest.mark.parametrize(
    ("groups", "parameters"),
    [
        (2, {}),
        (2, {"k": 2, "c": 2}),
        (2, {"direction": "pair"}),
        (3, {"direction": "mean"}),
        (3, {"direction": "sum"}),
        (2, {"direction": "all_pairs"}),
    ],
)
def test_random_directions_score_the_noise(groups, parameters):
    *groups, words = gaussian(6, *[5] * groups, 12, d=8)
    direction, c = parameters.get("direction", "pca"), parameters.get("c", 1)
    k = len(directions.axes(groups, direction, parameters.get("k", 1)))
    axes = np.linalg.qr(np.random.default_rng(1).normal(size=(20_000, 8, k)))[0]
    components = units(words) @ axes
    values = (np.linalg.norm(components, axis=2) ** c).mean(axis=1)
    noise = metrics.metric("direct_bias").function(groups, [words], **parameters).scalars["noise"]
    assert noise == pytest.approx(values.mean(), abs=4 * values.std() / np.sqrt(len(values)))


# the doors


@pytest.mark.parametrize(
    ("name", "parameters", "says"),
    [
        (
            "direct_bias",
            {"direction": "pac"},
            "direction: unknown value 'pac'",
        ),
        ("direct_bias", {"orientation": "wefe"}, "orientation: unknown value 'wefe'"),
        *(
            (
                "direct_bias",
                {"orientation": "wefe_benchmark", "direction": direction},
                "pairs are of the target sets",
            )
            for direction in ("pca", "pair")
        ),
        *(("direct_bias", {"c": c}, "c: .* numbers from 0 on") for c in (-1, "1", True, np.inf, np.nan)),
        *(("direct_bias", {"k": k}, "k: .* whole numbers from 1 on") for k in (0, 1.0, True)),
        ("direct_bias", {"k": 2, "direction": "mean"}, "only pca has components"),
        ("direct_bias", {"k": 2, "direction": "all_pairs"}, "only pca has components"),
        ("direct_bias", {"legacy_centred": True, "direction": "sum"}, "legacy_centred: true is not allowed"),
        ("direct_bias", {"legacy_component_sum": True, "direction": "pair"}, "legacy_component_sum: true"),
        (
            "direct_bias",
            {"legacy_raw_pair": True},
            "legacy_raw_pair: true is not allowed with direction: pca",
        ),
        ("direct_bias", {"legacy_raw_pair": 1, "direction": "pair"}, "allowed: true, false"),
        ("mac", {"legacy_pooled": "yes"}, "legacy_pooled: 'yes' is not allowed; allowed: true, false"),
        ("same", {"legacy_l1": 1}, "legacy_l1: 1 is not allowed"),
        ("same_skew", {"contrast": "others"}, "contrast: unknown value 'others'"),
        ("same_stereotype", {"as_printed": 0}, "as_printed: 0 is not allowed"),
        ("generalized_weat", {"ddof": 1}, "unknown option 'ddof' of generalized_weat"),
    ],
)
def test_a_wrong_parameter_is_one_clear_line(random_model, name, parameters, says):
    query = Query([["w1"], ["w2"]], [["w3"], ["w4"]])
    with refused(*says.split(" .* ")):
        metrics.metric(name)(query, random_model(0), **parameters)


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_direct_bias_takes_pairs_only_where_its_direction_does(random_model):
    """A pair that lost a word is no pair, but its other word is a word of its group."""
    query = Query([["w1", "gone", "w2", "w3"], ["w4", "w5", "w6", "w7"]], [["w8", "w9"]])
    options = {"lost_vocabulary_threshold": 0.5}
    whole = Query([["w1", "w2", "w3"], ["w4", "w6", "w7"]], [["w8", "w9"]])
    for direction, alike in (("pca", True), ("pair", True), ("mean", False), ("sum", False)):
        one, other = (
            metrics.direct_bias(q, random_model(1), direction=direction, **options) for q in (query, whole)
        )
        assert (one.value == pytest.approx(other.value)) == alike
        assert one.scalars.get("pairs_lost") == (1 if alike else None)


def test_from_the_command_line(tmp_path):
    words = [f"w{i}" for i in range(30)]
    model = make_store(tmp_path, words, np.random.default_rng(0).normal(size=(30, 9)))
    query = {"name": "q", "target_sets": [{"words": words[:5]}, {"words": words[5:10]}]}
    (tmp_path / "q.json").write_text(json.dumps(query | {"attribute_sets": [{"words": words[10:]}]}))
    arguments = ["--model", str(model.path), "--query", str(tmp_path / "q.json")]
    arguments += ["--permutation", "draws=99", "--bootstrap", "draws=50", "--sensitivity"]
    result = printed("measure", "--metric", "direct_bias", *arguments)
    assert result["status"] == "ok"
    assert 0 < result["ci_low"] < result["value"] < result["ci_high"] < 1
    assert result["p_value"] is None
    assert "direction is made of" in result["inference"]["permutation"]["reason"]
    refusal("measure", "--metric", "direct_bias", *arguments, "--param", "c=-1")
