"""The Makefile says itself what can be made."""

import re
import shutil
import subprocess

import pytest
from conftest import ROOT


def make(*arguments):
    if shutil.which("make") is None:
        pytest.skip("needs make")
    done = subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_lists_each_target_with_a_sentence():
    phony = re.search(r"^\.PHONY: (.*)$", make("--print-data-base", "--dry-run", "help"), re.M)[1].split()
    assert {"study", "caliskan", "snakemake-report"} <= set(phony)
    listed = dict(re.findall(r"^  make (\S+) +(\S.*)$", make("help"), re.M))
    assert set(listed) == set(phony)


def test_make_alone_is_help():
    assert make() == make("help")


def test_the_report_of_a_study_lies_beside_its_results():
    """The study's name is its config's, not its file's."""
    commands = make("--dry-run", "snakemake-report", "CONFIG=config/config.yaml")
    assert "--configfile config/config.yaml --report results/case_study/snakemake-report.zip" in commands


def test_make_says_how_much_it_will_download():
    commands = make("--dry-run", "--always-make", "install")
    assert re.search(r'echo "Installing .* packages of requirements\.lock, \d+ MB to download"', commands)
