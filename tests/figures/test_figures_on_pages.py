"""What is more than a page has goes into further figures, which a plan knows before there is a result."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from biasgrid.figures.figure import count_range, group_by_size


@given(st.lists(st.floats(0.1, 5), max_size=30), st.floats(5, 9))
def test_every_item_is_on_one_page_in_order_and_no_page_has_too_many(sizes, room):
    items = list(enumerate(sizes))
    found = group_by_size(items, room, lambda item: item[1])
    assert [item for part in found for item in part] == items
    assert all(sum(size for _, size in part) <= room for part in found)
    # as few as go in order: the first of a page had no room on the one before
    for before, after in itertools.pairwise(found):
        assert sum(size for _, size in before) + after[0][1] > room


def test_an_item_that_is_larger_than_a_page_has_one_of_its_own():
    assert group_by_size([1, 9, 1], 5, float) == [[1], [9], [1]]


def test_a_count_is_one_number_or_its_ends():
    assert [count_range(counts) for counts in ([7], [7, 7], [12, 7, 1000])] == ["7", "7", "7 to 1,000"]
