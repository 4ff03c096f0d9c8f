"""The full case study's downloads, from its own addresses: https, redirects from host to host, real formats.

A proxy on this machine answers for every host, with certificates of an authority that only these tests trust. It
serves small vectors in the format of the real files under their real names; of the config only the sizes and the
checksums are exchanged for those of the small files. With the real sizes a run would ask for 16 GB of free disk.
"""

import gzip
import http.server
import json
import random
import shutil
import ssl
import subprocess
from dataclasses import dataclass
from functools import partial
from urllib.parse import unquote, urlsplit

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT, Project
from loopback import acting, answer, hang_up, largest_file, md5, reset, serve, sha256, sleep, started
from refusals import refused

from biasgrid import BiasgridError
from biasgrid.models import build_store, sources
from biasgrid.models.download import Limits
from biasgrid.study.study import Study

pytestmark = [
    pytest.mark.skipif(not shutil.which("openssl"), reason="makes its certificates with openssl"),
    pytest.mark.slow,
]

STUDY = Study.read(ROOT / "config" / "config.yaml", ROOT)
MODELS = {
    name: model for name, model in STUDY.models.items() if model["source"]["type"] in ("url", "gensim-data")
}
WORDS = sorted(
    {
        word
        for criterion in STUDY.config.criteria.values()
        for query in [STUDY.queries[next(iter(criterion.queries))]]
        for words in (*query.target_sets, *query.attribute_sets)
        for word in words.words
    }
)
# where the hosts of the real files send a client that asks for them
REDIRECTS = {
    "github.com": "release-assets.githubusercontent.com",
    "www.dropbox.com": "uc0.dl.dropboxusercontent.com",
}
FAST = Limits(attempts=3, backoff=0.01, longest_wait=0.05, stall=0.15, reach=2)


@dataclass(frozen=True)
class File:
    """A model as its host has it, small: `body` is what is downloaded, the file of `words` and `vectors`."""

    words: list[str]
    vectors: np.ndarray
    body: bytes


def small(name: str, seed: int) -> File:
    """Random vectors for the case study's words, as the model's real file holds them.

    All have word2vec's header, those of gensim-data's GloVe too (they were converted with glove2word2vec).
    """
    words = sorted({*WORDS, "new_york", "naïve", "1984"})
    vectors = np.random.default_rng(seed).normal(size=(len(words), 20)).astype(np.float32)
    header = f"{len(words)} 20\n".encode()
    if name == "word2vec-google-news-300":  # word2vec's binary format
        rows = [word.encode() + b" " + row.tobytes() for word, row in zip(words, vectors, strict=True)]
        content = header + b"".join(rows)
    else:
        vectors = vectors.round(5)
        rows = [
            f"{word} {' '.join(f'{x:.5f}' for x in row)}\n" for word, row in zip(words, vectors, strict=True)
        ]
        content = header + "".join(rows).encode()
    return File(words, vectors, gzip.compress(content, mtime=0))


FILES = {name: small(name, seed) for seed, name in enumerate(MODELS)}


def address(name: str) -> str:
    """Where a model of the config is, by what its hosts document."""
    source = MODELS[name]["source"]
    if source["type"] == "url":
        return source["url"]
    release = "https://github.com/RaRe-Technologies/gensim-data/releases/download"
    return f"{release}/{source['dataset']}/{source['dataset']}.gz"


BY_ADDRESS = {unquote(urlsplit(address(name)).path): name for name in MODELS}


def model(name: str) -> dict:
    """A model's entry in the config, with the size of its small file, and its checksum where it has one."""
    entry = json.loads(json.dumps(MODELS[name])) | {"download_mb": 1}
    for algorithm, hasher in (("md5", md5), ("sha256", sha256)):
        if algorithm in entry["source"]:
            entry["source"][algorithm] = hasher(FILES[name].body)
    return entry


# --- the hosts ---


class Hosts(http.server.BaseHTTPRequestHandler):
    """A proxy that is, behind CONNECT, whatever host it is asked for."""

    host = ""

    def do_CONNECT(self):
        self.host = self.path.removesuffix(":443")
        self.send_response(200)
        self.end_headers()
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.handle_one_request()

    def do_GET(self):
        self.server.seen.append((self.host, self.path))
        path = unquote(urlsplit(self.path).path)
        name = BY_ADDRESS.get(path.removeprefix("/signed"))
        real = {urlsplit(address(name)).hostname for name in FILES}
        if name is None or self.host not in real | set(REDIRECTS.values()):
            return answer(404)(self)
        if to := REDIRECTS.get(self.host):
            return answer(302, ("Location", f"https://{to}/signed{self.path}"))(self)
        act = self.server.plan.pop(0) if self.server.plan else self.server.usual
        return act(self, self.server.files[name].body)

    def finish(self):
        super().finish()
        self.connection.close()  # the server closes the socket below TLS, which TLS would not notice

    def log_message(self, *args):
        pass


def openssl(folder, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A folder with a test authority's certificate, and one for all hosts signed by it."""
    folder = tmp_path_factory.mktemp("tls")
    hosts = {urlsplit(address(name)).hostname for name in MODELS} | set(REDIRECTS.values())
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl(folder, "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj",
            "/CN=only tests trust this", "-addext", "keyUsage=critical,keyCertSign")  # fmt: skip
    openssl(folder, "req", *key, "-keyout", "host.key", "-out", "host.req", "-subj", "/CN=tests")
    (folder / "extensions").write_text(
        f"subjectAltName={','.join(f'DNS:{host}' for host in sorted(hosts))}\n"
        "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
    )
    openssl(folder, "x509", "-req", "-in", "host.req", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-out", "host.pem", "-days", "2", "-extfile", "extensions")  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def running(authority):
    with started(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hosts)) as server:
        server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.tls.load_cert_chain(authority / "host.pem", authority / "host.key")
        yield server


@pytest.fixture
def hosts(running, authority, monkeypatch):
    """The hosts, forgetful of other tests; `plan` holds what they do next where a file is asked for, then `usual`."""
    for variable in ("http_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)
    for variable in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, f"http://127.0.0.1:{running.server_port}")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority / "ca.pem"))
    running.plan, running.usual, running.seen, running.sent, running.files = [], serve, [], 0, dict(FILES)
    return running


@pytest.fixture
def impatient(monkeypatch):
    """Downloads that give up soon."""
    monkeypatch.setattr(sources, "fetch", partial(sources.fetch, limits=FAST, progress=False))


def holds(store, name: str) -> None:
    """The store has the words and vectors of the model's file."""
    file = FILES[name]
    assert store.words() == file.words
    assert np.array_equal(np.asarray(store.array), file.vectors)


# --- each model's path ---


def test_the_addresses_are_the_documented_ones():
    assert len(MODELS) == 6
    assert {urlsplit(address(name)).scheme for name in MODELS} == {"https"}


@pytest.mark.parametrize("name", MODELS)
def test_each_model_from_its_own_address(hosts, tmp_path, name):
    store = build_store(name, model(name), tmp_path)
    holds(store, name)
    first = urlsplit(address(name))
    wanted = [(first.hostname, first.path)]
    if first.hostname in REDIRECTS:
        wanted.append((REDIRECTS[first.hostname], "/signed" + first.path))
    assert [(host, urlsplit(path).path) for host, path in hosts.seen] == wanted


def test_a_host_whose_certificate_nobody_signed(hosts, tmp_path, monkeypatch, impatient):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "")
    monkeypatch.setenv("CURL_CA_BUNDLE", "")
    name = "glove-wiki-gigaword-300"
    with refused(f"{name}: cannot reach github.com: ", "certificate verify failed"):
        build_store(name, model(name), tmp_path)


def damaged(body: bytes) -> bytes:
    at = len(body) // 2
    return body[:at] + bytes([body[at] ^ 255]) + body[at + 1 :]


def fault(act):
    """What a server does, as a function of the right body."""
    return lambda handler, body: act(body)(handler)


PAGE = b"<!DOCTYPE html><html><body>Quota exceeded</body></html>"
# what happens once, on the way to a right file
ONCE = {
    "drop": lambda random_: fault(lambda body: acting(body=body, upto=random_.randrange(1, len(body)))),
    "reset": lambda random_: fault(
        lambda body: acting(body=body, upto=random_.randrange(1, len(body)), then=reset)
    ),
    "stall": lambda random_: fault(
        lambda body: acting(body=body, upto=random_.randrange(1, len(body)), then=sleep)
    ),
    "silence": lambda random_: fault(lambda body: sleep),
    "hang up": lambda random_: fault(lambda body: hang_up),
    "500": lambda random_: fault(lambda body: answer(500)),
    "429": lambda random_: fault(lambda body: answer(429, ("Retry-After", "1"))),
    "elsewhere": lambda random_: lambda handler, body: answer(302, ("Location", handler.path))(handler),
}
# what a server does again and again, and what it is called
ALWAYS = {
    "500": (fault(lambda body: answer(500)), "gave up after 3 attempts: the server answers 500"),
    "429": (fault(lambda body: answer(429, ("Retry-After", "1"))), "the server answers 429"),
    "404": (fault(lambda body: answer(404)), "the server answers 404"),
    "stall": (fault(lambda body: acting(body=body, upto=1000, then=sleep)), "no data for 0.15 s"),
    "drop": (fault(lambda body: acting(body=body, upto=1000)), "gave up after 3 attempts"),
    "no ranges": (fault(lambda body: acting(body=body, upto=1000, ranges=False)), "gave up after 3 attempts"),
    "page": (fault(lambda body: answer(200, ("Content-Type", "text/html"), body=PAGE)), "an HTML page"),
    "page as file": (fault(lambda body: acting(body=PAGE)), "an HTML page"),
    "loop": (lambda handler, body: answer(302, ("Location", handler.path))(handler), "redirects"),
    "empty": (fault(lambda body: answer(200)), "ends after 0 of 0 bytes"),
    # the server's own file is broken
    "truncated": (fault(lambda body: acting(body=body[: len(body) // 2])), ""),
    "corrupt": (fault(lambda body: acting(body=damaged(body))), ""),
}


@pytest.mark.parametrize(("number", "name"), [*enumerate(MODELS)])
def test_trouble_on_the_way_ends_in_the_right_vectors(hosts, tmp_path, impatient, number, name):
    random_ = random.Random(name)
    for kind in list(ONCE)[number % 2 :: 2]:
        hosts.plan, hosts.usual = [ONCE[kind](random_)], serve
        holds(build_store(name, model(name), tmp_path / kind), name)
    # all in a row, from a server that ignores ranges or one that has them
    for turn, ranges in enumerate((True, False)):
        hosts.plan = [ONCE[kind](random_) for kind in random_.sample(list(ONCE), 2)]
        hosts.usual = partial(serve, ranges=ranges)
        holds(build_store(name, model(name), tmp_path / str(turn)), name)


@pytest.mark.parametrize(("number", "name"), [*enumerate(MODELS)])
def test_trouble_that_stays_is_one_line_and_no_model(hosts, tmp_path, impatient, number, name):
    for kind in {*list(ALWAYS)[number % 3 :: 3], "truncated", "corrupt"}:
        hosts.usual, says = ALWAYS[kind]
        with refused(f"{name}: " if says else name, says):
            build_store(name, model(name), tmp_path / kind)
        assert not (tmp_path / kind / name / "model.json").exists()
        hosts.usual = serve
        if not says and "md5" not in MODELS[name]["source"]:
            # nothing told us so when it was first used: whoever deletes what is recorded gets the right one
            shutil.rmtree(tmp_path / kind)
        holds(build_store(name, model(name), tmp_path / kind), name)


# --- the study ---


@pytest.fixture(scope="module")
def case_study(tmp_path_factory):
    """A project with the case study's config, less what takes long or comes from elsewhere."""
    project = Project(tmp_path_factory.mktemp("case_study"))
    for folder in ("config", "data/word_sets"):
        shutil.copytree(ROOT / folder, project.folder / folder, dirs_exist_ok=True)
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    for key in ("debias", "evaluation", "benchmarks", "quality", "published", "inference"):
        config.pop(key, None)
    config["models"] = {name: model(name) for name in MODELS}
    config["metrics"]["rnsb"]["params"]["n_iterations"] = 2
    config["figures"] = []
    (name,) = config["criteria"]
    criteria = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    for criterion in criteria.values():
        criterion["queries"] = dict(list(criterion["queries"].items())[:1])
    config["criteria"] = criteria
    project.configure(config)
    return project


def test_from_nothing_to_scores_of_all_models(hosts, case_study):
    hosts.plan = [ONCE["drop"](random.Random(0)), ONCE["500"](random.Random(0))]
    case_study.run("fetch")
    raw = case_study.folder / "data" / "embeddings" / "raw"
    assert {path.parent.name for path in raw.glob("*/manifest.json")} == set(MODELS)
    assert {path.name for path in raw.parent.iterdir()} == {"raw"}  # it downloads only
    assert {path.parent.name for path in (case_study.folder / "results").rglob("*.json")} == {"sources"}
    trusted = {path.name.removesuffix(".first-seen.json") for path in raw.glob("*.first-seen.json")}
    assert trusted == {name for name in MODELS if not {"md5", "sha256"} & set(MODELS[name]["source"])}
    # and the rest needs no network
    seen = len(hosts.seen)
    hosts.usual = fault(lambda body: answer(404))
    case_study.run("results/case_study/scores.csv")
    assert len(hosts.seen) == seen
    scores = pd.read_csv(case_study.folder / "results" / "case_study" / "scores.csv")
    per_model = scores[scores["value"].notna()].groupby("model").size()
    assert set(per_model.index) == set(MODELS)
    assert per_model.nunique() == 1
    assert set(scores["metric"]) == set(STUDY.config.metrics)
    assert scores["criterion"].nunique() == 3


def test_what_was_trusted_on_first_use_must_stay_the_same(hosts, case_study):
    """Through the workflow's target `fetch`; another model's folder is not touched."""
    (name, *_) = [name for name in MODELS if "url" in MODELS[name]["source"]]
    raw = case_study.folder / "data" / "embeddings" / "raw"
    if not (raw / name).exists():
        case_study.run("fetch")
    for folder in (raw / name, raw.parent / name):
        shutil.rmtree(folder, ignore_errors=True)
    other = small(name, 99)
    hosts.files[name] = other
    done = case_study.snakemake("--cores", "2", "fetch")
    assert done.returncode == 1
    # after what it downloads
    told = f"expected sha256 {sha256(FILES[name].body)}, got {sha256(other.body)}"
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("biasgrid: ") and told in line]
    assert f"{name}.first-seen.json" in line
    assert not list(raw.glob(f"{name}/*"))


# --- a full disk ---


@pytest.mark.parametrize("name", ["glove-wiki-gigaword-300", "word2vec-google-news-300"])
def test_a_disk_that_is_full_when_the_store_is_made(hosts, tmp_path, impatient, name):
    holds(build_store(name, model(name), tmp_path), name)
    sizes = {path.name: path.stat().st_size for path in (tmp_path / name).iterdir()}
    shutil.rmtree(tmp_path / name)
    for limit in (100, sizes["vocabulary.sqlite"] - 1, sizes["vectors.npy"] - 1):
        with pytest.raises(BiasgridError) as error, largest_file(limit):
            build_store(name, model(name), tmp_path)
        assert not (tmp_path / name / "model.json").exists()
        assert str(tmp_path / name) in str(error.value)
        assert "File too large" in str(error.value) or "cannot write its vocabulary" in str(error.value)
    with largest_file(max(sizes.values())):
        holds(build_store(name, model(name), tmp_path), name)
