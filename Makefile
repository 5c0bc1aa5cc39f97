# Every target does its own set-up, in a .venv in this checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint types docs bench bench-smoke clean

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Installing into $(VENV): some minutes, once"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	$(BIN)/lifelong-co demo

test: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

docs: $(READY)
	$(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/site

bench: $(READY)
	$(BIN)/python benchmarks/against_official.py --json benchmarks/results/against_official.json

bench-smoke: $(READY)
	$(BIN)/python benchmarks/against_official.py --smoke --repeats 3
	$(BIN)/python benchmarks/solvers.py --smoke

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
