"""Writes the plain CloudFormation templates of a configuration."""

import json
from importlib.metadata import version
from pathlib import Path

from hyperpod_cdk import ConfigError, TooLargeError, load_config
from hyperpod_cdk.helm.chart.chart import HyperPodChartError, read_hyperpod_chart
from hyperpod_cdk.loading import check_chart
from hyperpod_cdk.schema.yaml_file import read_yaml
from hyperpod_cli.deliver.templates.findings import template_findings
from hyperpod_cli.deliver.templates.package import write_package
from hyperpod_cli.deliver.templates.parameters import PLACEHOLDER
from hyperpod_cli.terminal.command_line import config_parser, exit_with, refused
from stacks.helm_chart import OFFICIAL_CHART, packaged_chart

_CDK_JSON = Path(__file__).parents[4] / "cdk.json"


def main() -> int:
    """Run the command line; return 2 for a configuration that cannot be deployed."""
    arguments = config_parser("hyperpod_cli.deliver.templates", description=__doc__).parse_args()
    target = Path("build", "templates", version("hyperpod-cdk"))
    try:
        config = load_config(arguments.config)
        read_yaml(arguments.config).refuse(template_findings(config))
        # What is not packaged is refused here: nobody can deploy templates with its placeholder.
        chart = read_hyperpod_chart(packaged_chart(config) or OFFICIAL_CHART)
        check_chart(config, path=arguments.config, chart=chart)
        print(f"Synthesizing {arguments.config}; the CDK calls it {PLACEHOLDER} meanwhile")
        write_package(
            config,
            chart=chart,
            target=target,
            context=json.loads(_CDK_JSON.read_text(encoding="utf-8"))["context"],
        )
    except (ConfigError, HyperPodChartError, TooLargeError) as error:
        return refused(error)
    for path in sorted(target.rglob("*")):
        if path.is_file():
            print(f"{path.stat().st_size:>12,}  {path}")
    print(f"Deploy them with {target}/deploy.sh; docs/templates.md says how.")
    return 0


if __name__ == "__main__":
    exit_with(main)
