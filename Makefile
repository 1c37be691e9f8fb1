# Two commands set everything up on a fresh machine: `make rehearse` and `make test`.
# Needed before: Python 3.11+, Node.js 20+ with npm, make, and on Linux user namespaces for the sealed level.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: rehearse test lint bench chaos lock clean

rehearse: .venv/ready
	$(BIN)/doit register --backend rehearsal
	$(BIN)/doit run_eval
	$(BIN)/doit report

test: .venv/ready lint
	$(BIN)/doit toolchain
	$(BIN)/python -m pytest -n 3

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready
	$(BIN)/doit toolchain
	$(BIN)/python -m benchmarks

# Kills the evaluator at every named point and at a hundred random ones, then plays every fault.
chaos: .venv/ready
	$(BIN)/doit toolchain
	$(BIN)/python -m benchmarks.chaos

# The path file lets experiments in other folders (`python -m eval_tasks init DIR`) import the package from here.
.venv/ready: requirements.lock
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -c 'import sys, sysconfig; open(sysconfig.get_path("purelib") + "/context-eval.pth", "w").write(sys.argv[1])' '$(CURDIR)'
	touch $@

# Resolves the lock file anew; the result names no registry.
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet pip-tools
	.venv-lock/bin/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-trusted-host --no-emit-options \
		--strip-extras --allow-unsafe --extra test --output-file requirements.lock pyproject.toml
	rm -rf .venv-lock

clean:
	rm -rf .venv .cache toolchain/node_modules
