"""Commands of pages: each parses, each target of make and each config is there. Nothing is run."""

import re
import shlex

import pytest
import yaml
from conftest import ROOT
from snippets import blocks, pages, tokens

from biasgrid import cli

SHELL = ("", "console", "sh", "bash", "shell")
LEAD = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv\S*/bin/)?(?=(?:biasgrid|make|snakemake)(?: |$))")
# what a reader has to fill in
OPEN = re.compile(r"\.\.\.|…|<\w+>|(?<= )[A-Z]+(?= |$)")
PAGES = pages()
PROGRAM = cli.commands()


def commands(page):
    """The commands of a page's blocks (page, command, True), and those in its sentences (..., False)."""
    for block in blocks(PAGES[page]):
        if block.language in SHELL:
            for line in block.text.replace("\\\n", " ").splitlines():
                if LEAD.match(line.strip()):
                    yield LEAD.sub("", line.strip()), True
    for token in tokens(PAGES[page]):
        for child in token.children or ():
            if child.type == "code_inline" and LEAD.match(child.content) and " " in child.content:
                yield LEAD.sub("", child.content), False


def targets():
    """The targets of the Makefile, files included."""
    text = (ROOT / "Makefile").read_text()
    variables = dict(re.findall(r"^(\w+) :?= (.*)$", text, re.M))
    phony = re.sub(r"\$\((\w+)\)", lambda m: variables[m[1]], re.search(r"^\.PHONY: (.*)$", text, re.M)[1])
    return {*phony.split(), *re.findall(r"^([\w./-]+):", text, re.M)}


def wrong(command, whole):
    """What is wrong with a command; nothing where it is right. `whole`: it stands as it is to be typed."""
    words = shlex.split(re.split(r" [>|] | && ", command)[0], comments=True)
    program, *words = words
    if not whole and (OPEN.search(command) or not words):
        return None
    if program == "make":
        asked = [word for word in words if "=" not in word and not word.startswith("-")]
        return ", ".join(f"no target {word}" for word in asked if word not in targets()) or None
    missing = [
        word
        for word in words
        if re.match(r"(config|workflow|profiles)/[\w./-]+$", word) and not (ROOT / word).exists()
    ]
    if missing:
        return f"no file {missing[0]}"
    if program == "snakemake" or words in (["--help"], ["--version"]):
        return None
    named, number = PROGRAM.find(words)
    if not number and len(words) == 1 and any(name.startswith(f"{words[0]} ") for name in PROGRAM.by_name):
        return None  # a command that has commands of its own
    if not number:
        return f"no command {words[0]}"
    if whole:
        try:
            PROGRAM.parse(words)
        except SystemExit as ended:
            return "does not parse" if ended.code else None
    known = {option for action in named._actions for option in action.option_strings}
    given = {word.partition("=")[0] for word in words if word.startswith("--")}
    return f"no option {min(given - known)}" if given - known and words[0] != "run" else None


@pytest.mark.slow
def test_commands_of_pages_are_right():
    found = {(page, command): whole for page in PAGES for command, whole in commands(page)}
    assert len(found) > 200
    assert not {place: why for place, whole in found.items() if (why := wrong(place[1], whole))}


def test_the_public_ci_tries_the_lowest_versions_and_faults_by_hand():
    jobs = {
        path.stem: yaml.safe_load(path.read_text())["jobs"]
        for path in (ROOT / ".github/workflows").glob("*.yml")
    }
    commands = {
        name: [step.get("run") for job in of.values() for step in job["steps"]] for name, of in jobs.items()
    }
    assert {"make test", "make test-portable", "make test-lowest"} <= set(commands["tests"])
    assert "make faults" in commands["faults"]


@pytest.mark.parametrize("name", ["tests", "case_study"])
def test_commands_of_the_public_ci_are_right(name):
    """Of the workflow files; actionlint has the rest (1.7.7 finds nothing)."""
    workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    lines = [line for step in steps for line in step.get("run", "").splitlines()]
    ours = [LEAD.sub("", line) for line in lines if LEAD.match(line)]
    scripts = [word for line in lines for word in line.split() if word.endswith(".py")]
    assert len(ours) >= 2
    assert "benchmarks/reproduced.py" in scripts
    assert not {command: why for command in ours if (why := wrong(command, True))}
    assert all((ROOT / script).is_file() for script in scripts)


@pytest.mark.slow
def test_configs_of_pages_are_yaml():
    for page, text in PAGES.items():
        for block in blocks(text):
            if block.language == "yaml":
                try:
                    yaml.safe_load(block.text)
                except yaml.YAMLError as error:
                    pytest.fail(f"{page}, line {block.line}: {error}")
