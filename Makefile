PYTHON ?= .venv/bin/python

.PHONY: setup check test bench serve demo

setup:            ## everything a fresh machine needs, ends with an answer from the sample notes
	bash setup.sh

check:            ## style and types
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

test:             ## every test, live ones included (fetches the 1.1 GB model when absent)
	bash scripts/prepare_tests.sh
	$(PYTHON) -m pytest --cov --cov-report=term:skip-covered --cov-fail-under=90

bench:            ## the figures of docs/benchmarks.md; CORPUS=folder with jsquad/ and react-ja/
	$(PYTHON) -m bench --corpus "$(CORPUS)"

demo:             ## add the sample notes and ask three questions
	$(PYTHON) -m fumikura demo

serve:            ## the page, until Ctrl+C
	$(PYTHON) -m fumikura serve
