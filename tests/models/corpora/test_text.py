"""Texts of every form give the words and the sentences that stand in them."""

import bz2
import gzip
import io
import lzma
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from biasgrid.models.corpus import text
from biasgrid.models.corpus.text import Sentences

TEXT = "The nurse, she said: don't!\n\n  A well-known U.S. doctor (he) left.\n"
AS_TEXT = [["the", "nurse", "she", "said", "don't"], ["a", "well-known", "u.s", "doctor", "he", "left"]]


def sentences(path, *format):
    return list(Sentences(path, *format))


def test_plain_text_loses_its_punctuation(tmp_path):
    (tmp_path / "plain").write_text(TEXT)
    assert sentences(tmp_path / "plain") == AS_TEXT


def test_tokens_are_what_stands_between_white_space(tmp_path):
    (tmp_path / "plain").write_text(TEXT)
    assert sentences(tmp_path / "plain", "tokens")[0] == ["the", "nurse,", "she", "said:", "don't!"]


def test_tokens_may_have_commas_between_them(tmp_path):
    # as the corpus of Maddalozzo's thesis: one sentence on each line; a number is two tokens there, too
    (tmp_path / "commas").write_text("señor,¿qué?,1,5\n\nElla,,gracias,\n", encoding="utf-8")
    assert sentences(tmp_path / "commas", "commas") == [["señor", "¿qué?", "1", "5"], ["ella", "gracias"]]


def test_a_tagged_word_is_what_stands_before_the_last_slash(tmp_path):
    # as in the Brown corpus: a fraction has a slash of its own, a line of white space is no sentence
    (tmp_path / "tagged").write_text("\n\tThe/at 1/2/cd ``/`` Fulton/np-tl ./.\n\t \n\tHe/pps left/vbd\n")
    assert sentences(tmp_path / "tagged", "tagged") == [["the", "1/2", "``", "fulton", "."], ["he", "left"]]


def test_packed_texts_and_folders_are_read(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b").write_text("second one")
    (tmp_path / "folder" / "a").write_text("first one\n")
    (tmp_path / "folder" / ".hidden").write_bytes(b"\xff\xfe")
    assert sentences(tmp_path / "folder") == [["first", "one"], ["second", "one"]]
    with gzip.open(tmp_path / "packed.gz", "wt") as file:
        file.write(TEXT)
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("text", TEXT)
    assert sentences(tmp_path / "packed.gz") == sentences(tmp_path / "packed.zip") == AS_TEXT
    for compress in (bz2.compress, lzma.compress):
        for encoding in ("utf-8", "utf-16"):
            (tmp_path / "packed").write_bytes(compress(TEXT.encode(encoding)))
            assert sentences(tmp_path / "packed") == AS_TEXT


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["a", "Bb", "ccc", "é"]), max_size=5), max_size=8),
    st.integers(1, 9),
    st.sampled_from(["\n", "\r\n"]),
)
def test_blocks_of_any_size_give_the_same_sentences(tmp_path_factory, lines, block, end):
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_bytes(end.join(map(" ".join, lines)).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", block)
        assert sentences(path) == [[word.lower() for word in line] for line in lines if line]


def zipped(*names, mode=0o100644) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, "some words")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("Bücher\n".encode("latin-1"), "is damaged, or no UTF-8 text"),
        (zipped("one", "two"), "holds 2 files; a corpus is one"),
        (zipped(), "holds 0 files; a corpus is one"),
        (zipped("corpus.txt", mode=0o120777), "holds the link 'corpus.txt', and no text"),
        (gzip.compress(b"a word " * 1000)[:-10], "the gzip is damaged or cut off"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "is a Git LFS pointer"),
        (b"x" * 2000, "no white space in 1000 characters: no corpus"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_text_gets_one_line(tmp_path, monkeypatch, content, says):
    monkeypatch.setattr(text, "LONGEST", 1000)
    monkeypatch.setattr(text, "BLOCK", 100)
    (tmp_path / "corpus").write_bytes(content)
    with refused("corpus: ", says):
        sentences(tmp_path / "corpus")
