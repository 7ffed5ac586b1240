PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: install test check lock lowest

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --requirements requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	touch $@

test: install
	$(BIN)/pytest --cov

check: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright

# The lowest versions that pyproject.toml admits, with the newest test tools.
lowest: install
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable '.[cli,harmony]'
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --group dev
	.venv-lowest/bin/pytest

lock: install
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --all-extras --group dev \
	  pyproject.toml --output-file requirements.lock
