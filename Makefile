# make demo   show what Linkwright does (installs itself into .venv first)
# make test   everything that must hold before a change goes in
# The virtual environment is made once and again when pyproject.toml changes. Another Python: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PYTEST_FLAGS ?= -n auto --dist loadfile

.PHONY: help demo test check-slow clean

help:
	@echo "make demo        the wiper and the carpet scraper: what they are, one turn, pictures"
	@echo "make test        linters, types, layers and all tests that take seconds"
	@echo "make check-slow  the tests that take minutes"
	@echo "make clean       remove the virtual environment, caches and built files"

demo: $(VENV)/installed
	$(PY) examples/01_wiper_and_scraper.py

test: $(VENV)/installed-test
	$(PY) -m pytest $(PYTEST_FLAGS)

check-slow: $(VENV)/installed-test
	$(PY) -m pytest $(PYTEST_FLAGS) -m slow

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Linkwright needs Python 3.11 or newer. Name one, for example: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: sudo apt install python3-venv; then again."; exit 1; }
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(PY)
	@echo "Installing Linkwright and what it needs into $(VENV) (a minute, once)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-test: pyproject.toml | $(PY)
	@echo "Installing Linkwright and its test tools into $(VENV) (a few minutes, once)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ $(VENV)/installed
