# Every command a person or CI runs. `make` alone lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
FUZZ_SECONDS ?= 60
UV := uv==0.13.9
# Everything it may install is there already, by hash: whatever is not has to fail.
MATURIN := PIP_NO_INDEX=1 PIP_QUIET=1 $(BIN)/maturin

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What maturin sets for a build, for plain cargo too: or pyo3 would be compiled again after each other.
export PYO3_PYTHON := $(abspath $(BIN)/python)
export PYTHON_SYS_EXECUTABLE := $(PYO3_PYTHON)
export PYO3_BUILD_EXTENSION_MODULE := 1
CARGO := PYO3_ENVIRONMENT_SIGNATURE=`$(BIN)/python tools/interpreter.py` cargo

RUST_SOURCES := $(shell find crates -name '*.rs' -path '*/src/*') \
  $(wildcard crates/*/Cargo.toml) Cargo.toml Cargo.lock rust-toolchain.toml
LOAD := benchmarks/load/Cargo.toml
PYTHON_CODE := $(wildcard src tests tools benchmarks)
TEST_FOLDERS := $(wildcard tests/filters tests/conformance tests/integration tests/e2e)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

##@ Use

.PHONY: help
help: ## List the commands
	@awk -f tools/help.awk $(MAKEFILE_LIST)

.PHONY: up
up: build ## Start a gateway with an example upstream on 127.0.0.1:8080
	@exec $(BIN)/sluicegate up

.PHONY: build
build: $(STAMPS)/engine-release ## Build the engine, optimised, into .venv

##@ Develop

.PHONY: develop
develop: $(STAMPS)/engine-dev $(STAMPS)/dev ## Build the engine for tests and install every tool

.PHONY: format
format: $(STAMPS)/dev ## Format Rust and Python
	cargo fmt --all
	cargo fmt --manifest-path $(LOAD)
	$(BIN)/ruff format $(PYTHON_CODE)
	$(BIN)/ruff check --fix $(PYTHON_CODE)

.PHONY: check
check: check-python check-rust check-engine ## Format, lint, types, stubs, imports, unit tests

.PHONY: check-python
check-python: $(STAMPS)/dev
	$(BIN)/ruff format --check $(PYTHON_CODE)
	$(BIN)/ruff check $(PYTHON_CODE)
	$(BIN)/mypy $(PYTHON_CODE)
	PYTHONPATH=src $(BIN)/lint-imports --no-logo

.PHONY: check-rust
check-rust: $(STAMPS)/venv
	cargo fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) test --workspace --locked
	cargo fmt --manifest-path $(LOAD) --check
	cargo clippy --manifest-path $(LOAD) --all-targets --locked -- -D warnings
	cargo test --manifest-path $(LOAD) --locked

.PHONY: check-engine
check-engine: develop
	$(BIN)/stubtest sluicegate._engine
	$(BIN)/pytest $(wildcard tests/unit) tests/contract

.PHONY: test
test: develop ## Test the built gateway from outside: filters, conformance, integration, e2e
	$(BIN)/pytest $(TEST_FOLDERS) $(ARGS)

.PHONY: fuzz
fuzz: $(STAMPS)/tools ## Fuzz every decoder for FUZZ_SECONDS each
	tools/fuzz.sh $(FUZZ_SECONDS)

.PHONY: bench
bench: build $(STAMPS)/bench ## Compare CPU per request with nginx, HAProxy, Envoy and SCG
	tools/need.sh nginx=nginx-light haproxy=haproxy
	$(BIN)/python benchmarks/run.py $(ARGS)

##@ Documents

.PHONY: spec
spec: ## Show the state of every requirement (ARGS="--open --file 03")
	@$(PYTHON) tools/spec.py $(ARGS)

.PHONY: schema
schema: develop ## Write schema/sluicegate.schema.json and the generated pages of docs/reference/
	mkdir -p schema
	$(BIN)/sluicegate schema > schema/sluicegate.schema.json.new
	mv schema/sluicegate.schema.json.new schema/sluicegate.schema.json
	$(BIN)/python tools/reference.py

.PHONY: docs
docs: $(STAMPS)/docs ## Build the documentation into site/
	$(BIN)/mkdocs build --strict

##@ Maintain

.PHONY: broken
broken: develop ## Build with faults put in on purpose; the tests of the bug cases have to notice
	$(BIN)/python tools/broken.py $(ARGS)

.PHONY: lock
lock: $(STAMPS)/venv ## Resolve the Python dependencies again and write requirements/
	$(BIN)/pip install --quiet $(UV)
	BIN=$(BIN) tools/lock.sh $(ARGS)
	cargo update --workspace

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf $(VENV) target site dist benchmarks/load/target .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f src/sluicegate/_engine*.so

# --- set-up: each stamp says that its recipe has run on the files it depends on ---

$(STAMPS)/tools: tools/doctor.sh rust-toolchain.toml
	@PYTHON=$(PYTHON) tools/doctor.sh
	@mkdir -p $(@D) && touch $@

$(STAMPS)/venv: $(STAMPS)/tools requirements/base.txt requirements/build.txt
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/build.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/base.txt
	@touch $@

$(STAMPS)/dev $(STAMPS)/docs $(STAMPS)/bench: $(STAMPS)/%: $(STAMPS)/venv requirements/%.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/$*.txt
	@touch $@

# One extension is installed at a time: whoever installs one takes the other's stamp away. Cargo keeps
# both profiles apart in target/, so that changing between them costs a copy, not a build.
$(STAMPS)/engine-dev: $(STAMPS)/venv $(RUST_SOURCES) pyproject.toml
	$(MATURIN) develop --quiet
	@rm -f $(STAMPS)/engine-release && touch $@

$(STAMPS)/engine-release: $(STAMPS)/venv $(RUST_SOURCES) pyproject.toml
	$(MATURIN) develop --quiet --release
	@rm -f $(STAMPS)/engine-dev && touch $@
