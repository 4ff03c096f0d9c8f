"""The bias of single words, against arithmetic on small models that is done here."""

import itertools

import numpy as np
import pytest
from refusals import refused
from sklearn.model_selection import StratifiedKFold

import biasgrid as bg
from biasgrid import word_bias
from biasgrid.evaluation.grouped_words import match_clusters

GROUPS = {"female": ["she", "woman"], "male": ["he", "man"]}


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def words_of(number, prefix=""):
    """Different words of lower-case letters."""
    letters = itertools.product("abcdefghij", repeat=3)
    return [prefix + "".join(word) for word in itertools.islice(letters, number)]


@pytest.fixture(scope="module")
def vectors():
    """Words and vectors: two pairs along the first axis, and 300 random words."""
    rng = np.random.default_rng(3)
    random = rng.normal(size=(300, 8))
    random[:, 0] += rng.normal(size=300)
    pairs = {"she": [1, 0.2], "he": [-1, 0.2], "woman": [1, -0.3], "man": [-1, -0.3]}
    return {word: np.array([*start, 0, 0, 0, 0, 0, 0]) for word, start in pairs.items()} | dict(
        zip(words_of(300), random, strict=True)
    )


@pytest.fixture(scope="module")
def model(vectors):
    return bg.load(vectors, name="made")


@pytest.fixture(scope="module")
def hard(model):
    return bg.debias.hard(model, definitional_pairs=[["she", "he"], ["woman", "man"]])


def test_projections_are_cosines_with_the_direction(model, vectors):
    frame = word_bias.project(model, GROUPS).frame
    words = words_of(300)
    cosines = unit(np.array([vectors[word] for word in words]))[:, 0]
    found = frame.set_index("word")["projection"]
    assert sorted(found.index) == sorted(words)  # without the words of the groups
    np.testing.assert_allclose(found[words], cosines, atol=1e-6)
    assert frame["projection"].is_monotonic_decreasing
    assert frame["leans"].tolist() == ["female" if p > 0 else "male" for p in frame["projection"]]


def test_a_word_is_compared_with_random_words_of_its_model(model, vectors):
    """All words are of the first 1,024 rows, so that all but the groups' are the baseline of each."""
    frame = word_bias.project(model, GROUPS, ["aaa", "abc", "she"]).frame.set_index("word")
    distances = np.abs(unit(np.array([vectors[word] for word in words_of(300)]))[:, 0])
    for word in ("aaa", "abc", "she"):
        own = abs(unit(vectors[word])[0])
        expected = (own - distances.mean()) / distances.std()
        assert frame.loc[word, "standardized"] == pytest.approx(expected, abs=1e-5)
    # the jackknife's error of a mean near its value at the mean: sd / sqrt(n), in standard deviations
    nearest = (frame["standardized"]).abs().idxmin()
    assert frame.loc[nearest, "error"] == pytest.approx(1 / np.sqrt(300), rel=0.6)


def test_most_and_least_biased_words(model, vectors):
    result = word_bias.project(model, GROUPS)
    cosines = {word: unit(vectors[word])[0] for word in words_of(300)}
    order = sorted(cosines, key=cosines.get)
    assert result.most(3)["word"].tolist() == [*order[:-4:-1], *order[:3]]
    nearest = sorted(cosines, key=lambda word: abs(cosines[word]))
    assert result.least(4)["word"].tolist() == nearest[:4]
    summary = result.summary
    assert summary["words"] == 300
    assert summary["share"] == np.mean([value > 0 for value in cosines.values()])
    assert summary["sd"] == pytest.approx(np.std(list(cosines.values())), abs=1e-6)


def test_a_vocabulary_is_of_lower_case_letters_unless_all_is_read():
    model = bg.load({"she": [1, 0], "he": [-1, 0], "Ann": [1, 1], "x1": [1, 2], "tree": [1, 3]})
    assert word_bias.project(model, [["she"], ["he"]]).frame["word"].tolist() == ["tree"]
    every = word_bias.project(model, [["she"], ["he"]], only_letters=False).frame["word"].tolist()
    assert every == ["Ann", "x1", "tree"]
    first = word_bias.project(model, [["she"], ["he"]], only_letters=False, vocabulary=3, exclude=["she"])
    assert first.frame["word"].tolist() == ["Ann"]


def test_after_hard_debiasing_no_word_lies_along_the_direction(model, hard):
    after = word_bias.project(model.under(hard), GROUPS, ["aaa", "abc"]).frame
    assert after["projection"].tolist() == [0, 0]
    assert after["standardized"].isna().all()  # random words do not differ
    assert after["leans"].tolist() == ["", ""]


def test_groups_of_any_size_have_a_direction_between_their_means(model, vectors):
    groups = [["she", "woman", "aaa"], ["he", "man"]]
    means = [unit(np.array([vectors[word] for word in group])).mean(axis=0) for group in groups]
    axis = unit(means[0] - means[1])
    (row,) = word_bias.project(model, groups, ["abc"], direction="mean").frame.to_dict("records")
    assert row["projection"] == pytest.approx(unit(vectors["abc"]) @ axis, abs=1e-6)


def test_a_report_counts_the_neighbours_that_lean_each_way(model, vectors, hard):
    report = word_bias.word_report(model, "abc", {"gender": GROUPS}, transforms={"hard": hard}, neighbours=20)
    names = list(vectors)
    matrix = unit(np.array(list(vectors.values())))
    flat = unit(matrix - np.outer(matrix[:, 0], np.eye(8)[0]))
    flat[:4] = matrix[:4]  # the pairs are equalized, which these are already
    own = names.index("abc")
    for row, space in zip(report.frame.to_dict("records"), (matrix, flat), strict=True):
        cosines = space @ space[own]
        order = [i for i in np.argsort(-cosines) if i != own][:20]
        listed = report.neighbours[report.neighbours["debias"] == row["debias"]]
        assert listed["neighbour"].tolist() == [names[i] for i in order]
        np.testing.assert_allclose(listed["similarity"], cosines[order], atol=1e-6)
        np.testing.assert_allclose(listed["projection"], matrix[order, 0], atol=1e-6)
        first = int((matrix[order, 0] > 0).sum())
        assert (row["lean_first"], row["lean_second"], row["share"]) == (first, 20 - first, first / 20)
    before, after = report.frame["projection"]
    assert before == pytest.approx(matrix[own, 0], abs=1e-6)
    assert after == 0


def test_neighbours_of_a_word_are_compared_with_those_of_random_words(model, vectors):
    report = word_bias.word_report(model, "abc", {"gender": GROUPS}, neighbours=20)
    (row,) = report.frame.to_dict("records")
    names = list(vectors)
    matrix = unit(np.array(list(vectors.values())))
    cosines = matrix @ matrix.T
    np.fill_diagonal(cosines, -2)
    shares = (matrix[np.argsort(-cosines, axis=1)[:, :20], 0] > 0).mean(axis=1)
    distances = np.abs(shares - 0.5)
    others = [i for i, name in enumerate(names) if name not in ("she", "he", "woman", "man", "abc")]
    # 200 of the 299 others are drawn: their mean and standard deviation are near those of all
    expected = (distances[names.index("abc")] - distances[others].mean()) / distances[others].std()
    assert row["share_standardized"] == pytest.approx(expected, abs=0.3)


def test_specific_words_are_learned_from_a_list():
    """A group of 40 words lies apart from 200 others; 36 are in the list, and the other four are learned."""
    rng = np.random.default_rng(5)
    group, others = words_of(40, "g"), words_of(200, "o")
    points = rng.normal(scale=0.2, size=(240, 6))
    points[:40, 0] += 2
    points[40:, 1] += 2
    words = [*group, *others]
    model = bg.load(dict(zip(words, points, strict=True)))
    learned = word_bias.specific_words(model, [*group[:36], "absent"], folds=4, seed=2)
    assert sorted(learned.learned) == sorted(group[36:])
    assert sorted(learned.words) == sorted(group)
    assert (learned.missing, learned.training_words) == (("absent",), 240)
    # in each fold the classifier takes those of the group, whether they are in the list or not
    y = np.arange(240) < 36
    scores = []
    for _, test in StratifiedKFold(4, shuffle=True, random_state=2).split(points, y):
        guessed = test < 40
        hits = (guessed & y[test]).sum()
        scores.append(2 * hits / (guessed.sum() + y[test].sum()))
    assert learned.f1 == pytest.approx(np.mean(scores))
    assert learned.f1_sd == pytest.approx(np.std(scores))


def test_indirect_bias_of_words_is_the_papers_formula():
    vectors = {
        "she": [1, 0, 0, 0],
        "he": [-1, 0, 0, 0],
        "softball": [1, 2, 0, 0],
        "football": [-1, 0, 2, 0],
        "receptionist": [2, 1, 0, 1],
        "pitcher": [0, 2, 0, 1],
        "pundit": [-1, 0, 1, 1],
    }
    model = bg.load(vectors)
    words = ["receptionist", "pitcher", "pundit"]
    frame = word_bias.indirect_words(model, [["she"], ["he"]], ["softball", "football"], words)
    units = {word: unit(np.array(vector, dtype=float)) for word, vector in vectors.items()}
    line = unit(units["softball"] - units["football"])
    found = frame.set_index("word")
    assert list(zip(frame["end"], frame["word"], strict=True)) == [
        ("softball", "receptionist"),
        ("softball", "pitcher"),
        ("football", "pundit"),
    ]
    for end, word in zip(frame["end"], frame["word"], strict=True):
        w, v = units[end], units[word]
        w_rest, v_rest = (x - x[0] * np.eye(4)[0] for x in (w, v))
        beta = (w @ v - unit(w_rest) @ unit(v_rest)) / (w @ v)
        assert found.loc[word, "beta"] == pytest.approx(beta)
        assert found.loc[word, "projection"] == pytest.approx(v @ line)
    (far,) = word_bias.indirect_words(
        model, [["she"], ["he"]], ["softball", "football"], words[:2], count=1
    ).to_dict("records")
    assert far["word"] == max(words[:2], key=lambda word: units[word] @ line)


def test_models_are_compared_word_by_word(model, vectors):
    rng = np.random.default_rng(8)
    other_vectors = {word: vector + rng.normal(scale=0.3, size=8) for word, vector in vectors.items()}
    del other_vectors["aab"]
    other = bg.load(other_vectors, name="other")
    words = words_of(30)
    result = word_bias.compare([model, other], GROUPS, words)
    (row,) = result.correlations.to_dict("records")
    assert (row["model_a"], row["model_b"], row["words"]) == ("made", "other", 29)
    pairs = [unit(np.array([other_vectors[w] for w in pair])) for pair in zip(*GROUPS.values(), strict=True)]
    axis = np.linalg.svd(np.array([pair[0] - pair[1] for pair in pairs]), full_matrices=False)[2][0]
    axis *= np.sign(axis[0])
    words.remove("aab")
    one = unit(np.array([vectors[word] for word in words]))[:, 0]
    two = unit(np.array([other_vectors[word] for word in words])) @ axis
    assert row["pearson"] == pytest.approx(np.corrcoef(one, two)[0, 1], abs=1e-6)


def test_clusters_are_matched_with_groups_in_the_best_way():
    groups = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    clusters = np.array([2, 2, 0, 0, 0, 1, 1, 2])
    # best of the 6 pairings, by hand: cluster 2 is group 0, cluster 0 group 1, cluster 1 group 2
    assert match_clusters(clusters, groups).tolist() == [0, 0, 1, 1, 1, 2, 2, 0]


def test_three_groups_that_lie_apart_are_found():
    rng = np.random.default_rng(1)
    names = {letter: words_of(8, letter) for letter in "pqr"}
    vectors = {
        word: np.eye(5)[i] + rng.normal(scale=0.1, size=5)
        for i, words in enumerate(names.values())
        for word in words
    } | dict(zip(words_of(100), rng.normal(size=(100, 5)), strict=True))
    model = bg.load(vectors)
    clusters = word_bias.cluster_groups(model, names, permutations=199, random_draws=20)
    assert (clusters.value, clusters.p) == (1, 1 / 200)
    assert clusters.frame["cluster"].tolist() == clusters.frame["group"].tolist()
    units = unit(np.array([vectors[word] for words in names.values() for word in words]))
    distances = 1 - units @ units.T
    own = distances[0, 1:8].mean()
    nearest = min(distances[0, 8:16].mean(), distances[0, 16:].mean())
    assert clusters.frame["score"][0] == pytest.approx((nearest - own) / max(nearest, own), abs=1e-6)
    assert clusters.standardized > 3
    neighbours = word_bias.neighbour_groups(model, names, neighbours=7, permutations=199, random_draws=20)
    assert neighbours.value == 1
    # of 23 other words 7 are of the group; the mean of 199 permutations is near
    assert neighbours.chance == pytest.approx(7 / 23, abs=0.03)


def test_the_share_of_neighbours_of_the_own_group_is_counted_by_word(model, vectors):
    names = words_of(9)
    groups = {"a": names[:4], "b": names[4:7], "c": names[7:]}
    result = word_bias.neighbour_groups(model, groups, neighbours=2, permutations=400, random_draws=30)
    units = unit(np.array([vectors[word] for word in names]))
    label = np.repeat([0, 1, 2], [4, 3, 2])
    cosines = units @ units.T
    np.fill_diagonal(cosines, -2)
    nearest = np.argsort(-cosines, axis=1)[:, :2]
    shares = (label[nearest] == label[:, None]).mean(axis=1)
    assert result.frame["score"].tolist() == shares.tolist()
    assert result.value == pytest.approx(shares.mean())
    # exact: the chance that another word is of the group, averaged over words
    assert result.chance == pytest.approx((4 * 3 + 3 * 2 + 2 * 1) / (9 * 8), abs=0.02)
    # these words are random, as those of the baseline are
    assert abs(result.standardized) < 4
    assert result.p > 0.02


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda m: word_bias.project(m, GROUPS, direction="pcq"), ["did you mean 'pca'?"]),
        (lambda m: word_bias.project(m, GROUPS, vocabulry=3), ["did you mean 'vocabulary'?"]),
        (lambda m: word_bias.project(m, GROUPS, ["nothing"]), ["has none of the 1 words"]),
        (lambda m: word_bias.project(m, GROUPS, "abc"), ["expected a list of words"]),
        (lambda m: word_bias.project(m, {"a": ["she"]}), ["expected 2 groups"]),
        (lambda m: word_bias.project(m, [["she"], ["she"]]), ["has fewer than two different words"]),
        (lambda m: word_bias.project(m, [["x"], ["y"]]), ["lacks the words of", "x:y"]),
        (lambda m: word_bias.project(m, GROUPS).most(0), ["count", "from 1 on"]),
        (lambda m: word_bias.word_report(m, "wooman", {"g": GROUPS}), ["did you mean 'woman'?"]),
        (lambda m: word_bias.word_report(m, "abc", GROUPS["male"]), ["directions: expected a mapping"]),
        (lambda m: word_bias.word_report(m, "abc", {"g": GROUPS}).plot("h"), ["unknown direction 'h'"]),
        (lambda m: word_bias.indirect_words(m, GROUPS, ["abc"]), ["ends: expected two words"]),
        (lambda m: word_bias.indirect_words(m, GROUPS, ["abc", "abc"]), ["the same direction"]),
        (lambda m: word_bias.compare([m], GROUPS, ["abc"]), ["two models or more"]),
        (lambda m: word_bias.compare([m, m], GROUPS, ["abc"]), ["two models have one name"]),
        (lambda m: word_bias.specific_words(m, ["abc"]), ["folds need 10 words"]),
        (
            lambda m: word_bias.project(m, [["she", "woman", "aaa"], ["he", "man"]]),
            ["has 3 words and", "direction='mean' takes any number"],
        ),
        (lambda m: word_bias.cluster_groups(m, [["abc", "abd"], ["abc", "abe"]]), ["'abc' is in two groups"]),
        (
            lambda m: word_bias.neighbour_groups(m, [["aaa", "aab"], ["aac", "aad"]], neighbours=3),
            ["neighbours: 3 is not allowed for 4 words"],
        ),
        (lambda m: word_bias.cluster_groups(m, [["abc", "x"], ["abd", "abe"]]), ["has 1 of the 2 words"]),
    ],
)
def test_what_is_wrong_is_said_in_a_line(model, call, parts):
    with refused(*parts):
        call(model)


@pytest.mark.slow
def test_figures_have_the_words(model, hard, tmp_path):
    def texts(figure):
        return [text.get_text() for axes in figure.axes for text in axes.texts]

    report = word_bias.word_report(model, "abc", {"gender": GROUPS}, transforms={"hard": hard}, neighbours=9)
    figure = report.plot(path=tmp_path / "report.svg")
    assert (tmp_path / "report.svg").stat().st_size > 1000
    assert len(figure.axes) == 2
    nearest = report.neighbours["neighbour"][0]
    assert nearest in texts(figure)
    other = bg.load({"she": [1, 0], "he": [-1, 0], "abc": [1, 2], "abd": [-3, 1]}, name="other")
    result = word_bias.compare([model, other], [["she"], ["he"]], ["abc", "abd", "aaa"])
    figure = result.plot()
    # what is up stands above the panel
    assert {"abc", "abd"} >= set(texts(figure)) - {"↑ projection in other"} != set()
    assert sum(len(marks.get_offsets()) for marks in figure.axes[0].collections) == 2
    assert word_bias.project(model, GROUPS, ["abc", "abd"]).plot().axes
