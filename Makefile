# Two commands do all the set-up: `make demo` and `make test`.
# Each builds .venv first when it is missing or older than what it is made from.
PYTHON ?= python3
VENV := .venv
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
# One thread per model: parallelism is over agents and seeds, never inside them.
export OMP_NUM_THREADS ?= 1
# Where Python may not write bytecode, every command compiles its libraries anew: seconds each.
unexport PYTHONDONTWRITEBYTECODE
# Data sets are never committed; the tests that need them look here and say so when they skip.
export TRUEPOOL_DATA ?= $(abspath ../shared/data)

.PHONY: demo develop test smoke docs notebooks reference coverage test-peers test-slow check corpus bench faults fuzz soak protocol race scenarios mutation-map mutate constraints

demo: $(VENV)/.core
	$(VENV)/bin/truepool demo

# What scripts/check and scripts/test need, without running them.
develop: $(VENV)/.ok

# All four distributions; `make test PACKAGE=serve` tests one (truepool, serve, jury or lab).
test: $(VENV)/.ok
	scripts/check
	scripts/test $(if $(PACKAGE),--package $(PACKAGE))

# Twice the time of the tests alone; fails below the floor in pyproject.toml.
coverage: $(VENV)/.ok
	TRUEPOOL_COVERAGE=1 scripts/test

# Minutes each: agents trained on large real data, 100 draws of a jury, the paper at reduced size.
test-slow: $(VENV)/.ok
	scripts/test -m slow -rP

# The real MLServer, MLflow and Triton client, each installed under .peers the first time.
test-peers: $(VENV)/.ok
	scripts/test -n0 -m peers packages/truepool-serve/tests/peers

check: $(VENV)/.ok
	scripts/check

# Audits of the whole corpus, and what they answer otherwise than recorded; ten minutes.
# One kind of table: make corpus CORPUS='--kind copy'
corpus: $(VENV)/.ok
	PYTHONPATH=packages/truepool/tests $(VENV)/bin/python -W ignore -m audit_corpus $(CORPUS)

bench: $(VENV)/.ok
	$(VENV)/bin/python -m pytest benchmarks -p no:cacheprovider -o addopts='' --benchmark-columns=min,median,rounds

# Hostile input for as long as told: make fuzz MINUTES=20
MINUTES ?= 3
fuzz: $(VENV)/.ok
	$(VENV)/bin/python scripts/fuzz $(MINUTES)

# The coordinator is killed 200 times under load, the power cut 500 times, PostgreSQL restarted.
faults: $(VENV)/.ok
	TRUEPOOL_KILLS=200 TRUEPOOL_CUTS=500 scripts/test -n0 -s packages/truepool-serve/tests/server/test_faults.py packages/truepool-serve/tests/server/test_postgres.py \
		-k 'survives or would_be_found or two_coordinators or restarted'

# A coordinator under light traffic for an hour, with drift, refits and corrections: memory and latency stay.
soak: $(VENV)/.ok
	$(VENV)/bin/python scripts/soak 60

# Twenty draws of every scenario with known truth, audited: only what is missing in build/scenarios.jsonl.
scenarios: $(VENV)/.ok
	PYTHONPATH=packages/truepool/tests $(VENV)/bin/python -W ignore -m scenarios $(SCENARIOS)

# The lines that decide, mutated: which tests cover which line, then how many mutants these kill.
MUTANTS ?= 300
mutation-map: $(VENV)/.ok
	$(VENV)/bin/python scripts/mutate --map
mutate: $(VENV)/.ok
	$(VENV)/bin/python scripts/mutate --sample $(MUTANTS) $(if $(PACKAGE),--package $(PACKAGE))

# auto against other libraries: only what is missing in benchmarks/race/results.jsonl is measured.
race: $(VENV)/.ok
	PYTHONPATH=benchmarks $(VENV)/bin/python -m race

protocol: $(VENV)/.ok
	scripts/protocol

# The site, in build/site: built without warnings, its links checked, looked at in a browser.
docs: $(VENV)/.docs
	$(VENV)/bin/python -m sphinx -q -W --keep-going -E -b html docs build/site
	$(VENV)/bin/python scripts/check_site.py build/site
	scripts/test -n0 -q -m site tests/test_built_site.py
	@echo "The site is in build/site: open build/site/index.html."
	@echo "python -m http.server -d build/site also shows excerpts in the search."

# Wheel and sdist in empty environments without extras, with the oldest and newest numpy and scikit-learn.
smoke: $(VENV)/.ok
	scripts/smoke

# docs/reference, from the parsers and their keys, OpenAPI, the .proto file and the import contract.
reference: $(VENV)/.ok
	PYTHONPATH=scripts $(VENV)/bin/python -m reference

# The notebooks of the documentation, executed; needs the data sets.
notebooks: $(VENV)/.docs
	$(VENV)/bin/python scripts/run_notebooks.py

constraints: $(VENV)/.ok
	VIRTUAL_ENV=$(VENV) $(VENV)/bin/uv pip compile -q -U --universal --no-header --no-annotate --all-extras --group dev --group docs \
		$(addprefix --no-emit-package ,truepool truepool-serve truepool-jury truepool-lab) packages/*/pyproject.toml -o constraints.txt

# The library alone, for the demo; all four with what tests need; what the site needs.
INSTALL = VIRTUAL_ENV=$(VENV) $(VENV)/bin/uv pip install -q -c constraints.txt
PROJECTS = pyproject.toml $(wildcard packages/*/pyproject.toml)

$(VENV)/.core: packages/truepool/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install -q --disable-pip-version-check uv
	$(INSTALL) -e packages/truepool
	touch $@

$(VENV)/.ok: $(VENV)/.core $(PROJECTS)
	$(INSTALL) --group dev -e 'packages/truepool[all]' -e packages/truepool-serve -e packages/truepool-jury -e packages/truepool-lab
	touch $@

# 200 MB that only the tests of many machines need.
$(VENV)/.ray: $(VENV)/.ok
	$(INSTALL) -e 'packages/truepool[ray]'
	touch $@

$(VENV)/.docs: $(VENV)/.ok
	$(INSTALL) --group docs
	touch $@
