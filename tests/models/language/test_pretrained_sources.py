"""Pretrained models by the names that a hub has of them, from a hub on this machine; and of folders in place."""

import http.server
import json
import logging
import os
import sys
from urllib.parse import unquote

import pytest
import tiny_bert
from conftest import biasgrid, printed, refusal
from loopback import FAST, Handler, answer, serve, serving, sha256
from refusals import refused
from tiny_bert import write_bert

import biasgrid as bg
from biasgrid.core.errors import InputError, NetworkError
from biasgrid.models import build_store
from biasgrid.models.hub import fetch_hub_model
from biasgrid.models.sources import check, fetch, read_manifest, verify
from biasgrid.models.sources.pretrained import choose_files
from biasgrid.study.study import Study
from biasgrid.workflow import stores

COMMIT, LATER = "0123456789" * 4, "f" * 40
NAME = "some/model"
MODEL = {
    "config.json": b"{}",
    "tokenizer.json": b"[]",
    "vocab.txt": b"a",
    "model.safetensors": b"weights" * 100,
    # none of which is read
    "pytorch_model.bin": b"pickle",
    "tf_model.h5": b"h5",
    "onnx/model.onnx": b"onnx",
    "onnx/config.json": b"{}",
    "consolidated.safetensors": b"the same again",
    "README.md": b"# A model",
    ".gitattributes": b"",
}
READ = {"config.json", "tokenizer.json", "vocab.txt", "model.safetensors"}
SENTENCES = MODEL | {
    "modules.json": b"[]",
    "sentence_bert_config.json": b"{}",
    "config_sentence_transformers.json": b"{}",
    "1_Pooling/config.json": b'{"word_embedding_dimension": 8}',
    "2_Dense/config.json": b"{}",
    "2_Dense/model.safetensors": b"dense",
    "2_Dense/pytorch_model.bin": b"pickle",
}
OF_SENTENCES = READ | {
    *("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"),
    *("1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors"),
}


class Hub:
    """What a hub has: commit -> path -> content, and branch -> commit."""

    def __init__(self):
        self.commits, self.branches, self.token = {COMMIT: MODEL}, {"main": COMMIT}, ""
        self.listing = None  # in place of a true one

    def __call__(self, handler):
        path = unquote(handler.path)
        if self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            return answer(401)(handler)
        beginning, _, rest = path.partition("/revision/" if path.startswith("/api/") else "/resolve/")
        if path.startswith("/api/"):
            revision, _, query = rest.partition("?")
            commit = self.branches.get(revision, revision)
            if beginning != f"/api/models/{NAME}" or commit not in self.commits:
                return answer(404)(handler)
            assert query == "blobs=true"
            body = self.listing if self.listing is not None else json.dumps(self.list(commit)).encode()
            return serve(handler, body, headers=[("Content-Type", "application/json")])
        commit, _, file = rest.partition("/")
        content = self.commits.get(commit, {}).get(file)
        return answer(404)(handler) if content is None else serve(handler, content, etag=f'"{len(content)}"')

    def list(self, commit):
        """As huggingface.co lists files: those that git does not keep itself have a sha256."""
        siblings = []
        for path, content in self.commits[commit].items():
            entry = {"rfilename": path, "blobId": "1" * 40, "size": len(content)}
            if path.endswith((".safetensors", ".bin", ".h5", ".onnx")):
                entry["lfs"] = {"sha256": sha256(content), "size": len(content), "pointerSize": 134}
            siblings.append(entry)
        return {"id": NAME, "sha": commit, "private": False, "siblings": siblings}


@pytest.fixture
def server(monkeypatch):
    for variable in ("HF_TOKEN", "HF_ENDPOINT"):
        monkeypatch.delenv(variable, raising=False)
    with serving(Hub()) as server:
        server.hub = server.usual
        yield server


@pytest.fixture
def hub(server):
    return server.hub


def source(server, **more):
    return {"type": "transformers", "name": NAME, "base": server.url, "revision": COMMIT} | more


def get(server, folder, **more):
    return fetch("m", source(server, **more), folder, progress=False, limits=FAST)


def files_below(folder):
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {file.relative_to(folder).as_posix() for file in files} - {"manifest.json"}


# --- a name ---


def test_a_commit_is_fetched_once_and_read_offline_afterwards(server, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        folder = get(server, tmp_path)
    assert folder == tmp_path / "m"
    assert files_below(folder) == READ
    assert all((folder / file).read_bytes() == MODEL[file] for file in READ)
    assert caplog.text == ""  # a commit pins all its files
    record = read_manifest(folder)
    assert record["source"] == source(server)
    assert record["files"] == {
        file: {"sha256": sha256(MODEL[file]), "bytes": len(MODEL[file])} for file in READ
    }
    paths = [path for path, _ in server.seen]
    assert paths[0] == f"/api/models/{NAME}/revision/{COMMIT}?blobs=true"
    assert set(paths[1:]) == {f"/{NAME}/resolve/{COMMIT}/{file}" for file in READ}
    server.usual = answer(500)
    assert get(server, tmp_path) == folder
    assert len(server.seen) == len(paths)
    verify("m", tmp_path)


def test_the_modules_of_a_sentence_transformer_keep_their_folders(server, hub, tmp_path):
    hub.commits[COMMIT] = SENTENCES
    folder = get(server, tmp_path, type="sentence-transformers")
    assert files_below(folder) == read_manifest(folder)["files"].keys() == OF_SENTENCES
    assert (folder / "1_Pooling" / "config.json").read_bytes() == SENTENCES["1_Pooling/config.json"]
    server.usual = answer(500)
    assert get(server, tmp_path, type="sentence-transformers") == folder
    (folder / "1_Pooling" / "config.json").write_bytes(b"{}")
    with refused("1_Pooling/config.json has changed since it was fetched"):
        verify("m", tmp_path)
    (folder / "3_Normalize").mkdir()
    (folder / "3_Normalize" / "config.json").write_bytes(b"{}")
    (folder / "1_Pooling" / "config.json").write_bytes(SENTENCES["1_Pooling/config.json"])
    with refused("holds '3_Normalize/config.json', which was not fetched"):
        get(server, tmp_path, type="sentence-transformers")


def test_a_branch_stays_at_the_commit_that_it_was_first_seen_at(server, hub, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        folder = get(server, tmp_path, revision="main")
    assert caplog.messages == [
        f"m: main was first seen at commit {COMMIT}, recorded in {tmp_path / 'm.first-seen.json'}; name the commit "
        "as the revision"
    ]
    record = json.loads((tmp_path / "m.first-seen.json").read_text())
    assert record[f"{server.url}/api/models/{NAME}/revision/main"] == COMMIT
    # the branch has moved on, and the archive was deleted
    hub.commits[LATER], hub.branches["main"] = MODEL | {"config.json": b'{"a": 1}'}, LATER
    (folder / "manifest.json").unlink()
    (folder / "config.json").unlink()
    assert get(server, tmp_path, revision="main") == folder
    assert (folder / "config.json").read_bytes() == b"{}"
    # other bytes under the same commit
    hub.commits[COMMIT] = MODEL | {"vocab.txt": b"b"}
    (folder / "manifest.json").unlink()
    (folder / "vocab.txt").unlink()
    with refused("vocab.txt: expected sha256", "recorded when this address was first used"):
        get(server, tmp_path, revision="main")
    # without a revision it is the main branch
    short = {key: value for key, value in source(server).items() if key != "revision"}
    assert (
        fetch("n", short, tmp_path, progress=False, limits=FAST) / "config.json"
    ).read_bytes() == b'{"a": 1}'


def test_a_refused_branch_is_not_recorded(server, hub, tmp_path):
    hub.commits[COMMIT] = {"config.json": b"{}", "pytorch_model.bin": b"pickle"}
    with refused("m: some/model has no weights as safetensors", "pytorch_model.bin is not read"):
        get(server, tmp_path, revision="main")
    hub.commits[LATER], hub.branches["main"] = MODEL, LATER
    assert files_below(get(server, tmp_path, revision="main")) == READ


def test_weights_in_shards(server, hub, tmp_path):
    shards = [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    index = {"model.safetensors.index.json": b"{}"}
    whole = {"config.json": b"{}", **index, **dict.fromkeys(shards, b"part")}
    hub.commits[COMMIT] = whole
    assert files_below(get(server, tmp_path)) == set(whole)
    with refused("has 1 shards of weights, which are not those of model.safetensors.index.json"):
        choose_files([*index, "config.json", shards[0]], "m", "transformers")
    with refused("has 0 shards"):
        choose_files([*index, "config.json"], "m", "transformers")


@pytest.mark.parametrize(
    ("files", "kind", "message"),
    [
        ([], "transformers", "some/model has no config.json: it is no model for transformers"),
        (["sub/config.json", "model.safetensors"], "transformers", "has no config.json"),
        (
            ["config.json", "model.gguf"],
            "transformers",
            "no weights as safetensors (model.safetensors); save",
        ),
        (["config.json", "tf_model.h5"], "transformers", "tf_model.h5 is not read"),
        (["config.json", "model.safetensors"], "sentence-transformers", "has no modules.json"),
        (
            ["modules.json", "model.safetensors", "2_Dense/pytorch_model.bin"],
            "sentence-transformers",
            "2_Dense/pytorch_model.bin is not read",
        ),
        (
            [
                "config.json",
                "modules.json",
                "model.safetensors",
                *(f"{n}_A/config.json" for n in range(1000)),
            ],
            "sentence-transformers",
            "has 1003 files of a model; at most 1000 are read",
        ),
    ],
)
def test_repositories_that_are_no_model(server, hub, tmp_path, files, kind, message):
    hub.commits[COMMIT] = dict.fromkeys(files, b"{}")
    with refused("m: ", message):
        get(server, tmp_path, type=kind)
    assert not (tmp_path / "m" / "manifest.json").exists()


def test_other_bytes_than_the_listing_says(server, hub, tmp_path):
    true = hub.list(COMMIT)
    (weights,) = [entry for entry in true["siblings"] if entry["rfilename"] == "model.safetensors"]
    weights["lfs"]["sha256"] = "0" * 64
    hub.listing = json.dumps(true).encode()
    with refused("m: ", f"/{NAME}/resolve/{COMMIT}/model.safetensors: expected sha256 {'0' * 64}"):
        get(server, tmp_path)
    assert "model.safetensors" not in files_below(tmp_path / "m")


def test_a_file_that_is_listed_and_missing(server, hub, tmp_path):
    hub.listing = json.dumps(hub.list(COMMIT)).encode()
    hub.commits[COMMIT] = {file: content for file, content in MODEL.items() if file != "vocab.txt"}
    with refused("m: ", "vocab.txt: the server answers 404", kind=NetworkError):
        get(server, tmp_path)
    # what has come is gone on with
    hub.commits[COMMIT] = MODEL
    sent = server.sent
    get(server, tmp_path)
    assert server.sent - sent < len(hub.listing) + 100 + len(MODEL["model.safetensors"])


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_repository_that_is_not_there_or_not_public(server, tmp_path, status):
    server.usual = answer(status)
    with refused(
        "m: ", str(status), "no such repository or revision, or it is not public", kind=NetworkError
    ):
        get(server, tmp_path)
    assert len(server.seen) == 1


def entries(*paths):
    return [{"rfilename": path} for path in ("config.json", "model.safetensors", *paths)]


@pytest.mark.parametrize(
    "listing",
    [
        b"",
        b"no JSON",
        b"[]",
        b'{"sha": "main", "siblings": []}',
        json.dumps({"sha": COMMIT}).encode(),
        json.dumps({"sha": COMMIT, "siblings": [{"rfilename": 3}]}).encode(),
        json.dumps({"sha": COMMIT, "siblings": [{"rfilename": "config.json", "size": 10**30}]}).encode(),
        json.dumps({"sha": COMMIT, "siblings": [{"rfilename": "config.json", "size": -1}]}).encode(),
        json.dumps({"sha": COMMIT, "siblings": [{"rfilename": "a", "lfs": {"sha256": "x"}}]}).encode(),
        json.dumps({"sha": COMMIT, "siblings": [{"rfilename": "a", "lfs": {"sha256": "0" * 65}}]}).encode(),
        json.dumps({"sha": COMMIT + "\n", "siblings": entries()}).encode(),
        b"[" * 100_000,
        json.dumps({"sha": LATER, "siblings": entries()}).encode(),
        b" " * (11 << 20),
    ],
)
def test_what_is_no_listing(server, hub, tmp_path, listing):
    hub.listing = listing
    with refused("m: ", f"/api/models/{NAME}/revision/{COMMIT}", kind=NetworkError):
        get(server, tmp_path)
    assert files_below(tmp_path / "m") == set()


@pytest.mark.slow
def test_a_listing_names_no_file_outside(server, hub, tmp_path):
    paths = [
        "../tokenizer.json",
        "/tokenizer.json",
        "..",
        "",
        "1_Pooling/../tokenizer.json",
        "a/1_Pooling/config.json",
    ]
    paths += [
        "manifest.json",
        "model.safetensors/config.json",
        "vocab.txt\n",
        *(f"sub/{n}.json" for n in range(10_000)),
    ]
    hub.commits[COMMIT] = {"config.json": b"{}", "model.safetensors": b"w", "modules.json": b"[]"}
    listing = {"sha": COMMIT, "siblings": [*entries(*paths), {"rfilename": "modules.json"}]}
    hub.listing = json.dumps(listing).encode()
    for kind in ("transformers", "sentence-transformers"):
        folder = fetch(kind, source(server, type=kind), tmp_path / "raw", progress=False, limits=FAST)
        assert files_below(folder) <= hub.commits[COMMIT].keys()
    assert {path.name for path in tmp_path.iterdir()} == {"raw"}


def test_without_network_it_is_one_line(tmp_path, server):
    closed = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    closed.server_close()
    with refused(
        "m: ", "cannot reach 127.0.0.1", "some/model is not stored here: fetch it where there is a network",
        kind=NetworkError,
    ):  # fmt: skip
        get(server, tmp_path, base=f"http://127.0.0.1:{closed.server_port}")


# --- a person's own hub, and its token ---


def test_only_the_own_hub_is_sent_the_token(server, hub, tmp_path, monkeypatch, caplog):
    hub.token = "hf_secret"
    monkeypatch.setenv("HF_TOKEN", "hf_secret\n")
    with refused("the server answers 401", "set HF_TOKEN"):
        get(server, tmp_path)  # a config's address
    assert "Authorization" not in server.seen[-1][1]
    monkeypatch.setenv("HF_ENDPOINT", server.url + "/")
    own = {key: value for key, value in source(server, revision="main").items() if key != "base"}
    with caplog.at_level(logging.DEBUG, logger="biasgrid"):
        folder = fetch("m", own, tmp_path, progress=True, limits=FAST)
    assert files_below(folder) == READ
    texts = [file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file()]
    assert not any("hf_secret" in text for text in [*texts, caplog.text])
    monkeypatch.setenv("HF_TOKEN", "hf_secret\r\nX: y")
    (folder / "manifest.json").unlink()
    with refused("HF_TOKEN has signs that no token has"):
        fetch("m", own, tmp_path, progress=False, limits=FAST)


def test_the_token_does_not_follow_to_another_host(server, hub, tmp_path, monkeypatch):
    with serving(lambda handler: serve(handler, MODEL[handler.path.rpartition("/")[2]])) as storage:
        place = f"http://localhost:{storage.server_port}"

        def redirect(handler):
            if handler.path.startswith("/api/"):
                hub(handler)
            else:
                answer(302, ("Location", place + handler.path))(handler)

        server.usual, hub.token = redirect, "hf_secret"
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        own = {key: value for key, value in source(server).items() if key != "base"}
        fetch("m", own, tmp_path, progress=False, limits=FAST)
        assert len(storage.seen) == len(READ)
        assert not any("Authorization" in headers for _, headers in storage.seen)


def test_python_fetches_a_name_once(server, hub, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    folder = fetch_hub_model(NAME)
    assert folder == tmp_path / "raw" / "some--model"
    assert files_below(folder) == READ
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"biasgrid: {NAME}: downloading into {tmp_path / 'raw'}"
    assert lines[1] == f"{NAME}: 4 files, 0 MB, from {server.url}"
    hub.commits[LATER] = MODEL | {"config.json": b"[]"}
    other = fetch_hub_model(NAME, LATER)
    assert (other / "config.json").read_bytes() == b"[]"
    server.usual, count = answer(500), len(server.seen)
    capsys.readouterr()
    assert (fetch_hub_model(NAME), fetch_hub_model(NAME, LATER)) == (folder, other)
    assert len(server.seen) == count
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "name", ["", "model", "a/b/c", "../a", "./a", "a/", "/a/b", "a b/c", None, 3, ["a/b"]]
)
def test_what_is_no_name_on_a_hub(name):
    with refused("no name on a hub, which has the form owner/name", kind=InputError):
        fetch_hub_model(name)


@pytest.mark.parametrize("revision", ["", "a/b", "../a", 3])
def test_what_is_no_revision(revision):
    with refused("source: revision must be"):
        fetch_hub_model(NAME, revision)


# --- a folder in place ---


def write(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("kind", "files", "read"),
    [("transformers", MODEL, READ), ("sentence-transformers", SENTENCES, OF_SENTENCES)],
)
def test_a_folder_is_read_where_it_is_and_all_that_is_read_is_recorded(kind, files, read, tmp_path):
    place = write(tmp_path / "mine", files)
    own = {"type": kind, "path": str(place)}
    assert fetch("m", own, tmp_path / "raw") == place
    record = read_manifest(tmp_path / "raw" / "m")
    assert record["files"] == {
        f"{place}/{file}": {"sha256": sha256(files[file]), "bytes": len(files[file])} for file in read
    }
    assert os.listdir(tmp_path / "raw" / "m") == ["manifest.json"]
    verify("m", tmp_path / "raw")
    for file in read:
        (place / file).write_bytes(files[file] + b" ")
        with refused(f"{place / file} has changed"):
            verify("m", tmp_path / "raw")
        fetch("m", own, tmp_path / "raw")
        changed = read_manifest(tmp_path / "raw" / "m")["files"]
        assert changed[f"{place}/{file}"]["sha256"] == sha256(files[file] + b" ")
        verify("m", tmp_path / "raw")


def test_a_model_of_a_folder_is_made_of_copies_and_one_of_a_hub_of_links(server, hub, tmp_path):
    place = tiny_bert.write_bert(tmp_path / "mine")
    entry = {"kind": "language_model", "source": {"type": "transformers", "path": str(place)}}
    own = build_store("own", entry, tmp_path / "e")
    # what the user writes later must not change the model's folder
    assert (
        (own.path / "model.safetensors").stat().st_nlink == (place / "model.safetensors").stat().st_nlink == 1
    )
    hub.commits[COMMIT] = {file.name: file.read_bytes() for file in place.iterdir()}
    fetched = build_store("fetched", entry | {"source": source(server)}, tmp_path / "e")
    assert (fetched.path / "model.safetensors").stat().st_nlink == 2
    assert own.masked
    assert own.metadata["sha256"] == fetched.metadata["sha256"]
    record = {f"{place}/{file.name}": sha256(file.read_bytes()) for file in place.iterdir()}
    assert own.metadata["archive"] == record


def config(**parts):
    criteria = {
        "First": {"queries": {"q": {"targets": {"A": ["a"], "B": ["b"]}, "attributes": {"C": ["c"]}}}}
    }
    return {"study": "small", "criteria": criteria, "metrics": {"lpbs": {}}, "figures": [], **parts}


def model(source, **more):
    return {"m": {"label": "m", "kind": "language_model", "source": source} | more}


def test_a_study_reads_a_folder_and_a_change_of_any_file_is_a_change_of_its_input(tmp_path):
    place = write(tmp_path / "mine", SENTENCES)
    study = Study.of(config(models=model({"type": "transformers", "path": str(place)})))
    assert set(stores.local_files(study, "m")) == {str(place / file) for file in READ}
    encoders = {"e": {"source": {"type": "sentence-transformers", "path": str(place)}}}
    words = {"words": {"label": "words", "source": {"type": "encoded", "encoder": "e"}}}
    study = Study.of(config(models=words, encoders=encoders, metrics={"rnd": {}}))
    assert set(stores.local_files(study, "e")) == {str(place / file) for file in OF_SENTENCES}
    (place / "config.json").unlink()
    assert stores.local_files(study, "e") != []  # fetch says what is missing
    (place / "modules.json").unlink()
    assert stores.local_files(study, "e") == []


def test_a_study_takes_a_name(tmp_path):
    study = Study.of(config(models=model({"type": "transformers", "name": NAME, "revision": COMMIT})))
    assert study.sources["m"]["source"]["name"] == NAME
    assert stores.local_files(study, "m") == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (model({"type": "transformers"}), "source: needs a path (a folder of yours) or a name"),
        (model({"type": "transformers", "path": "a", "name": NAME}), "and not both"),
        (model({"type": "transformers", "path": "a", "revision": "main"}), "revision is for a name on a hub"),
        (model({"type": "transformers", "name": "model"}), "name must be of the form owner/name"),
        (model({"type": "transformers", "name": NAME, "files": {}}), "unknown key 'files'"),
        (model({"type": "transformers", "name": NAME}, kind="vectors"), "not for vectors"),
        (model({"type": "transformers", "name": NAME}, kind="corpus"), "not for corpus"),
        (model({"type": "sentence-transformers", "name": NAME}), "is for encoders, which score no text"),
    ],
)
def test_configs_that_are_refused(entry, message):
    with refused("m: source: ", message):
        Study.of(config(models=entry))


def test_both_types_take_either():
    for kind in ("transformers", "sentence-transformers"):
        for place in ({"path": "a"}, {"name": NAME}):
            check({"type": kind, **place})


# --- what the library opens ---

opened: list[str] = []


def note(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        opened.append(os.fsdecode(arguments[0]))


@pytest.mark.slow
def test_transformers_opens_no_file_that_is_not_in_the_record(tmp_path):
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    sizes = {
        "vocab_size": 5,
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
    }
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]")
    tokenizer.chat_template = "{{ messages }}"
    sys.addaudithook(note)  # there is no way to take it off again
    for kind, make in (
        ("BertForMaskedLM", transformers.BertConfig),
        ("LlamaForCausalLM", transformers.LlamaConfig),
        ("BertModel", transformers.BertConfig),
    ):
        place = tmp_path / kind
        getattr(transformers, kind)(make(**sizes)).save_pretrained(place)
        tokenizer.save_pretrained(place)
        for decoy in (
            "README.md",
            "training_args.bin",
            "vocab.json",
            "merges.txt",
            "adapter_model.safetensors",
        ):
            (place / decoy).write_bytes(b"{}")
        fetch(kind, {"type": "transformers", "path": str(place)}, tmp_path / "raw")
        record = {os.path.basename(file) for file in read_manifest(tmp_path / "raw" / kind)["files"]}
        opened.clear()
        options = {"trust_remote_code": False, "local_files_only": True}
        getattr(transformers, kind).from_pretrained(place, use_safetensors=True, **options)
        transformers.AutoTokenizer.from_pretrained(place, **options)
        read = {os.path.basename(path) for path in opened if os.path.dirname(path) == str(place)}
        assert {"config.json", "tokenizer.json"} <= read
        assert read <= record, read - record


# --- the command line ---


@pytest.mark.slow
def test_the_command_line_takes_a_name_on_a_hub(server, hub, tmp_path, monkeypatch):
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    folder = write_bert(tmp_path / "bert")
    hub.commits[COMMIT] = {file.name: file.read_bytes() for file in folder.iterdir()}
    sentences, words, four = tmp_path / "s.txt", tmp_path / "words.json", tmp_path / "four.json"
    sentences.write_text("ab cd.\n中\n")
    sides = {"target_sets": [["ab"], ["cd"]], "attribute_sets": [["h"], ["g"]]}
    for path, number in ((words, 1), (four, 2)):
        sets = {
            side: [{"name": f"{side} {i}", "words": s} for i, s in enumerate(of)]
            for side, of in sides.items()
        }
        path.write_text(json.dumps(sets | {"attribute_sets": sets["attribute_sets"][:number]}))
    model = bg.language_model(folder)
    first, second = printed("score", "--model", NAME, "--sentences", sentences)
    assert first == {"text": "ab cd.", "score": model.score(["ab cd."])[0]}
    assert second == {"text": "中", "score": None, "why": "has only tokens unknown to the model"}
    measured = printed("measure", "--metric", "lpbs", "--model", NAME, "--query", words)
    assert measured["model"] == NAME
    assert measured["value"] == pytest.approx(
        bg.metrics.lpbs(bg.Query([["ab"], ["cd"]], [["h"]]), model).value
    )
    refusal(
        *("measure", "--metric", "weat", "--model", "other/name", "--query", four),
        parts=["other/name: no such file or folder", "for metrics of language models", "biasgrid.encode"],
    )
    done = biasgrid("score", "--model", "other/name", "--sentences", sentences)
    _, error = done.stderr.splitlines()
    assert (done.returncode, done.stdout, "other--name: " in error, "404" in error) == (2, "", True, True)
    refusal("score", "--model", "smolm2", "--sentences", sentences, parts=["did you mean 'smollm2-135m'"])
    wrong = refusal("score", "--model", NAME + "/x", "--sentences", sentences)
    assert wrong.endswith(f"{NAME}/x: no such file or folder")
