# The two commands of the README are `make demo` and `make test`; each sets up all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools
SPARK := $(VENV)/.spark
APT := -qq -y -o Acquire::Retries=1 -o Acquire::http::Timeout=30
WANTED := --editable ".[sql,analysis,sign,office,web]" --editable packages/example_plugin

# Hundreds of processes are started: what one has turned into bytecode the next one need not.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint types imports unit compiled browser suite fuzz soak shape bench bench-large bench-peers bench-web notebooks docs clean

help:
	@echo "make demo       install into .venv and take the whole tour on built-in data"
	@echo "make test       lint, format, types, import direction and every test"
	@echo "make browser    install chromium by apt-get, in which tests open the pages (make test does it where it may)"
	@echo "make fuzz       every property with twenty times the examples"
	@echo "make soak       the tests that are too long for make test"
	@echo "make shape      print the house in figures, beside what they must be"
	@echo "make bench      print speed and memory as ratios, write bench.json"
	@echo "make bench-large  the whole command on 1, 10 and 100 million rows; write build/large/large.json"
	@echo "make bench-peers  other packages on the same tables, installed into .peers; write peers.json"
	@echo "make bench-web  the web application: first page, answers, a large file, 50 at once; write build/web.json"
	@echo "make docs       build the manual, with search, into build/manual and open it"
	@echo "make notebooks  execute the example notebooks and store what they show"
	@echo "make clean      remove .venv, caches and what the demo wrote"

# uv installs in a third of the time that pip takes, which does the same where uv is not to be had. pip would also turn
# every module into bytecode one by one; nobody here imports other people's tests and tools.
$(READY): pyproject.toml packages/example_plugin/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	{ $(BIN)/python -m pip install --quiet uv && $(BIN)/uv pip install --quiet --python $(BIN)/python $(WANTED); } || \
	{ $(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" && \
	  $(BIN)/python -m pip install --quiet --no-compile $(WANTED); }
	@touch $(READY)

# What only tests and checks need; undercover itself stays as it is, for kernels are being compiled meanwhile.
$(TOOLS): $(READY)
	{ $(BIN)/uv pip install --quiet --python $(BIN)/python --group dev || \
	  $(BIN)/python -m pip install --quiet --no-compile --group dev; }
	-$(BIN)/python -m compileall -q -j 0 -x '/(tests|pip|mypyc?|debugpy|jedi|setuptools|lexers)/' $(VENV)/lib
	@touch $(TOOLS)

# Half a gigabyte that only the tests of the Spark engine need: Spark, and a Java for machines that have none.
$(SPARK): $(TOOLS)
	{ $(BIN)/uv pip install --quiet --python $(BIN)/python --group spark || \
	  $(BIN)/python -m pip install --quiet --no-compile --group spark; }
	@touch $(SPARK)

demo: $(READY)
	$(BIN)/undercover demo --force

# Kernels are compiled while tools are fetched; types and imports are looked at with what the tests leave of the machine.
test: $(READY)
	$(MAKE) --jobs 4 lint compiled browser $(SPARK)
	$(MAKE) --jobs 3 types imports suite

lint: $(TOOLS)
	$(BIN)/ruff check src tests benchmarks examples packages docs/conf.py docs/making
	$(BIN)/ruff format --check src tests benchmarks examples packages docs/conf.py docs/making

types: $(TOOLS)
	nice $(BIN)/mypy --package undercover --package example_plugin

imports: $(TOOLS)
	nice $(BIN)/lint-imports

unit: $(READY)
	$(MAKE) --jobs 3 compiled browser $(SPARK)
	$(MAKE) suite

# Every kernel once, on every core; otherwise both workers of the suite compile the same ones at the same time.
compiled: $(READY)
	$(BIN)/python tests/compile_ahead.py

# Tests open the pages in a browser, with letters of their own, and are skipped where there is none.
browser:
	@for name in chromium chromium-browser google-chrome; do if command -v $$name >/dev/null; then exit 0; fi; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing chromium, in which tests open the pages."; \
		apt-get $(APT) update >/dev/null; \
		DEBIAN_FRONTEND=noninteractive apt-get $(APT) --no-install-recommends install chromium fonts-dejavu-core \
			>/dev/null && exit 0; \
	fi; \
	echo "No browser: tests that open pages are skipped. To have them run, as root: apt-get install chromium fonts-dejavu-core"

# A worker begins with its half of the files, so that what the tests of a file share is made once.
suite: $(TOOLS)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

# Properties are the tests that draw examples; hypothesis marks them.
fuzz: $(TOOLS)
	UNDERCOVER_TEST_EFFORT=20 $(BIN)/python -m pytest -q -n 2 --dist worksteal -m hypothesis tests

soak: $(TOOLS)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m soak tests

shape: $(TOOLS)
	$(BIN)/python tests/shape/measure.py

bench: $(TOOLS)
	$(BIN)/python -m benchmarks.run --large

# Up to 16 GB of memory and some 10 GB of disk; an hour.
bench-large: $(TOOLS)
	$(BIN)/python -m benchmarks.large

# Needs a network: each package gets an environment of its own. Half an hour; every run has a limit.
bench-peers: $(TOOLS)
	$(BIN)/python -m benchmarks.peers.run

bench-web: $(TOOLS)
	$(BIN)/python -m benchmarks.web

notebooks: $(TOOLS)
	$(BIN)/python examples/notebooks/execute.py

# A page for the browser of this machine, if there is one; nothing is fetched from anywhere.
docs: $(TOOLS)
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -c docs -d build/manual-pages . build/manual
	@echo "The manual begins with build/manual/index.html"
	-@$(BIN)/python -m webbrowser "file://$(CURDIR)/build/manual/index.html"

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis undercover-demo bench.json peers.json .peers build
	find src tests benchmarks packages -name __pycache__ -type d -prune -exec rm -rf {} +
