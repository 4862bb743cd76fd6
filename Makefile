# `make demo` and `make test` are the two commands of the README. Each target makes what it needs:
# the stamps record that an environment was installed, and again after pyproject.toml changed.

PYTHON ?= python3
VENV := .venv
ORACLE := .venv-oracle
WORKERS ?= 2
PYTEST_ARGS ?=
PACKAGES := cli formats graphcore sample_models
PIP_INSTALL := -m pip install -qq --disable-pip-version-check

.DELETE_ON_ERROR:
.PHONY: help demo test lint format types oracle protos op-lists bench wheel clean

help:  ## what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

# ---- environments ------------------------------------------------------------------------------

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP_INSTALL) -e '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP_INSTALL) -e '.[test,dev]'
	@touch $@ $(VENV)/.installed-test $(VENV)/.installed

$(ORACLE)/.installed: pyproject.toml
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/python $(PIP_INSTALL) -e '.[test,oracle]'
	@touch $@

# ---- what a user runs --------------------------------------------------------------------------

demo: $(VENV)/.installed  ## install into .venv and show the six commands on a shipped sample
	$(VENV)/bin/sgtool demo

test: $(VENV)/.installed-test  ## install into .venv and run the whole test suite
	$(VENV)/bin/python -m pytest -n $(WORKERS) $(PYTEST_ARGS)

# ---- what a contributor runs -------------------------------------------------------------------

lint: $(VENV)/.installed-dev  ## ruff and its formatter, changing nothing
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

format: $(VENV)/.installed-dev  ## let ruff fix and format
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

# mypy cannot follow the package-dir mapping: it sees the folders through links as sgtool.<folder>.
types: $(VENV)/.installed-dev  ## mypy --strict over the packages and the tests
	@mkdir -p build/typecheck/sgtool
	@for name in $(PACKAGES); do ln -sfn ../../../$$name build/typecheck/sgtool/$$name; done
	$(VENV)/bin/mypy $(PACKAGES:%=build/typecheck/sgtool/%) tests

oracle: $(ORACLE)/.installed  ## the tests against a real TensorFlow, in an environment of its own
	$(ORACLE)/bin/python -m pytest -m oracle $(PYTEST_ARGS)

protos: $(VENV)/.installed-dev  ## compile the .proto files into the committed descriptor set
	$(VENV)/bin/python formats/proto_src/compile.py

op-lists: $(VENV)/.installed-dev $(ORACLE)/.installed  ## the lists of ops that inspect compares with
	$(VENV)/bin/python tests/support/op_lists.py
	$(ORACLE)/bin/python tests/support/op_lists.py

bench: $(ORACLE)/.installed  ## ratios against TensorFlow, each pair measured in one run
	$(ORACLE)/bin/python -m tests.bench

wheel: $(VENV)/.installed-dev  ## dist/*.whl
	@rm -rf build/lib build/bdist.* dist
	$(VENV)/bin/python -m build --wheel --outdir dist .

clean:  ## remove environments, builds and caches
	rm -rf $(VENV) $(ORACLE) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
