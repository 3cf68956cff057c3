# The short commands. Each brings what it needs first (scripts/bootstrap).
#
#   make run       build, then the main job: einkorn run rms_norm on the best device here
#   make test      build, then every test this machine can run
#   make build     build only: build/einkorn, and the library of the Python package
#   make lint      formatting and static analysis
#   make sanitize  the tests under address, undefined behaviour and thread sanitizers
#   make format    rewrite the sources in the agreed format
#   make clean     remove build/ (.venv and .deps stay)
#
# ARGS is handed to the main job: make run ARGS="rows=4096 cols=8192 dtype=bf16"

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

bin := $(CURDIR)/.venv/bin
cmake := $(bin)/cmake
python := $(bin)/python
# Run-time compilers are looked for in the active Python environment, too.
export VIRTUAL_ENV := $(CURDIR)/.venv
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: run test build lint sanitize format clean help bootstrap configure

help:
	@sed -n '/^#   make/s/^#   //p' Makefile

bootstrap:
	@scripts/bootstrap

configure: bootstrap
	@$(cmake) --preset release --log-level=WARNING

build: configure
	@$(cmake) --build build --target einkorn_cli einkorn_python

run: build
	@build/einkorn run rms_norm $(ARGS)

test: configure
	@$(cmake) --build build --target einkorn_cli einkorn_tests
	@$(python) scripts/run_tests.py build

lint: configure
	@$(python) scripts/lint_tree.py
	@$(python) scripts/check_sources.py

sanitize: bootstrap
	@scripts/sanitize

format: bootstrap
	@$(python) scripts/check_sources.py --fix

clean:
	@rm -rf build
