# The doors of the project. `make` alone prints them.
# PYTHON=python3.12 chooses the interpreter, VENV=.venv the environment, CMAKE_ARGS=... how llama.cpp is compiled.

PYTHON ?= python3
VENV ?= .venv
export PYTHON VENV

SETUP := sh packaging/setup/setup.sh
CHECK := sh packaging/setup/check.sh

.DEFAULT_GOAL := help
.PHONY: help run test test-long lint format bench-real screenshots translations bundle clean clean-all

# bench-real, screenshots: folders and options come with the command, as in make bench-real MODELS=DIR PEER=PATH MINUTES=30.
PAIR_TARGET := qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
PAIR_DRAFT := qwen2.5-coder-0.5b-instruct-q4_k_m.gguf
ALONE := smollm2-135m-instruct-q4_1.gguf
# A home of its own keeps earlier measurements from having an influence.
REAL = PACELINE_HOME=build/bench-real/home $(VENV)/bin/python -m app bench --prompts assets/workloads/real \
	--per-category 10 --repeat 3 --temperature 0,0.8 --max-tokens 128 --ctx 4096 \
	$(if $(PEER),--peer "$(PEER)") $(if $(MINUTES),--max-minutes $(MINUTES))

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name text; do \
		printf '  make %-14s %s\n' "$$name" "$$text"; done

run: ## set up what is missing, then open the window (in the terminal where there is no display)
	@PACELINE_FIRST_MODEL="$${PACELINE_FIRST_MODEL:-ask}" $(SETUP) run
	@sh packaging/setup/start.sh

test: ## set up what is missing, then lint, types and the whole suite, without a display
	@$(SETUP) test
	@$(CHECK) lint format types tests

test-long: ## the suite in its long form, before a release: thousands of documents, kills, damaged files (hours)
	@$(SETUP) test
	@PACELINE_LONG=1 PYTEST_TIMEOUT=7200 $(CHECK) tests

lint: ## lint, format and types only
	@$(SETUP) test
	@$(CHECK) lint format types

format: ## format the code and apply the safe fixes
	@$(SETUP) test
	@$(VENV)/bin/ruff check --fix --quiet . ; $(VENV)/bin/ruff format .

bench-real: ## auto on real models of MODELS=DIR, beside the llama-server PEER=PATH
	@test -d "$(MODELS)" || { echo "Say where the models are: make bench-real MODELS=DIR" >&2; exit 2; }
	@$(SETUP) run
	@mkdir -p build/bench-real/home
	@$(REAL) --model "$(MODELS)/$(PAIR_TARGET)" --draft "$(MODELS)/$(PAIR_DRAFT)" \
		--json build/bench-real/pair.json > build/bench-real/pair.md
	@$(REAL) --model "$(MODELS)/$(ALONE)" \
		--json build/bench-real/alone.json > build/bench-real/alone.md

screenshots: ## draw the pictures of the README, with the models of MODELS=DIR
	@test -d "$(MODELS)" || { echo "Say where the models are: make screenshots MODELS=DIR" >&2; exit 2; }
	@$(SETUP) run screenshots
	@QT_QPA_PLATFORM=offscreen $(VENV)/bin/python packaging/screenshots/window.py \
		--target "$(MODELS)/$(PAIR_TARGET)" --draft "$(MODELS)/$(PAIR_DRAFT)"

translations: ## bring the German and English catalogues up to the code, and compile them
	@$(SETUP) run
	@$(VENV)/bin/python packaging/translations/catalogues.py update
	@$(VENV)/bin/python packaging/translations/catalogues.py release

bundle: ## build what people download, under dist/: a folder, a tarball, a Debian package (compiles for 20 minutes)
	@$(PYTHON) packaging/bundle/build.py

clean: ## remove caches and build outputs
	@rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find app ui engine tests packaging -type d -name __pycache__ -prune -exec rm -rf {} +

clean-all: clean ## also remove the environment; pip keeps llama.cpp where it was compiled without options
	@rm -rf $(VENV)
