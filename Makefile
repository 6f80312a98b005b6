# `make` alone lists the targets. Everything runs in .venv, which the first target that needs it makes from the lock.

PYTHON ?= python3
BIN := .venv/bin
VENV := .venv/.installed
STAGE ?= dev
TESTS ?=

.DEFAULT_GOAL := help
MINUTES ?= 10
RATE ?= 0
RANDOM := tests/core tests/formats tests/video/test_plans.py tests/workflows
BROWSER := tests/console/browser tests/exactness
# a file of tests runs in one process, which starts sooner than workers do; a share of the night runs in its order
IN_ORDER := --dist loadfile --no-loadscope-reorder
WORKERS := $(if $(findstring .py,$(TESTS)),-n 0,-n auto $(if $(LIMIT),$(IN_ORDER),--dist worksteal))
CHECKOV := .venv-checkov/bin/checkov
export SCALE PROJECTS
# what failed runs once more, alone: a test that fails twice fails the run, one that a busy machine held up does not
AGAIN := $(BIN)/python -m pytest -n 0 --last-failed --last-failed-no-failures none
# what of TESTS, or of all tests, drives a browser: such tests run one after another
IN_BROWSER := $(if $(TESTS),$(filter tests tests/ $(BROWSER:%=%%) tests/console tests/console/,$(TESTS:./%=%)),$(BROWSER))
# pytest keeps the tests as it compiled them; each worker would spend 15 s on that anew
test test-slow nightly: export PYTHONDONTWRITEBYTECODE :=
.PHONY: help run demo test test-slow check check-console bench-console pictures rules format bench soak spark nightly reliability exactness audit docs client package rehearse deploy destroy lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV) ## the whole service on this machine; PORT=8000, FRESH=1 starts empty
	@$(BIN)/python -m infra.local

demo: $(VENV) ## fill the running stack with a small project; LIMN_HOME says where its .limn is
	@$(BIN)/python -m infra.demo

# the tests with some marks; pytest says 5 when it finds none
define run_tests
	@$(BIN)/python -m pytest $(WORKERS) -m "$(1)" $(TESTS) || test $$? -eq 5 || $(AGAIN) -m "$(1)" $(TESTS)
endef

test: $(VENV) ## the tests; TESTS=tests/query for some of them
	$(call run_tests,not slow and not nightly)

test-slow: $(VENV) ## the tests that take seconds each: whole programs, kills at every step, races, real videos, browser
	$(call run_tests,slow and not nightly and not browser)
	$(if $(IN_BROWSER),@$(BIN)/python -m pytest -n 0 -rs -m "slow and browser and not nightly" $(IN_BROWSER) || test $$? -eq 5 \
		|| $(AGAIN) -m "slow and browser and not nightly" $(IN_BROWSER))

check: $(VENV) ## lint, format, types, layers, templates and their security rules, known vulnerabilities
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m infra.stack.app_template build/check/app.json
	@$(BIN)/cfn-lint infra/stateful.yaml infra/batch.yaml infra/analytics.yaml build/check/app.json
	@$(BIN)/python -m infra.security cfripper
	@$(BIN)/python -m infra.audit

check-console: ## layout and types of the console's modules; needs Node, and a network the first time
	@npx --yes @biomejs/biome@2.6.8 format
	@npx --yes --package typescript@5 tsc --project chalicelib/console/jsconfig.json

bench-console: $(VENV) ## how fast the console is, by the Chromium of this machine; about five minutes
	@$(BIN)/python -m tests.console.bench

pictures: $(VENV) ## the pictures of docs/console.md, by the Chromium of this machine
	@$(BIN)/python -m tests.console.pictures

rules: $(VENV) $(CHECKOV) ## the security rules of checkov too, in an environment of its own; the first time needs a network
	@$(BIN)/python -m infra.security checkov $(CHECKOV)

format: $(VENV) ## write code as check wants it
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV) ## how fast and how dear the main operations are; SCALE=1000,10000 asks views of so many thousand rows instead
	@$(BIN)/python -m tests.bench$(if $(SCALE),.thousands)

soak: $(VENV) ## mixed load on the local stack for MINUTES at RATE requests a second (0: all it can), then a burst
	@MINUTES=$(MINUTES) RATE=$(RATE) $(BIN)/python -m tests.faults soak

reliability: $(VENV) ## the faults of the night, and docs/reliability.md with their figures; `make soak` adds its own
	@test -d build/fuzz/atheris || $(BIN)/python -m pip install --quiet --no-deps --target build/fuzz atheris==3.0.0 || true
	@$(BIN)/python -m tests.faults

exactness: $(VENV) ## every kind of clip by every path that hands frames out, and docs/frame-exactness.md
	@$(BIN)/python -m tests.exactness

audit: $(VENV) ## known vulnerabilities of what is locked, by osv.dev; check asks too, but passes without a network
	@$(BIN)/python -m infra.audit --strict

spark: build/spark/bin/python ## a Python of its own for the nightly test of docs/analytics.md; it needs Java

build/spark/bin/python:
	@$(PYTHON) -m venv build/spark.new && build/spark.new/bin/pip install --quiet "pyspark>=4.1" || (rm -rf build/spark.new; exit 1)
	@rm -rf build/spark && mv build/spark.new build/spark

nightly: $(VENV) ## tests too slow for every commit; after `make spark`, that of Spark, too; LIMIT=10 runs what fits into so many minutes
	@$(BIN)/python -m pytest $(WORKERS) $(if $(LIMIT),--minutes=$(LIMIT),--hypothesis-profile=random) \
		-m "nightly and not browser" $(TESTS) || test $$? -eq 5 \
		$(if $(LIMIT),|| $(AGAIN) --minutes=5 -m "nightly and not browser" $(TESTS))
	$(if $(LIMIT),,@$(BIN)/python -m pytest $(WORKERS) --hypothesis-profile=night -m "not nightly" $(or $(TESTS),$(RANDOM)) || test $$? -eq 5)
	$(if $(IN_BROWSER),@$(BIN)/python -m pytest -n 0 -rs $(if $(LIMIT),--minutes=4) -m "nightly and browser" $(IN_BROWSER) \
		|| test $$? -eq 5 $(if $(LIMIT),|| $(AGAIN) --minutes=4 -m "nightly and browser" $(IN_BROWSER)))

docs: $(VENV) ## docs/reference/ from the declarations, docs/rules.md from the tests
	@$(BIN)/python -m tests.contract.write_examples >/dev/null
	@$(BIN)/python -m infra.write_docs
	@$(BIN)/python -m tests.rules.rulebook

client: $(VENV) ## the wheel of the client (infra/client) into build/client
	@$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/client .
	@ls build/client

package: $(VENV) ## zips and template of a deployment into build/; STAGE=dev, ARCHITECTURE=x86_64 or arm64
	@$(BIN)/python -m infra.package --stage $(STAGE) $(if $(ARCHITECTURE),--architecture $(ARCHITECTURE))

rehearse: $(VENV) ## deploy the zips to a stock moto_server, use every function, destroy, deploy again; docs/deployment.md
	@$(BIN)/python -m tests.rehearsal

deploy: $(VENV) ## check the account, build, send it to AWS; STAGE=dev, PARAMETERS="EmailSender=limn@example.org AlarmEmail=…"
	@$(BIN)/python -m infra.deploy check $(STAGE) $(PARAMETERS)
	@$(MAKE) --no-print-directory package
	@$(BIN)/python -m infra.deploy up $(STAGE) $(PARAMETERS)

destroy: $(VENV) ## delete a stage after asking; STAGE=dev, what it keeps stays unless DATA=delete
	@$(BIN)/python -m infra.deploy down $(STAGE) $(if $(filter delete,$(DATA)),--data)

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes $(if $(UPGRADE),--upgrade)

lock: $(VENV) ## compile requirements*.txt from pyproject.toml; UPGRADE=1 takes the newest of everything
	@$(BIN)/python -m pip install --quiet uv
	@$(LOCK) --group pyproject.toml:service -o requirements.txt
	@$(LOCK) --group pyproject.toml:dev -c requirements.txt -o requirements-dev.txt

# it wants versions of its own of what the lock has too
$(CHECKOV):
	@$(PYTHON) -m venv .venv-checkov
	@.venv-checkov/bin/pip install --quiet --disable-pip-version-check checkov==3.3.30

clean: ## remove what was built; .venv and .limn, the local data, stay
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .chalice/deployments
	@find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

$(VENV): requirements-dev.txt
	@echo "installing requirements-dev.txt into .venv (once; a minute or two)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Limn needs Python 3.11 or newer: make PYTHON=…")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python infra/install.py requirements-dev.txt
	@touch $@
