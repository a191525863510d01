"""The folder that `make templates` writes."""

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import aws_cdk as cdk
import yaml

from hyperpod_cdk import Config
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_cdk.synthesis.template_parameters import ParameterText
from hyperpod_cli.deliver.templates.document import Document, as_json, published
from hyperpod_cli.deliver.templates.page import page
from hyperpod_cli.deliver.templates.parameter import Parameter, Rules, distinct, with_values
from hyperpod_cli.deliver.templates.parameters import PLACEHOLDER, parameters
from hyperpod_cli.deliver.templates.synthesizer import AssetsInBucket
from hyperpod_cli.deliver.templates.zones import zone_rules
from hyperpod_stacks.deployment import add_stacks

# The earliest that the format has.
_TIME = (1980, 1, 1, 0, 0, 0)
_FILE, _PROGRAM = 0o100644, 0o100755


def write_asset(source: Path, target: Path) -> None:
    """Write an asset: a copy of a file, or an archive of a directory."""
    if source.is_file():
        shutil.copyfile(source, target)
        return
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(source.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(source).as_posix(), _TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # Unix, whose permissions follow
                is_program = path.stat().st_mode & 0o100
                entry.external_attr = (_PROGRAM if is_program else _FILE) << 16
                archive.writestr(entry, path.read_bytes())


ASSETS, TEMPLATES, MANIFEST, PAGE = "assets", "templates", "manifest.json", "parameters.md"
_ZONES = ("network", "availability_zone_ids")
_DEPLOY = Path(__file__).with_name("deploy.sh")


def write_package(
    config: Config, *, chart: HyperPodChart, target: Path, context: Mapping[str, Any]
) -> dict[str, Document]:
    """Write templates, assets, manifest, page and `deploy.sh`; return the templates by stack.

    Args:
        config: The configuration, of which `template_findings` finds nothing; its values are the
            parameters' defaults.
        chart: Chart of the HyperPod dependencies.
        target: The folder, which is emptied first.
        context: Context of the app.

    Raises:
        ConfigError: A rule about the whole configuration refuses it.
        HyperPodChartError: The chart cannot be used.
        TooLargeError: What the configuration makes is larger than AWS takes.
    """
    chosen = parameters(config)
    shutil.rmtree(target, ignore_errors=True)
    (target / ASSETS).mkdir(parents=True)
    with tempfile.TemporaryDirectory() as directory:
        synthesizer = AssetsInBucket()
        app = cdk.App(
            # No account's usage is reported, and no path of this app is in the templates.
            context={**context, "aws:cdk:enable-path-metadata": False},
            analytics_reporting=False,
            outdir=directory,
            default_stack_synthesizer=cast("cdk.IReusableStackSynthesizer", synthesizer),
            builtin_cloud_formation_validation=False,
        )
        add_stacks(app, config=parameterized(config, chosen), chart=chart)
        stacks = {
            stack.stack_name.removeprefix(f"{PLACEHOLDER}-"): stack for stack in app.synth().stacks
        }
        templates = {
            name: published(
                stack.template,
                parameters=chosen,
                rules=_rules(config, chosen),
                version=version("hyperpod-cdk"),
            )
            for name, stack in stacks.items()
        }
        for name, source in synthesizer.assets.items():
            write_asset(Path(directory, source), target / ASSETS / name)
    _write_templates(templates, target / TEMPLATES)
    shutil.copy(_DEPLOY, target)
    (target / PAGE).write_text(page(chosen, templates=templates), encoding="utf-8")
    manifest = {
        "version": version("hyperpod-cdk"),
        "deployment": config.name,
        "fixed": " ".join(each.name for each in chosen if each.is_fixed),
        "protected": " ".join(
            name for name, stack in stacks.items() if stack.termination_protection
        ),
        "tags": config.tags,
        "sha256": _sums(target),
    }
    (target / MANIFEST).write_text(as_json(manifest), encoding="utf-8")
    return templates


def parameterized(config: Config, chosen: Sequence[Parameter]) -> Config:
    """Return a configuration of no region and no name, with parameters in place of values."""
    own_name = ParameterText(f"{PLACEHOLDER}-cluster", token=f"{PLACEHOLDER}-cluster")
    zones = config.network.availability_zone_ids or ("",) * len(config.network.zones)
    is_default = config.cluster.name == f"{config.name}-cluster"
    plain = with_values(
        config,
        {
            ("name",): PLACEHOLDER,
            ("region",): None,
            _ZONES: zones,
            **({("cluster", "name"): own_name} if is_default else {}),
        },
    )
    return with_values(
        plain,
        {
            path: parameter.in_place_of(_at(plain, path))
            for parameter in chosen
            for path in parameter.paths
        },
    )


def _write_templates(templates: Mapping[str, Document], folder: Path) -> None:
    folder.mkdir()
    for name, template in templates.items():
        (folder / f"{name}.json").write_text(as_json(template), encoding="utf-8")
        text = yaml.dump(template, Dumper=_Dumper, sort_keys=False, width=100)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _rules(config: Config, chosen: Sequence[Parameter]) -> Rules:
    zones = [each.name for each in chosen if any(path[:2] == _ZONES for path in each.paths)]
    types: dict[str, list[str]] = {}
    for each in chosen:
        if any("instance_types" in path for path in each.paths):
            types.setdefault(each.group, []).append(each.name)
    return {
        **zone_rules(zones, eks_zones=len(config.network.eks_subnet_cidrs)),
        **{
            f"Distinct{names[0].rstrip('1')}s": distinct(names, noun="types")
            for names in types.values()
            if len(names) > 1
        },
    }


def _at(part: Any, path: Sequence[str | int]) -> Any:  # noqa: ANN401 - any part of it
    for step in path:
        part = part[step] if isinstance(step, int) else getattr(part, step)
    return part


def _sums(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
