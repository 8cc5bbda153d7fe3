# The two commands of the README are `make demo` and `make test`; each sets up all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools
SPARK := $(VENV)/.spark
APT := -qq -y -o Acquire::Retries=1 -o Acquire::http::Timeout=30
EXTRAS := --extra sql --extra analysis --extra sign --extra office --extra web
OURS := --no-deps --no-build-isolation --editable . --editable packages/example_plugin
LOWEST := tests/earlier tests/model tests/io tests/verify tests/methods tests/guarantees tests/cli tests/report tests/web
LOCKED := --quiet --require-hashes --requirement

# Hundreds of processes are started: what one has turned into bytecode the next one need not.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint types imports unit compiled collected browser suite alone fuzz soak shape bench bench-large bench-peers bench-web notebooks docs lock lowest licences audit release clean

help:
	@echo "make demo       install into .venv and take the whole tour on built-in data"
	@echo "make test       lint, format, types, import direction and every test"
	@echo "make browser    install chromium by apt-get, in which tests open the pages (make test does it where it may)"
	@echo "make alone      the suite with what users have installed, without pandas"
	@echo "make fuzz       every property with twenty times the examples"
	@echo "make soak       the tests that are too long for make test, then an hour of publishes, kills and web jobs"
	@echo "make shape      print the house in figures, beside what they must be"
	@echo "make bench      print speed and memory as ratios, write bench.json"
	@echo "make bench-large  the whole command on 1, 10 and 100 million rows; write build/large/large.json"
	@echo "make bench-peers  other packages on the same tables, installed into .peers; write peers.json"
	@echo "make bench-web  the web application: first page, answers, a large file, 50 at once; write build/web.json"
	@echo "make docs       build the manual, with search, into build/manual and open it"
	@echo "make notebooks  execute the example notebooks and store what they show"
	@echo "make lock       look for later versions of everything that is installed, and write locks/"
	@echo "make lowest     tests with the lowest versions that pyproject.toml allows"
	@echo "make audit      look up what is locked in the list of known vulnerabilities"
	@echo "make release    the wheel, made twice and compared, and its parts list (CycloneDX), into dist/"
	@echo "make clean      remove .venv, caches and what the demo wrote"

# Every package has its version and the hashes of its files in locks/; `make lock` looks for later ones. uv installs in a
# third of the time that pip takes.
$(READY): pyproject.toml packages/example_plugin/pyproject.toml locks/build.txt locks/undercover.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --no-compile $(LOCKED) locks/build.txt
	$(BIN)/uv pip install --python $(BIN)/python $(LOCKED) locks/undercover.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python $(OURS)
	@touch $(READY)

# What only tests and checks need; undercover itself stays as it is, for kernels are being compiled meanwhile.
$(TOOLS): $(READY) locks/dev.txt
	$(BIN)/uv pip install --python $(BIN)/python $(LOCKED) locks/dev.txt
	-$(BIN)/python -m compileall -q -j 0 -x '/(tests|pip|mypyc?|debugpy|jedi|setuptools|lexers)/' $(VENV)/lib
	@touch $(TOOLS)

# Half a gigabyte that only the tests of the Spark engine need: Spark, and a Java for machines that have none.
$(SPARK): $(TOOLS) locks/spark.txt
	$(BIN)/uv pip install --python $(BIN)/python $(LOCKED) locks/spark.txt
	@touch $(SPARK)

demo: $(READY)
	$(BIN)/undercover demo --force

# Kernels are compiled while tools are fetched; types and imports are looked at with what the tests leave of the machine.
test: $(READY)
	$(MAKE) --jobs 5 lint compiled collected browser $(SPARK)
	$(MAKE) --jobs 3 types imports suite

lint: $(TOOLS)
	$(BIN)/ruff check src tests benchmarks examples packages docs/conf.py docs/making
	$(BIN)/ruff format --check src tests benchmarks examples packages docs/conf.py docs/making

types: $(TOOLS)
	nice $(BIN)/mypy --package undercover --package example_plugin

imports: $(TOOLS)
	nice $(BIN)/lint-imports

unit: $(READY)
	$(MAKE) --jobs 4 compiled collected browser $(SPARK)
	$(MAKE) suite

# Every kernel once, on every core; otherwise all workers of the suite compile the same ones at the same time.
compiled: $(READY)
	$(BIN)/python tests/compile_ahead.py

# Assertions are rewritten and stored once; otherwise every worker of the suite begins with that. What cannot be
# collected is told by the suite.
collected: $(SPARK)
	-@nice $(BIN)/python -m pytest -q --collect-only >/dev/null

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

# Three workers on two cores, since many tests wait for a browser or a process. Each begins with its share of the
# files, so that what the tests of a file share is made once. Threads of small matrix products would wait for each other.
suite: $(TOOLS)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 3 --dist worksteal

# The suite with what users have and the tools of the tests, and nothing else that undercover could use by mistake: pandas
# comes with Spark and with tests that hand over its frames, which are left out here.
alone: $(TOOLS)
	$(PYTHON) -m venv .alone
	$(BIN)/uv pip install --python .alone/bin/python $(LOCKED) locks/build.txt --requirement locks/undercover.txt \
		--requirement locks/dev.txt
	$(BIN)/uv pip uninstall --quiet --python .alone/bin/python pandas openpyxl et-xmlfile
	$(BIN)/uv pip install --quiet --python .alone/bin/python $(OURS)
	OPENBLAS_NUM_THREADS=1 .alone/bin/python -m pytest -q -n 3 --dist worksteal

# Properties are the tests that draw examples; hypothesis marks them. Then every door for a minute by atheris, which
# sees what a file reaches; where it cannot be installed, that is said.
fuzz: $(TOOLS)
	UNDERCOVER_TEST_EFFORT=20 $(BIN)/python -m pytest -q -n 2 --dist worksteal -m hypothesis tests
	@if $(BIN)/python -m pip install --quiet atheris || $(BIN)/uv pip install --quiet --python $(BIN)/python atheris; then \
		for name in $$($(BIN)/python tests/fuzz/guided.py); do \
			$(BIN)/python tests/fuzz/guided.py $$name -max_total_time=60 -timeout=20 -rss_limit_mb=2048 -max_len=900000 \
				-verbosity=0 || exit 1; \
		done; \
	else echo "atheris cannot be installed here: nothing was searched by coverage."; fi

# UNDERCOVER_SOAK_MINUTES says how long it goes on after the tests.
soak: $(TOOLS)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m soak tests
	$(BIN)/python -m tests.soak.soaking

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

# The newest versions that pyproject.toml allows, for every Python and system, each with the hashes of its files.
LOCK := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
	--custom-compile-command "make lock"
lock: $(READY)
	$(LOCK) --group build --output-file locks/build.txt
	$(LOCK) $(EXTRAS) pyproject.toml --output-file locks/undercover.txt
	$(LOCK) --constraint locks/undercover.txt --group dev --output-file locks/dev.txt
	$(LOCK) --constraint locks/undercover.txt --constraint locks/dev.txt --group spark --output-file locks/spark.txt

# Oldest packages with today's tools; what these have deprecated since is none of ours.
lowest: $(READY)
	$(PYTHON) -m venv .lowest
	$(BIN)/uv pip compile --quiet --resolution lowest-direct --python .lowest/bin/python $(EXTRAS) pyproject.toml \
		--no-annotate --output-file .lowest/lowest.txt
	$(BIN)/uv pip install --python .lowest/bin/python $(LOCKED) locks/build.txt --requirement locks/dev.txt
	$(BIN)/uv pip install --quiet --python .lowest/bin/python --no-deps --requirement .lowest/lowest.txt
	$(BIN)/uv pip install --quiet --python .lowest/bin/python $(OURS)
	.lowest/bin/python -m pytest -q -n 2 -W default $(LOWEST)

licences: $(TOOLS)
	$(BIN)/python tests/supply/licences.py

# What cannot be looked up fails, too: nobody should take silence for safety.
audit: $(READY)
	$(BIN)/uv tool run pip-audit --strict --disable-pip --requirement locks/undercover.txt

# The same commit gives the same wheel, byte for byte; its parts list is that of an environment with nothing else in it.
release: $(READY)
	rm -rf dist build/release
	for place in dist build/release/again; do \
		SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/hatchling build -t wheel -d $$place; done
	cmp dist/*.whl build/release/again/*.whl
	$(PYTHON) -m venv --without-pip build/release/clean
	$(BIN)/uv pip install --python build/release/clean/bin/python $(LOCKED) locks/undercover.txt
	$(BIN)/uv pip install --quiet --python build/release/clean/bin/python --no-deps dist/*.whl
	build/release/clean/bin/undercover demo --force --out build/release/demo >/dev/null
	$(BIN)/uv tool run --from cyclonedx-bom cyclonedx-py environment build/release/clean --pyproject pyproject.toml \
		--output-reproducible --output-file dist/undercover.cdx.json
	cd dist && sha256sum * > SHA256SUMS

clean:
	rm -rf $(VENV) .lowest dist .mypy_cache .pytest_cache .ruff_cache .hypothesis undercover-demo bench.json peers.json .peers build
	find src tests benchmarks packages -name __pycache__ -type d -prune -exec rm -rf {} +
