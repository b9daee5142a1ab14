# `make help` lists what there is to do. Everything runs in .venv, installed from the lock file.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
READY := $(VENV)/.installed
RUN := PATH="$(abspath $(VENV))/bin:$$PATH"

.DEFAULT_GOAL := help
.PHONY: help install demo run plan test test-slow coverage kills mutation audit lint audit-deps gpu-check bench arena lock clean site

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(READY) ## create .venv from requirements.lock

$(READY): requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r requirements.lock
	@touch $@

demo: $(READY) ## the whole pipeline on the smoke budget, offline, in the scratch copy .demo
	$(RUN) python -m pipeline demo --jobs $(JOBS)

plan: $(READY) ## what `make run` would run, and for how long
	$(RUN) python -m pipeline plan --jobs $(JOBS)

run: $(READY) ## the study of params.yaml, in parallel; the same as `dvc repro`
	$(RUN) python -m pipeline run --jobs $(JOBS)

# Each worker is one process with one thread for arithmetic: more would only wait for each other.
TEST_JOBS ?= 2
PYTEST_OPTIONS ?=
PYTEST := OMP_NUM_THREADS=1 python -m pytest -n $(TEST_JOBS) --dist worksteal $(PYTEST_OPTIONS)
test: $(READY) ## the fast tests, on TEST_JOBS processes
	$(RUN) $(PYTEST)

test-slow: $(READY) ## the tests that take minutes, every forgery and fault among them
	$(RUN) $(PYTEST) -m slow

coverage: $(READY) ## how much of the code the fast tests run, the commands that they start included
	$(RUN) python benchmarks/line_coverage.py

KILLS ?= 100
KILLS_REPORT ?= results/benchmarks/kills.json
kills: $(READY) ## kill the pipeline KILLS times with -9, resume, compare the ends
	$(RUN) python benchmarks/kills.py --kills $(KILLS) --output $(KILLS_REPORT)

mutation: $(READY) ## do the tests notice small changes in what decides the numbers?
	$(RUN) python benchmarks/mutation.py

AUDIT_OPTIONS ?=
audit: $(READY) ## verify the committed results; needs no data
	$(RUN) python -m pipeline audit $(AUDIT_OPTIONS)

lint: $(READY) ## ruff and mypy
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

AUDIT := build/audit/bin/pip-audit
audit-deps: ## known vulnerabilities in requirements.lock, where their list can be reached
	@test -x $(AUDIT) || { $(PYTHON) -m venv build/audit && build/audit/bin/pip install --quiet pip-audit; }
	@$(AUDIT) --strict --disable-pip --no-deps --requirement requirements.lock \
	  || { echo "not audited in full: a package is vulnerable, or the list was out of reach"; exit 1; }

gpu-check: $(READY) ## try a GPU: correct, how fast, hours for the paper profile; writes gpu_check.json
	$(RUN) python benchmarks/gpu_check.py

bench: $(READY) ## speed, as ratios taken in one run, into results/benchmarks
	$(RUN) python benchmarks/training.py

ARENA := build/arena
arena: ## the estimator against its rivals, hours: installs them into build/arena; resumable
	test -x $(ARENA)/bin/python || $(PYTHON) -m venv $(ARENA)
	$(ARENA)/bin/pip install --quiet --disable-pip-version-check -c requirements.lock '.[study,bench,arena]'
	$(ARENA)/bin/python -m benchmarks.arena run
	$(ARENA)/bin/python -m benchmarks.arena summary

lock: ## write requirements.lock from the ranges in pyproject.toml
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet torch==2.13.0
	build/lock/bin/pip install --quiet '.[study,test,lint,bench]'
	build/lock/bin/pip freeze --exclude learned-context | sed "s/+cpu$$//" > requirements.lock

site: ## the report and the files that it links to, as a folder for a web server
	rm -rf build/site && mkdir -p build/site
	git archive HEAD | tar -x -C build/site
	printf '<!DOCTYPE html><meta http-equiv="refresh" content="0; url=reports/index.html">\n' > build/site/index.html
	touch build/site/.nojekyll

clean: ## remove the scratch copy and the stages' own checkpoints; results stay
	rm -rf .demo scratch build
