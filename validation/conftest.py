"""Fixtures of the library's tests (tests/conftest.py), for the tests of experiments."""

from conftest import (  # noqa: F401
    _no_plugins_of_other_tests,
    pytest_collection_modifyitems,
    random_model,
    word2vec,
)
