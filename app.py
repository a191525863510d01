"""CDK app: reads the configuration, adds the stacks, synthesizes."""

import json
import os
import sys
from pathlib import Path

import aws_cdk as cdk

from hyperpod_cdk import ConfigError, TooLargeError, load_config
from hyperpod_cdk.helm.chart import HyperPodChartError
from stacks.deployment import add_stacks
from stacks.helm_chart import HelmChartMissingError, helm_chart

# The CLI passes this context and more, which wins; without the CLI the templates are the same.
_CDK_JSON = Path(__file__).with_name("cdk.json")


def main(
    *,
    chart: Path | None = None,
    scripts: Path | None = None,
    validate: bool = False,
) -> int:
    """Synthesize the app; return 2 for a configuration that cannot be deployed.

    Args:
        chart: Chart of the HyperPod dependencies. Default: the configured or the official one.
        scripts: Folder of the lifecycle scripts. Default: the project's own.
        validate: Whether CDK validates the templates, which takes more than half of a synthesis.
            Default: no; the rehearsal and the tests do (docs/adr/0017).
    """
    app = cdk.App(
        context=json.loads(_CDK_JSON.read_text(encoding="utf-8"))["context"],
        # The CLI's choice, else its default: without one, CDK would use a new temporary folder.
        outdir=os.environ.get("CDK_OUTDIR", "cdk.out"),
        builtin_cloud_formation_validation=validate,
    )
    try:
        config = load_config(Path(app.node.get_context("config")))
        add_stacks(
            app,
            config=config,
            chart=helm_chart(config) if chart is None else chart,
            scripts=scripts,
        )
    except (ConfigError, HelmChartMissingError, HyperPodChartError, TooLargeError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - the user's only channel
        return 2
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
