"""CDK app: reads the configuration, adds the stacks, synthesizes.

`python -m hyperpod_stacks.app` runs it in any folder; `app.py` of a checkout, in the checkout's.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from hyperpod_cdk import ConfigError, load_file
from hyperpod_cdk.helm.chart import HyperPodChartError, read_hyperpod_chart
from hyperpod_cdk.loading import check_chart
from hyperpod_cdk.synthesis.assets import ASSETS, CHECKOUT
from hyperpod_cdk.synthesis.node import use_own_node
from hyperpod_stacks.packaged_chart import pinned_chart


def main(
    *,
    project: Path | None = None,
    config: Path | None = None,
    output: Path | None = None,
    chart: Path | None = None,
    scripts: Path | None = None,
    validate: bool = False,
) -> int:
    """Synthesize the app; return 2 for a configuration that cannot be deployed.

    Args:
        project: Folder to work in, which relative paths of its context start from. Default: this.
        config: File of the configuration. Default: the one that the context `config` names.
        output: Folder of the cloud assembly. Default: the CLI's choice, else `cdk.out`.
        chart: Chart of the HyperPod dependencies. Default: the configured or the official one, or a
            placeholder while that is not packaged.
        scripts: Folder of the lifecycle scripts. Default: the project's own.
        validate: Whether CDK validates the templates, which takes more than half of a synthesis.
            Default: no; the rehearsal and the tests do (ADR 17).
    """
    outdir = output or Path(os.environ.get("CDK_OUTDIR", "cdk.out"))
    project = project or Path.cwd()
    context = _context(project)
    file = config or Path(context["config"])
    if not project.samefile(Path.cwd()):  # `cdk deploy --app` of another folder
        outdir = outdir.absolute()
        os.chdir(project)
    _remove_templates(outdir)
    try:
        loaded = load_file(file)
        archive = loaded.pipeline.chart if loaded.pipeline is not None else None
        given = archive.sha256 if archive is not None else None
        charts = [
            pinned_chart(each.config, sha256=given) if chart is None else read_hyperpod_chart(chart)
            for each in loaded.deployments
        ]
        for each, read in zip(loaded.deployments, charts, strict=True):
            check_chart(each.config, path=each.path, chart=read)
        if loaded.pipeline is not None and CHECKOUT is None:
            needs = "describes a pipeline, which builds a checkout of hyperpod-cdk; run it in one"
            raise ConfigError([f"{file}: {needs}"])
    except (ConfigError, HyperPodChartError) as error:
        return _refused(error)

    use_own_node()
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


def _remove_templates(directory: Path) -> None:
    """Remove what a former synthesis said of its stacks; the CLI repeats the warnings in it."""
    for pattern in ("*.template.json", "*.assets.json", "validation-report.json"):
        for path in directory.glob(pattern):
            path.unlink()


def feature_flags() -> dict[str, Any]:
    """Return the context of the project's cdk.json, with which templates are the same anywhere."""
    context: dict[str, Any] = json.loads((ASSETS / "cdk.json").read_text("utf-8"))["context"]
    return context


def _context(project: Path) -> dict[str, Any]:
    """Return the context of the app; what the CLI passes wins.

    Without the CLI the templates are the same.
    """
    given = json.loads(os.environ.get("CDK_CONTEXT_JSON", "{}"))
    if not Path(given.get("config", "/")).is_absolute():  # the caller may be in another folder
        given["config"] = os.path.relpath(given["config"], project)
    return {**feature_flags(), **given}


def _refused(error: Exception) -> int:
    print(error, file=sys.stderr)  # noqa: T201 - the user's only channel
    return 2


if __name__ == "__main__":
    sys.exit(main())
