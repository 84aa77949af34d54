# Two commands need nothing but Python 3.11+ and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

.PHONY: demo test shown lint bench docs clean

# Where no code can be kept, `compile` says so and the demo compiles for itself.
demo: $(STAMP)
	-$(BIN)/rodsim compile
	$(BIN)/python -m examples.demo --out out

# A process for each core, a file of tests in one of them, where it shares what takes long; BLAS would add its own threads.
test: $(STAMP)
	$(PYTEST) --ignore tests/docs/shown

# What is shown to users: examples, scenes, notebooks and the code of the pages run, links of the site lead somewhere.
shown: $(STAMP)
	$(PYTEST) tests/docs/shown

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.support.import_rules
	$(BIN)/python -m tests.support.prose

bench: $(STAMP)
	$(BIN)/python -m benchmarks.run

# The site, to open without a server or a network: build/docs/index.html. A warning is an error.
docs: $(STAMP)
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --nitpicky --builder html docs build/docs
	@echo 'wrote build/docs/index.html'

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) out build/docs .pytest_cache .mypy_cache .ruff_cache
