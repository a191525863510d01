"""Synthesizing a deployment inside the test process, and reading what came out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks

from hyperpod_cdk import Config
from hyperpod_cdk.helm.chart import read_hyperpod_chart
from hyperpod_stacks.deployment import add_stacks

_CDK_JSON = Path(__file__).resolve().parents[2] / "cdk.json"
# Neither the provisioner's package nor copies of assets are needed to read a template.
FAST: dict[str, object] = {"aws:cdk:bundling-stacks": [], "aws:cdk:disable-asset-staging": True}


@dataclass(frozen=True, slots=True)
class Assembly:
    """A directory that `app.synth()` wrote."""

    directory: Path

    def texts(self) -> dict[str, str]:
        """Return the template of each stack, as written."""
        suffix = ".template.json"
        return {
            path.name.removesuffix(suffix): path.read_text("utf-8")
            for path in sorted(self.directory.glob(f"*{suffix}"))
        }

    def templates(self) -> dict[str, dict[str, Any]]:
        """Return the template of each stack."""
        return {name: json.loads(text) for name, text in self.texts().items()}

    def nag_findings(self) -> list[tuple[str, str]]:
        """Return the rule and the construct of each open finding of cdk-nag."""
        report = json.loads((self.directory / "validation-report.json").read_text("utf-8"))
        return [
            (violation["ruleName"], construct["constructPath"])
            for plugin in report["pluginReports"]
            for violation in plugin["violations"]
            for construct in violation["violatingConstructs"]
            # The configuration's warnings are in the report too; they have tests of their own.
            if not violation["ruleName"].startswith("Annotation::")
        ]

    def artifact(self, name: str) -> dict[str, Any]:
        """Return what the deployment tool is told of a stack."""
        manifest = json.loads((self.directory / "manifest.json").read_text("utf-8"))
        artifact: dict[str, Any] = manifest["artifacts"][name]
        return artifact


def new_app(directory: Path, *, validate: bool = False, assets: bool = False) -> cdk.App:
    """Return an app with the project's feature flags that writes into `directory`.

    Args:
        directory: Where to.
        validate: Whether CDK validates the templates, which takes more than half of a synthesis,
            and seconds the first time. Default: no; tests/nag does it for each configuration.
        assets: Whether assets are made too, which a deployment needs.
    """
    context = json.loads(_CDK_JSON.read_text("utf-8"))["context"]
    return cdk.App(
        context=context if assets else {**context, **FAST},
        outdir=str(directory),
        builtin_cloud_formation_validation=validate,
    )


def synthesized(
    config: Config, *, chart: Path, directory: Path, nag: bool = False, validate: bool = False
) -> Assembly:
    """Synthesize the stacks of a configuration into `directory`.

    Args:
        config: The configuration.
        chart: Chart of the HyperPod dependencies.
        directory: Where to write.
        nag: Whether cdk-nag's AwsSolutions and NIST 800-53 rules are run too.
        validate: Whether CDK validates the templates, as in `new_app`.
    """
    app = new_app(directory, validate=validate)
    add_stacks(app, config=config, chart=read_hyperpod_chart(chart))
    if nag:
        cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app), NIST80053R5Checks(app))
    try:
        app.synth()
    except RuntimeError as error:
        # The templates and the report are written all the same.
        if not nag or "ValidationFailed" not in str(error):
            raise
    return Assembly(directory)


def merged(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return `document` with `changes`, which replace lists and values, never whole mappings."""
    result = dict(document)
    for key, value in changes.items():
        current = result.get(key)
        both = isinstance(current, Mapping) and isinstance(value, Mapping)
        result[key] = merged(result[key], value) if both else value
    return result
