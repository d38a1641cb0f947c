# Thin: each target is one command a person could type. Everything is installed into .venv.
SHELL := /bin/bash
PYTHON ?= python3
UV := .venv/bin/uv
RUN := .venv/bin
UV_VERSION := 0.13.8
# Built once per change of the sources, from the lock files.
SOURCES := pyproject.toml uv.lock Cargo.toml Cargo.lock $(shell find crates -name Cargo.toml -o -path '*/src/*.rs')

# One process more than there are processors: those of the group "real time" mostly wait.
PYTEST = $(RUN)/pytest --numprocesses $$(($$(nproc) + 1)) --dist loadgroup
# Properties of random cases at length: other cases than those of `make test`, and as many; MANY_CASES=512 for more.
MANY_CASES ?= 256
MANY := PROPTEST_CASES=$(MANY_CASES)$(if $(PROPTEST_RNG_SEED), PROPTEST_RNG_SEED=$(PROPTEST_RNG_SEED)1)
PROPERTIES = $(patsubst %.rs,%::,$(notdir $(shell grep -l 'proptest!' crates/sawtooth-core/tests/it/*.rs)))

.PHONY: help dev study short gallery pages guest rust-tests test test-long test-long-python test-long-rust test-all fuzz instructions records results sizes structure lint format bench guided wheel release-check docs deny deny-tool sbom mutants clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 21

# An environment's own pip takes seconds to make and would install `uv` only: that of $(PYTHON) does it, where it has one that can. Crates come meanwhile.
$(UV):
	cargo fetch --quiet --locked & fetching=$$!; \
	$(PYTHON) -m venv --without-pip .venv && \
	{ $(PYTHON) -m pip --python .venv/bin/python install --quiet --disable-pip-version-check uv==$(UV_VERSION) 2>/dev/null || \
	{ .venv/bin/python -m ensurepip >/dev/null && .venv/bin/python -m pip install --quiet uv==$(UV_VERSION); }; }; installed=$$?; \
	wait $$fetching; exit $$installed

# What runs studies, and no more. Compiling wants the processors while downloading wants the network; `uv sync` then installs what `maturin` has built.
# Of the distributions, Python compiles what a run and its report import, by importing it: all there is takes three times as long.
IMPORTED := numpy, polars, scipy.special, matplotlib.pyplot, matplotlib.backends.backend_svg, matplotlib.backends.backend_agg, fontTools.subset, jinja2, rich.progress, typer, pydantic
.venv/built: $(UV) $(SOURCES)
	@echo "building Sawtooth's core into .venv: a minute or two the first time"
	$(UV) sync --frozen --quiet --inexact --only-group build --no-install-project
	VIRTUAL_ENV=.venv $(RUN)/maturin develop --uv --quiet --locked --skip-install --profile quick >/dev/null & building=$$!; \
	$(UV) sync --frozen --quiet --inexact --no-dev --extra web --no-install-project && \
	env -u PYTHONDONTWRITEBYTECODE $(RUN)/python -c 'import $(IMPORTED)' && \
	$(RUN)/python -m compileall -q python/sawtooth; synced=$$?; \
	wait $$building && exit $$synced
	$(UV) sync --frozen --quiet --inexact --no-dev --extra web --reinstall-package sawtooth
	@touch $@

# And what tests, lints and documents it.
.venv/dev: .venv/built
	$(UV) sync --frozen --quiet --compile-bytecode
	@touch $@

dev: .venv/dev ## install and build what runs, tests, lints and documents it, into .venv

# The explorer's pages: what ships is what these make of `web/` (`tests/web/test_bundle.py`); users need no Node.
web/node_modules: web/package.json web/package-lock.json
	@if command -v npm >/dev/null; then npm --prefix web ci --silent && touch $@; else echo "there is no npm: what needs it of the tests of pages is skipped"; fi

pages: web/node_modules ## build the explorer's pages from `web/` into the package
	npm --prefix web run --silent build

# The programs that go into guests: static, and preloaded into the kernel or its emulator.
GUEST := python/sawtooth/guest
.venv/guest: .venv/dev
	RUSTFLAGS="-C target-feature=+crt-static -C strip=symbols" cargo build --quiet --profile quick --locked -p sawtooth-agent --target "$$(rustc -vV | sed -n 's/^host: //p')"
	cargo build --quiet --profile quick --locked -p sawtooth-clock -p sawtooth-turns
	mkdir -p $(GUEST)
	cp -f "$${CARGO_TARGET_DIR:-target}/$$(rustc -vV | sed -n 's/^host: //p')/quick/sawtooth-agent" $(GUEST)/
	cp -f "$${CARGO_TARGET_DIR:-target}"/quick/libsawtooth_{clock,turns}.so $(GUEST)/
	@touch $@

guest: .venv/guest ## build what runs inside guests of `--backend uml`

rust-tests: ## build the tests that are programs of their own; beside `guest`, they share nothing
	cargo test --workspace --locked --quiet --no-run

# Who has just built it does not know where the command is.
ONWARD := echo "to go on: . .venv/bin/activate, then sawtooth serve (or .venv/bin/sawtooth serve)"

study: .venv/built ## install, build, run the HighSpeed TCP study and write its report
	$(RUN)/sawtooth run hstcp --out results/hstcp
	$(RUN)/sawtooth report results/hstcp
	@$(ONWARD)

short: .venv/built ## the same study in its short form, seconds instead of a minute
	$(RUN)/sawtooth run hstcp --short
	$(RUN)/sawtooth report results/hstcp-short
	@$(ONWARD)

gallery: .venv/built ## run the eight studies of the gallery, one page and one contact sheet of their figures, a minute
	$(RUN)/sawtooth gallery

test: .venv/guest web/node_modules ## what proves correctness, Rust and Python, minutes
	cargo test --workspace --locked --quiet
	$(PYTEST)

test-long: ## the rest: kernels at length, peers, long properties, soak; Python and Rust side by side
	+$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-long-python test-long-rust

test-long-python: .venv/guest
	$(PYTEST) -m long
	$(MANY) $(PYTEST) tests/property

test-long-rust:
	$(MANY) cargo test --locked --quiet -p sawtooth-core --test it -- $(PROPERTIES)

test-all: test test-long ## every test

SECONDS ?= 3600
fuzz: .venv/dev ## random inputs of all kinds for an hour, or SECONDS=60; failures and counts go to results/fuzz, MORE=1 adds to them
	$(RUN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(MORE),--more)

instructions: .venv/dev ## count instructions per packet and hold them against bench/instructions.csv; ACCEPT=1 accepts them
	$(RUN)/python bench/instructions.py $(if $(ACCEPT),--write)

records: .venv/dev ## hashes of all records of the short forms and golden files, anew; changed ones with ENTRY=its name in the changelog
	$(RUN)/python -m tests.guards records $(foreach entry,$(ENTRY),'$(entry)')

# The order matters: pages quote records, and the map and the ledger of numbers look at pages.
results: .venv/dev ## all that is made of runs, anew, after results have changed: goldens, records with ENTRY=its name in the changelog, pages, the tutorial; ten minutes
	UPDATE_GOLDEN=1 cargo test --locked --quiet -p sawtooth-core
	+$(MAKE) --no-print-directory records $(if $(ENTRY),ENTRY='$(ENTRY)')
	$(RUN)/python docs/generate.py
	$(RUN)/python -m docs.testbed
	$(RUN)/python -m docs.worked
	$(RUN)/python -m docs.captured
	$(RUN)/python -m docs.gallery
	$(RUN)/python docs/notebook.py
	$(RUN)/python -m tests.docs.tree
	$(RUN)/python -m tests.docs.accounted

sizes: .venv/dev ## lower the rows of source files that have shrunk
	$(RUN)/python -m tests.guards sizes

structure: .venv/dev ## lower the rows of what is less beyond a limit of the crates' structure
	$(RUN)/python -m tests.guards structure

lint: .venv/dev web/node_modules ## formatting, lints, documentation of the crates, types, layers
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	cargo clippy -p sawtooth-core --lib --locked --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
	RUSTDOCFLAGS="-D warnings" cargo doc -p sawtooth-core --no-deps --locked --quiet
	$(RUN)/ruff check
	$(RUN)/ruff format --check
	npm --prefix web run --silent check
	$(RUN)/pyright
	$(RUN)/lint-imports
	$(RUN)/python -m mypy.stubtest sawtooth._core --ignore-disjoint-bases

format: .venv/dev ## rewrite the sources in the house format
	cargo fmt --all
	$(RUN)/ruff check --fix
	$(RUN)/ruff format

bench: .venv/dev ## guided where there is an llvm-profdata: speed against ns-2 and ns-3, of the linux stack, from one flow to 100,000, of a sweep; side by side in one run
	$(RUN)/python -m supply.guided --where-possible
	$(RUN)/python bench/speed.py
	$(RUN)/python bench/stacks.py
	$(RUN)/python bench/arrivals.py
	$(RUN)/python bench/reach.py
	$(RUN)/python bench/sweep.py
	$(RUN)/python bench/schedule.py

guided: .venv/dev ## build the package as a wheel has it, guided by a profile: a twentieth less work, the same records; takes minutes and an llvm-profdata
	$(RUN)/python -m supply.guided

wheel: .venv/guest ## a wheel for pip in dist, for glibc 2.17 and later: guided where there is an llvm-profdata, PLAIN=1 never
	$(UV) sync --frozen --quiet --inexact --group release
	$(RUN)/python -m supply.wheel $(if $(PLAIN),--plain)

release-check: wheel ## install the wheel where there is no compiler, and run a study, a report and, where it can be, a real kernel
	$(RUN)/python -m supply.release_check

docs: .venv/dev ## reference pages from the tables, what the tutorial and worked pages show, and all pages as a site in `site`, with a search
	$(RUN)/python docs/generate.py
	$(RUN)/python docs/notebook.py
	$(RUN)/python -m docs.worked
	$(RUN)/python -m docs.captured
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --quiet --strict
	@echo "the documentation: site/index.html, which opens from there and needs no network"

# Programs of cargo, built once and quickly: some minutes of a processor each. TOOLS may be a directory that other clones share.
TOOLS ?= .venv/tools
$(TOOLS)/cargo-%: | .venv/built
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		cargo install --quiet --locked --root $(TOOLS) $(@F)
	@touch $@
WITH_TOOLS = PATH="$(abspath $(TOOLS))/bin:$$PATH"

deny-tool: $(TOOLS)/cargo-deny@0.20.2

deny: .venv/dev deny-tool ## licences, sources and known vulnerabilities of all crates and distributions
	$(WITH_TOOLS) $(RUN)/python -m supply.deny

sbom: .venv/dev $(TOOLS)/cargo-cyclonedx@0.5.9 ## bill of materials of crates and distributions, results/sbom.cdx.json (CycloneDX)
	$(WITH_TOOLS) $(RUN)/python -m supply.sbom

mutants: .venv/dev $(TOOLS)/cargo-mutants@27.1.0 ## which small errors would the tests not see? Long; docs/validation/mutants.md
	$(WITH_TOOLS) $(RUN)/python -m tests.mutants

clean: ## remove what was built and installed, keep results
	rm -rf .venv target site
