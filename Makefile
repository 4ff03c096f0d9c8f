# Two commands: `make study` sets everything up and runs the embedded study; `make test` sets everything up and
# tests it. Both need Python 3.11 or newer, make, and a package registry that pip reaches; nothing else.
PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || echo 2)
BIN := .venv/bin

.PHONY: study study-npm debias full test cluster-test lint install clean
.DELETE_ON_ERROR:

study: .venv/installed
	$(BIN)/snakemake --cores $(CORES) --configfile config/embedded.yaml --quiet rules
	@echo "figures: results/embedded/figures   tables: results/embedded/*.csv"

study-npm: .venv/installed
	$(BIN)/snakemake --cores $(CORES) --configfile config/embedded.yaml config/with_npm.yaml --quiet rules

debias: .venv/installed
	$(BIN)/snakemake --cores $(CORES) --configfile config/debias.yaml --quiet rules
	@echo "figures: results/debias/figures   tables: results/debias/*.csv"

full: .venv/installed
	$(BIN)/snakemake --cores $(CORES) --quiet rules

test: .venv/installed
	$(BIN)/python -m pytest

# On a real Slurm of one node, which it installs (as root, with apt-get) and starts: docs/cluster.md
cluster-test: .venv-slurm/installed
	.venv-slurm/bin/python tests/cluster/embedded_study.py

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

install: .venv/installed

# The exact versions of requirements.lock, and the package itself from this folder.
.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("biasgrid needs Python 3.11 or newer; set PYTHON=" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# An environment of its own: the plugin makes every start of Snakemake half a second slower.
.venv-slurm/installed: requirements.lock requirements-slurm.lock pyproject.toml
	$(PYTHON) -m venv .venv-slurm
	.venv-slurm/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.lock -r requirements-slurm.lock
	.venv-slurm/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf .venv .venv-slurm results .snakemake .biasgrid.lock
