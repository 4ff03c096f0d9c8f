"""Adding one file is enough: the files of docs/how-to/examples, put into a copy of the package, pass the tests of
all metrics, debias methods, tables, figures, formats and tests of significance."""

import os
import re
import shutil
import subprocess

import finished_study
import forks
import pytest
from conftest import ROOT

EXAMPLES = ROOT / "docs" / "how-to" / "examples"
# an example -> where it goes
FOLDERS = {
    "spread.py": "metrics",
    "remove_pair.py": "debias",
    "lost_shares.py": "tables",
    "lost_bars.py": "figures",
    "bars.py": "models/readers",
    "moved_resamples.py": "measure/significance",
}
NAMES = ["spread", "remove_pair", "lost_shares", "lost-bars", "bars"]
# the names in the tests' own: what is tested of a table is a loop over all
FOUND = {*NAMES, "moved"} - {"lost_shares"}
COPIED = ["src", "docs", "tests", "notebooks", "config", "plugins", "profiles", "validation", "workflow"]
COPIED += ["README.md", "Snakefile", "environment.yml", "pyproject.toml"]
# what `make reference` writes of them, the picture of the figure, and the table of the page, of the finished
# study: by Snakemake, it takes half a minute
MADE = f"""
NAMES = {NAMES}
import os, generated, pages, pictures
generated.write()
for path, text in pages.overviews().items():
    path.write_text(text, encoding="utf-8")
for path, draw in pages.pictures().items():
    if path.stem in NAMES:
        draw().save(path, optimize=True)
assert not pictures.main(["gallery-lost-bars"])
import in_process
from biasgrid.study.study import Study
os.chdir("finished")
in_process.make_tables(Study.read("config/config.yaml"), "lost_shares")
"""
PYTEST = "import pytest, sys; sys.exit(pytest.main(sys.argv[1:]))"
COMMON = {
    "api/test_functions.py": "NAMES or attributes_of_the_packages or signature or documents_the_options",
    "debias/test_debias.py": "registry_is_complete",
    "docs/test_docs_reference.py": "not test_tables_hold",
    "docs/test_pages.py": "NAMES or page_of_each or overviews or notes or no_other_pictures",
    "docs/test_readme.py": "it_counts",
    "figures/test_any_table.py": "NAMES",
    "figures/test_figure_kinds.py": "every_kind or drawn_from_are_files",
    "figures/test_pictures.py": "NAMES or docs_show or every_kind or are_small",
    "evaluation/test_mitigation.py": "study_of_all_methods or refits_only or fits_nothing",
    "measure/test_inference.py": "every_metric or registry",
    "measure/test_resampling.py": "NAMES or every_metric_is_here",
    "measure/test_inference_doors.py": "each_test",
    "metrics/test_metric_sentences.py": "NAMES",
    "metrics/test_metrics.py": "registry_is_complete",
    "metrics/test_word_metrics.py": "table_of_defaults or documentation_has",
    "models/test_formats_and_sources.py": "each_kind_says",
    "models/test_pins.py": "NAMES or every_reader_has_a_row",
    "models/test_readers.py": "reproducible",
    "report/test_sentences.py": "NAMES or question",
    "tables/test_covariates.py": "NAMES",
    "tables/test_reading.py": "NAMES",
    "test_misspelt.py": "NAMES or of_the_api",
}


@pytest.fixture
def copy(tmp_path):
    """A copy of the checkout as far as tests read it."""
    for name in COPIED:
        here = ROOT / name
        shutil.copytree(here, tmp_path / name) if here.is_dir() else shutil.copy2(here, tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    return tmp_path


def run(folder, code, *arguments):
    """What code does in a process of the copy: a fork of one that has the packages."""
    path = os.pathsep.join(str(folder / name) for name in ("src", "docs", "tests"))
    study = {"FINISHED_STUDY": str(folder / "finished")}
    return subprocess.run(
        [forks.python(), "-c", code, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path, "PYTEST_ADDOPTS": ""} | study,
        capture_output=True,
        text=True,
    )


def common_tests(folder, *files, but="nothing"):
    """A run of the tests of these files that all of a kind pass, but for those of these names."""
    which = " or ".join(f"({file.rpartition('/')[2]} and ({COMMON[file]}))" for file in files)
    options = [
        *["-v", "-n", "0", "-p", "no:cacheprovider", "--tb", "short", "-W", "ignore"],
        "-m",
        "not network",
    ]
    asked = f"({which}) and not ({but})".replace("NAMES", " or ".join(NAMES))
    return run(folder, PYTEST, *options, "-k", asked, *(f"tests/{file}" for file in files))


def sentences(done):
    """What tests that failed say, each in a sentence."""
    said = re.findall(r"^E +AssertionError: (.*)$", done.stdout, re.MULTILINE)
    assert len(said) == int(re.search(r"(\d+) failed", done.stdout)[1]), done.stdout
    assert " error" not in done.stdout.splitlines()[-1], done.stdout
    return said


@pytest.mark.slow
def test_the_files_of_the_pages_pass_what_all_of_their_kind_do(copy):
    package = copy / "src" / "biasgrid"
    for name, folder in FOLDERS.items():
        shutil.copy2(EXAMPLES / name, package / folder)
    # `make pictures` draws after `make study`, of whose scores these are a part
    (copy / "results" / "embedded").mkdir(parents=True)
    shutil.copy2(copy / "docs/images/gallery-scores.csv", copy / "results/embedded/scores.csv")
    shutil.copytree(finished_study.finished().folder, copy / "finished", symlinks=True)
    made = run(copy, MADE)
    assert made.returncode == 0, made.stderr
    done = common_tests(copy, *COMMON)
    assert done.returncode == 0, done.stdout
    ids = re.findall(r"\[(.*)\] PASSED", done.stdout)
    assert [name for name in FOUND if not any(re.search(rf"\b{name}\b", tested) for tested in ids)] == []

    # and what a file lacks is said in a sentence each
    code = (EXAMPLES / "spread.py").read_text(encoding="utf-8")
    bare = re.sub(r"\n    Parameters\n.*?(?=    \"\"\")", "", code, flags=re.DOTALL)
    bare = re.sub(r"    (scaled|asks|above)=.*\n", "", bare)
    (package / "metrics" / "spread.py").write_text(bare, encoding="utf-8")
    code = (EXAMPLES / "lost_bars.py").read_text(encoding="utf-8")
    bare = re.sub(r" +shown=.*\n", "", code)
    (package / "figures" / "lost_bars.py").write_text(bare, encoding="utf-8")
    bare = re.sub(r"        example=Example\(.*?\n        \),\n", "", code, flags=re.DOTALL)
    (package / "figures" / "bare_bars.py").write_text(
        bare.replace("lost-bars", "bare-bars"), encoding="utf-8"
    )
    code = (EXAMPLES / "bars.py").read_text(encoding="utf-8")
    bare = re.sub(r" +example=.*\n", "", code)
    (package / "models" / "readers" / "bars.py").write_text(bare, encoding="utf-8")
    run(copy, "import gallery; gallery.PAGE.write_text(gallery.page())")
    of_figures = ("figures/test_any_table.py", "figures/test_pictures.py")
    of_parts = (
        "api/test_functions.py",
        "metrics/test_metric_sentences.py",
        "models/test_pins.py",
        *of_figures,
    )
    done = common_tests(copy, *of_parts, but="docs_show or are_small")
    said = sentences(done)
    of_spread = [line for line in said if line.startswith("spread: ")]
    assert len(set(of_spread)) == len(of_spread) == 5, done.stdout
    assert {*said} - {*of_spread} == {
        "lost-bars: Example.shown names columns whose numbers stand in the figure, by table",
        "bare-bars: Figure.example says which figure of which study the gallery shows",
        "bars: Reader.example has a small file of the format",
    }


LACKING = {
    r"    Notes\n.*?(?=    Examples\n)": "the section Notes",
    r"    Parameters\n.*?(?=    Returns\n)": "the section Parameters",
    r"    power\n.*?\n(?=\n    Returns\n)": "power in its section Parameters",
    r"\n    \*\*Defaults.*?\n(?=\n    Examples\n)": "**Defaults.** in its section Notes",
}


@pytest.mark.slow
def test_a_docstring_that_lacks_a_part_is_a_line_of_make_reference_and_of_tests(copy):
    code = (EXAMPLES / "spread.py").read_text(encoding="utf-8")
    for part, lacking in LACKING.items():
        bare, n = re.subn(part, "", code, flags=re.DOTALL)
        assert n == 1
        (copy / "src" / "biasgrid" / "metrics" / "spread.py").write_text(bare, encoding="utf-8")
        made = run(copy, "import runpy; runpy.run_module('generated', run_name='__main__')")
        example = "docs/how-to/examples/spread.py has a whole one"
        says = f"src/biasgrid/metrics/spread.py: the docstring of spread lacks {lacking}; {example}"
        assert (made.returncode, made.stderr) == (1, f"reference: {says}\n")
    files = ("tests/docs/test_docs_links.py", "tests/docs/test_pages.py")
    done = run(copy, PYTEST, "-n", "0", "-p", "no:cacheprovider", "-k", "whole or links", *files)
    assert done.returncode
    # a line, in place of where in docs/ that was found
    assert f"\n{says}\n" in done.stdout
    assert "docs/pages.py:" not in done.stdout
