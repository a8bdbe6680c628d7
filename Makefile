# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

PORT ?= 8017

# no note of the documentation theme on its successor
export NO_MKDOCS_2_WARNING := 1

# compiled modules are kept: tests start hundreds of processes
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo studio test test-browser test-slow test-kill fuzz fuzz-long fuzz-studio check check-js format docs wheel bench bench-studio install clean

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[studio,dev]'
	touch $@

demo: install  ## the model in the package heals drawings it never saw; writes a page of it
	$(BIN)/python examples/demo.py

studio: install  ## the page to draw on, in your browser
	$(BIN)/gra2seq studio --port $(PORT)

test: install check  ## all tests but the slow ones
	$(BIN)/python -m pytest -n 2 -m "not slow and not browser"
	@$(MAKE) --no-print-directory test-browser

test-browser: install  ## the page in a real Chromium, where there is one
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null; \
	then $(BIN)/python -m pytest -rs -m browser tests/studio; \
	else echo "The browser tests are skipped: there is no Chromium here (apt-get install chromium)"; fi

test-slow: install  ## those that take minutes
	$(BIN)/python -m pytest -m slow

test-kill: install  ## SIGKILL, 20 times each: training, convert, pack, encode, heal; some minutes
	$(BIN)/python -m pytest -m slow tests/test_kill.py

fuzz: install  ## 2,000 mutants for every reader, under limits on memory and time
	$(BIN)/python -m tests.fuzz --count 2000

fuzz-long: install  ## 20,000 of them
	$(BIN)/python -m tests.fuzz --count 20000

fuzz-studio: install  ## 10,000 hostile requests to a running studio: schemathesis and mutants of our own
	$(BIN)/python benchmarks/studio.py --only-hostile --hostile 8000 --examples 400

check: install  ## style, types, the import rule, no duplicates, and that the documents build
	$(BIN)/ruff check src tests examples docs
	$(BIN)/ruff format --check src tests examples docs
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pylint --disable=all --enable=duplicate-code src/gra2seq
	$(BIN)/mkdocs build --strict

wheel: install  ## the package, in dist
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

docs: install  ## the site, in out/site
	$(BIN)/mkdocs build --strict
	@echo "The site is in out/site/index.html"

check-js: node_modules/.package-lock.json  ## types of the page's JavaScript; needs node
	npx --no-install tsc --project jsconfig.json

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund

format: install
	$(BIN)/ruff check --fix src tests examples docs
	$(BIN)/ruff format src tests examples docs

bench: install  ## ratios as JSON (quiet machine, please)
	$(BIN)/gra2seq bench --json

bench-studio: install  ## how fast the studio answers, and how it bears many people: JSON
	$(BIN)/python benchmarks/studio.py

clean:
	rm -rf .venv out build dist
