"""The CDK app of the rehearsal: the same stacks, deployed with the CLI's own credentials."""

import sys
from pathlib import Path

import aws_cdk as cdk

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cdk.helm.chart import HyperPodChartError
from stacks.deployment import add_stacks


def main() -> int:
    """Synthesize the configured stacks with the chart named by the context key `chart`."""
    # The bootstrap roles' policies rest on conditions that the local AWS does not evaluate.
    app = cdk.App(default_stack_synthesizer=cdk.CliCredentialsStackSynthesizer())
    try:
        config = load_config(Path(app.node.get_context("config")))
        add_stacks(app, config=config, chart=Path(app.node.get_context("chart")))
    except (ConfigError, HyperPodChartError) as error:
        print(error, file=sys.stderr)
        return 2
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
