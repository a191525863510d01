"""CDK app: reads the configuration, adds the stacks, synthesizes."""

import sys
from pathlib import Path

import aws_cdk as cdk

from hyperpod_cdk.config import ConfigError, load_config
from stacks.deployment import add_stacks
from stacks.helm_chart import HelmChartMissingError, helm_chart


def main() -> int:
    """Synthesize the app; return 2 for a configuration that cannot be deployed."""
    app = cdk.App()
    config_path = Path(app.node.try_get_context("config") or "config/default.yaml")
    try:
        config = load_config(config_path)
        add_stacks(app, config=config, chart=helm_chart(config, config_path=config_path))
    except (ConfigError, HelmChartMissingError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - the user's only channel
        return 2
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
