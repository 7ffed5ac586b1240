PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: install demo picture test coverage fuzz bench check lowest lock record e2e

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
	$(BIN)/pytest

coverage: install
	$(BIN)/pytest --cov

# The law over 200,000 random samples, and what else is searched for counter-examples.
fuzz: install
	HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest tests/harmony/test_law.py tests/harmony/test_safety.py tests/harmony/test_elsewhere.py tests/harmony/test_transcript.py tests/chat/test_reply_fuzz.py

# Parsing and rendering Harmony against the other libraries.
bench: install
	$(BIN)/python benchmarks/harmony.py

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

# Record the cassettes of a server anew, or fill in the requests of the written ones:
# make record SERVER=vllm [FAMILY=qwen3] (see docs/testing-against-real-servers.md).
RECORDED = tests/l3 --deselect tests/l3/test_written.py --record-mode=rewrite
WRITTEN  = tests/l3/test_written.py --disable-recording
record: install
	$(if $(SERVER),,$(error Name a server: make record SERVER=llama.cpp))
	SERVER='$(SERVER)' FAMILY='$(FAMILY)' $(BIN)/pytest -n 0 $(if $(filter written,$(SERVER)),$(WRITTEN),$(RECORDED))
	$(BIN)/python -m tests.servers.table

# The same stories told to a live server: llama.cpp, or another by name.
e2e: SERVER ?= llama.cpp
e2e: install
	SERVER='$(SERVER)' FAMILY='$(FAMILY)' $(BIN)/pytest -n 0 tests/e2e
