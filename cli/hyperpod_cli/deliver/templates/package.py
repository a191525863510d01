"""The folder that `hyperpod-cdk templates` writes, and what templates cannot hold."""

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import aws_cdk as cdk
import jsii
import yaml
from aws_cdk import (
    Aws,
    DockerImageAssetLocation,
    DockerImageAssetSource,
    FileAssetLocation,
    FileAssetPackaging,
    FileAssetSource,
    Fn,
    IReusableStackSynthesizer,
    ISynthesisSession,
    Stack,
    StackSynthesizer,
    cx_api,
)

from hyperpod_cdk import Config
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_cdk.helm.chart_rules import dependency_values, needs_registry
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.availability_zones import is_zone_name
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.synthesis.template_parameters import ParameterText
from hyperpod_cli.deliver.templates.document import Document, as_json, page, published
from hyperpod_cli.deliver.templates.parameter import Parameter, Rules, distinct, with_values
from hyperpod_cli.deliver.templates.parameters import (
    ASSETS_BUCKET,
    ASSETS_PREFIX,
    PLACEHOLDER,
    parameters,
)
from hyperpod_cli.deliver.templates.zones import zone_rules
from hyperpod_stacks.deployment import add_stacks


def template_findings(config: Config) -> Iterator[Finding]:
    """Find what templates of no region, and of any name, cannot hold."""
    if len(config.name) > len(PLACEHOLDER):
        message = (
            f"must be at most {len(PLACEHOLDER)} characters for templates, which cannot shorten "
            "the names that begin with it; deploy it with the CDK, or take a shorter name"
        )
        yield error(("name",), config.name, message)
    yield from _network_findings(config.network)
    if config.control_plane is None:
        return
    values = dependency_values(config.helm, region="", instance_types=config.instance_types)
    if needs_registry(config.helm, values=values):
        message = (
            "has its images in a registry of the region, which templates do not know; name one in "
            "helm.values.gpu-operator.gpu-operator.operator.repository, or deploy it with the CDK"
        )
        yield error(("helm", "components", "gpu_operator"), True, message)


def _network_findings(network: NetworkConfig) -> Iterator[Finding]:
    if network.vpc_id is not None:
        message = (
            "is a VPC of one account and region, and templates are for any: they make a network of "
            "their own; leave it out, or deploy it with the CDK"
        )
        yield error(("network", "vpc_id"), network.vpc_id, message)
        return
    named = [
        *network.zones,
        *(subnet.availability_zone_id for subnet in network.hyperpod_subnets),
    ]
    for zone in named:
        if zone is not None and is_zone_name(zone):
            message = (
                "is the name of a zone, which is another place in each account; templates take "
                "IDs, such as usw2-az1, as parameters"
            )
            yield error(("network", "availability_zone_ids"), zone, message)
            return
    homes = set(network.zones)
    for index, zone in enumerate(network.hyperpod_zone_ids):
        if zone not in homes:
            message = (
                "is not among network.availability_zone_ids, which are the parameters of "
                "templates; add it there"
            )
            path = ("network", "hyperpod_subnets", index, "availability_zone_id")
            yield error(path, zone, message)


@jsii.implements(IReusableStackSynthesizer)
class AssetsInBucket(StackSynthesizer):
    """Writes templates that need neither a bootstrap stack nor an account or a region.

    `assets` has the path of each one in the cloud assembly, by its name in the bucket.
    """

    def __init__(self, assets: dict[str, str] | None = None) -> None:
        super().__init__()
        self.assets = assets if assets is not None else {}

    def reusable_bind(self, stack: Stack) -> "AssetsInBucket":
        """Return the synthesizer of one stack; all of them list the same assets."""
        own = AssetsInBucket(self.assets)
        own.bind(stack)
        return own

    def add_file_asset(  # type: ignore[override] # the struct, which jsii passes in one
        self, asset: FileAssetSource
    ) -> FileAssetLocation:
        """Return where a template finds a file, or a directory as an archive."""
        assert asset.file_name is not None  # noqa: S101 - of an asset that no command makes
        is_directory = asset.packaging == FileAssetPackaging.ZIP_DIRECTORY
        suffix = ".zip" if is_directory else asset.file_name[asset.file_name.rindex(".") :]
        name = f"{asset.source_hash}{suffix}"
        self.assets[name] = asset.file_name
        bucket = Fn.ref(ASSETS_BUCKET)
        key = Fn.join("", [Fn.ref(ASSETS_PREFIX), name])
        return FileAssetLocation(
            bucket_name=bucket,
            object_key=key,
            http_url=f"https://s3.{Aws.REGION}.{Aws.URL_SUFFIX}/{bucket}/{key}",
            s3_object_url=f"s3://{bucket}/{key}",
        )

    def add_docker_image_asset(  # type: ignore[override] # likewise
        self, asset: DockerImageAssetSource
    ) -> DockerImageAssetLocation:
        """Refuse an image: it would need a repository of every reader's own."""
        raise ValueError(
            f"{asset.directory_name}: plain templates cannot contain container images; use an "
            "image from a registry"
        )

    def synthesize(self, session: ISynthesisSession) -> None:
        """Write the stack's template."""
        self._synthesize_template(session)
        self._emit_artifact(session)


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

    The values of the configuration, of which `template_findings` finds nothing, are the defaults of
    the parameters. The folder is emptied first.
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
        "last": " ".join(_late(stacks)),
        "tags": config.tags,
        "sha256": _sums(target),
    }
    (target / MANIFEST).write_text(as_json(manifest), encoding="utf-8")
    return templates


def _late(stacks: Mapping[str, cx_api.CloudFormationStackArtifact]) -> Iterator[str]:
    """Yield the stacks that need more than the platform: nodes, or a file system's names."""
    platform = f"{PLACEHOLDER}-platform"
    for name, stack in stacks.items():
        needed = {each.id for each in stack.dependencies if not each.id.endswith(".assets")}
        if needed - {platform}:
            yield name


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
