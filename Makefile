PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: install demo picture test check lock lowest

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --requirements requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	touch $@

# The main job, seen: what a list returned by a tool becomes, with and without this package.
demo: install
	@$(BIN)/verbatim demo

# The same as a picture for the README.
picture: install
	@$(BIN)/verbatim demo --svg docs/images/demo.svg

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
