"""CDK app: reads the configuration, adds the stacks, synthesizes."""

import json
import os
import sys
from pathlib import Path

try:
    import aws_cdk as cdk
except ModuleNotFoundError as missing:
    print(  # noqa: T201 - the user's only channel
        f"{missing.name}: is not installed for {sys.executable}; run `make setup`", file=sys.stderr
    )
    sys.exit(2)

from hyperpod_cdk import ConfigError, TooLargeError, load_config
from hyperpod_cdk.helm.chart import HyperPodChartError
from stacks.deployment import add_stacks
from stacks.helm_chart import HelmChartMissingError, helm_chart

# The CLI passes this context and more, which wins; without the CLI the templates are the same.
_CDK_JSON = Path(__file__).with_name("cdk.json")


def main(
    *,
    config: Path | None = None,
    output: Path | None = None,
    chart: Path | None = None,
    scripts: Path | None = None,
    validate: bool = False,
) -> int:
    """Synthesize the app; return 2 for a configuration that cannot be deployed.

    Args:
        config: File of the configuration. Default: the one that the context `config` names.
        output: Folder of the cloud assembly. Default: the CLI's choice, else `cdk.out`.
        chart: Chart of the HyperPod dependencies. Default: the configured or the official one.
        scripts: Folder of the lifecycle scripts. Default: the project's own.
        validate: Whether CDK validates the templates, which takes more than half of a synthesis.
            Default: no; the rehearsal and the tests do (docs/adr/0017).
    """
    outdir = output or Path(os.environ.get("CDK_OUTDIR", "cdk.out"))
    _remove_templates(outdir)
    app = cdk.App(
        context=json.loads(_CDK_JSON.read_text(encoding="utf-8"))["context"],
        # Without one, CDK would use a new temporary folder.
        outdir=str(outdir),
        builtin_cloud_formation_validation=validate,
    )
    try:
        loaded = load_config(config or Path(app.node.get_context("config")))
        add_stacks(
            app,
            config=loaded,
            chart=helm_chart(loaded) if chart is None else chart,
            scripts=scripts,
        )
    except (ConfigError, HelmChartMissingError, HyperPodChartError, TooLargeError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - the user's only channel
        return 2
    app.synth()
    return 0


def _remove_templates(directory: Path) -> None:
    """Remove what a former synthesis said of its stacks; the CLI repeats the warnings in it."""
    for pattern in ("*.template.json", "*.assets.json", "validation-report.json"):
        for path in directory.glob(pattern):
            path.unlink()


if __name__ == "__main__":
    sys.exit(main())
