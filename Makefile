# Two commands: `make study` sets everything up and runs the embedded study; `make test` sets everything up and
# tests it. Both need Python 3.11 or newer, make, and a package registry that pip reaches; nothing else. The tests
# bring torch, which no study needs.
PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || echo 2)
BIN := .venv/bin

# what other studies replicate; text8 trains its models here
REPLICATIONS := caliskan sweeney bolukbasi wefe_documentation same multilingual thesis

.PHONY: study study-npm all-metrics debias text8 replications $(REPLICATIONS) full simulation factory properties pictures notebooks reference docs test test-quick notebooks-test fuzz cluster-test lint install clean
.DELETE_ON_ERROR:

study: .venv/installed
	$(BIN)/snakemake --cores $(CORES) --configfile config/embedded.yaml
	@echo "figures: results/embedded/figures   tables: results/embedded/*.csv"

study-npm: .venv/installed
	$(BIN)/snakemake --cores $(CORES) --configfile config/embedded.yaml config/with_npm.yaml

# the embedded study with the metrics that WEFE lacks
all-metrics: .venv/installed
	$(BIN)/snakemake --cores $(CORES) --configfile config/embedded.yaml config/with_all_metrics.yaml
	@echo "figures: results/all_metrics/figures   tables: results/all_metrics/*.csv"

# sweeney's own vectors are an npm package: without npm, the study has the others
sweeney: OVERLAY := $(if $(shell command -v npm),config/with_npm.yaml)

debias text8 $(REPLICATIONS): .venv/installed
	$(BIN)/snakemake --cores $(CORES) --configfile config/$@.yaml $(OVERLAY)
	@echo "figures: results/$@/figures   tables: results/$@/*.csv"

replications: $(REPLICATIONS)

full: .venv/installed
	$(BIN)/snakemake --cores $(CORES)

# Are p-values calibrated, and do intervals cover? On simulated embeddings and real vectors: docs/simulation.md
simulation: .venv/installed
	$(BIN)/snakemake --snakefile workflow/simulation.smk --cores $(CORES)
	@echo "figures: results/simulation/figures   tables: results/simulation/simulation.csv, calibration.csv"

# The planted-bias benchmark: how well does each metric recover a bias that is known? docs/factory.md
factory: .venv/installed
	$(BIN)/snakemake --snakefile workflow/factory.smk --cores $(CORES)
	@echo "figures: results/factory/figures   tables: results/factory/*.csv"

# Which metric sees what: computed, with counterexamples. docs/properties.md
properties: .venv/installed
	$(BIN)/biasgrid properties --output results/properties >/dev/null
	cp results/properties/properties.md docs/property-matrix.md
	@echo "figures, table, counterexamples: results/properties"

# The pictures of README and docs, from the results of the commands above, and their tables; PICTURES="rankings ...": some
pictures: .venv/installed
	$(BIN)/python docs/pictures.py $(PICTURES)

# The notebooks, executed on the embedded study, as pages; their packages are no part of `make study`
notebooks: .venv/installed-for-notebooks
	$(BIN)/snakemake notebooks --cores $(CORES) --configfile config/embedded.yaml
	@echo "pages: results/notebooks/*.html   to work in them: notebooks/README.md"

# What is generated from the code: docs/reference; a page of each metric and debias method; these for type checkers and
# editors
reference: .venv/installed
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/pages.py
	$(BIN)/python docs/stubs.py

# The site, which is read from disk and searchable: a link between pages that leads nowhere is an error
docs: reference .venv/installed-for-docs
	$(BIN)/python -m sphinx -W --keep-going --quiet -c docs -d results/site-doctrees . results/site
	@echo "site: results/site/index.html"

test: .venv/installed-for-tests .venv/installed-for-docs
	$(BIN)/python -m pytest -n 2 --dist worksteal

# A minute: what needs neither the workflow nor a registry, and is fast
test-quick: .venv/installed-for-tests
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not network"

# All notebooks executed, their numbers held against those that are committed; those that read a study need `make study`
notebooks-test: .venv/installed-for-tests
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "notebooks or network" tests/notebooks

# Damaged and hostile input, in number: tests/fuzz/run.py. FUZZ=200 tries fewer
FUZZ ?= 20000
fuzz: .venv/installed-for-tests
	$(BIN)/python tests/fuzz/run.py --inputs $(FUZZ)

# On a real Slurm of one node, which it installs (as root, with apt-get) and starts: docs/cluster.md
cluster-test: .venv-slurm/installed
	.venv-slurm/bin/python tests/cluster/embedded_study.py

lint: .venv/installed-for-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python docs/snippets.py
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/snakemake --snakefile workflow/simulation.smk --lint
	$(BIN)/snakemake --snakefile workflow/factory.smk --lint

install: .venv/installed

PIP := -m pip --quiet --disable-pip-version-check install

# The exact versions of requirements.lock, and the package itself from this folder.
.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("biasgrid needs Python 3.11 or newer; set PYTHON=" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) -r requirements.lock
	$(BIN)/python $(PIP) --no-deps --no-build-isolation --editable .
	touch $@

.venv/installed-for-tests: .venv/installed requirements-test.lock
	$(BIN)/python $(PIP) -r requirements.lock -r requirements-test.lock
	touch $@

.venv/installed-for-notebooks: .venv/installed requirements-notebooks.lock
	$(BIN)/python $(PIP) -r requirements.lock -r requirements-notebooks.lock
	touch $@

.venv/installed-for-docs: .venv/installed requirements-docs.lock
	$(BIN)/python $(PIP) -r requirements.lock -r requirements-docs.lock
	touch $@

# An environment of its own: the plugin makes every start of Snakemake half a second slower.
.venv-slurm/installed: requirements.lock requirements-slurm.lock pyproject.toml
	$(PYTHON) -m venv .venv-slurm
	.venv-slurm/bin/python $(PIP) -r requirements.lock -r requirements-slurm.lock
	.venv-slurm/bin/python $(PIP) --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf .venv .venv-slurm results .snakemake .biasgrid.lock
