"""All parameters of the templates of a configuration, and the values that each may take."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from pydantic import ValidationError

from hyperpod_cdk import Config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.config.config import SAGEMAKER
from hyperpod_cdk.facts.instance_types import default_threads_per_core, instance_types
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.schema.arns import BUCKET_NAME, TRAINING_PLAN_ARN
from hyperpod_cdk.schema.errors import KeyPath, Severity
from hyperpod_cdk.schema.section import Section
from hyperpod_cli.deliver.templates.parameter import Parameter, definition
from hyperpod_cli.deliver.templates.zones import zone_parameters


class Variants:
    """What a value of a configuration may become without another template.

    The configuration's own rules decide. A template also holds what was derived from the value:
    which components are installed, and the threads per core of a group.
    """

    def __init__(self, config: Config) -> None:
        self._document = config.model_dump(exclude_unset=True)
        self._components = _installed(config)
        self._threads = _default_threads(config)

    def accepted(self, path: KeyPath, values: Iterable[str | int]) -> list[str | int]:
        """Return those of some values that may be at a path."""
        return [value for value in values if self._accepts(path, value)]

    def most(self, path: KeyPath, *, least: int, most: int) -> int:
        """Return the greatest number that may be at a path, at least `least`."""
        while least < most:
            middle = (least + most + 1) // 2
            if self._accepts(path, middle):
                least = middle
            else:
                most = middle - 1
        return least

    def _accepts(self, path: KeyPath, value: str | int) -> bool:
        try:
            config = Config.model_validate(_replaced(self._document, path, value))
        except ValidationError:
            return False
        return (
            _installed(config) <= self._components
            and _default_threads(config) == self._threads
            and all(finding.severity is not Severity.ERROR for finding in findings(config))
        )


def _installed(config: Config) -> set[str]:
    if config.control_plane is None:
        return set()
    return {name for name, is_on in config.components.switches().items() if is_on}


def _default_threads(config: Config) -> list[int | None]:
    return [
        default_threads_per_core(group.possible_instance_types)
        for group in config.cluster.all_groups
        if group.threads_per_core is None
    ]


def _replaced(node: Any, path: Sequence[str | int], value: str | int) -> Any:  # noqa: ANN401 - any JSON
    if not path:
        return value
    step, *rest = path
    if isinstance(step, int):
        return [_replaced(v, rest, value) if i == step else v for i, v in enumerate(node)]
    return {**node, step: _replaced(node.get(step) or {}, rest, value)}


DEPLOYMENT_NAME = "DeploymentName"
# The CDK makes names of a stack's own one, which it must know: exports, functions, tags. So it gets
# this one, and the parameter takes its place. A longer one would be cut in the functions' names.
PLACEHOLDER = "deploymentnam0"
ASSETS_BUCKET = "AssetsBucket"
ASSETS_PREFIX = "AssetsPrefix"

# Quota "Lustre Persistent 2 SSD storage capacity" of an account, if it was not raised.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html
_MOST_GIB, _STEP_GIB = 100_800, 1200
_DEPLOYMENT, _ASSETS, _KUBERNETES, _FILES = "Deployment", "Assets", "Kubernetes", "File system"


def parameters(config: Config) -> list[Parameter]:
    """Return the parameters of all templates, in the order in which the console shows them."""
    variants = Variants(config)
    return [
        *_deployment(config),
        *zone_parameters(config),
        *_kubernetes(config),
        *_storage(config, variants=variants),
        *_groups(config, variants=variants),
    ]


def _deployment(config: Config) -> Iterator[Parameter]:
    name = definition(Config, "name", default=config.name)
    named = "the EKS cluster, " if config.makes_control_plane else ""
    yield Parameter(
        name=DEPLOYMENT_NAME,
        label="Name of the deployment",
        group=_DEPLOYMENT,
        definition={
            **name,
            "AllowedPattern": f"(?!.*{SAGEMAKER}){name['AllowedPattern']}",
            "MaxLength": len(PLACEHOLDER),
            "Description": f"The same for all stacks; it names {named}the HyperPod cluster and "
            "the bucket of the lifecycle scripts.",
        },
    )
    yield Parameter(
        name=ASSETS_BUCKET,
        label="Bucket with the assets",
        group=_ASSETS,
        definition={
            "Type": "String",
            "AllowedPattern": BUCKET_NAME,
            "Description": "S3 bucket of this region that holds the files of the folder assets.",
        },
    )
    yield Parameter(
        name=ASSETS_PREFIX,
        label="Prefix of the assets",
        group=_ASSETS,
        definition={
            "Type": "String",
            "Default": f"hyperpod-cdk/{version('hyperpod-cdk')}/assets/",
            "AllowedPattern": "([A-Za-z0-9_-][A-Za-z0-9._-]*/)*",
            "ConstraintDescription": "must end with a slash, and have no dot before a name",
            "Description": "What their keys begin with, up to and with the last slash.",
        },
    )


def _kubernetes(config: Config) -> Iterator[Parameter]:
    plane = config.control_plane
    if plane is None:
        return
    told = "Kubernetes version; a running control plane goes up one at a time."
    names = ("version", "KubernetesVersion", "Kubernetes version")
    yield _of_key(plane, *names, path=("eks",), group=_KUBERNETES, Description=told)
    key = ("secrets_kms_key_arn", "SecretsKmsKeyArn", "KMS key of Kubernetes secrets")
    for each in _existing(plane, key, path=("eks",), group=_KUBERNETES):
        yield replace(each, is_fixed=True)
    admins = ("admins", "AdminArn", "Administrator {}")
    yield from _existing(plane, admins, path=("eks",), group=_KUBERNETES)


def _storage(config: Config, *, variants: Variants) -> Iterator[Parameter]:
    storage = config.storage
    if storage is None or storage.is_tiered or storage.file_system_id is not None:
        return
    path, size = ("storage",), ("capacity_gib", "StorageCapacityGiB", "Size in GiB")
    sizes = variants.accepted((*path, size[0]), range(_STEP_GIB, _MOST_GIB + 1, _STEP_GIB))
    allowed = {*sizes, storage.capacity_gib}
    yield _of_key(storage, *size, path=path, group=_FILES, allowed=allowed)
    if not storage.efa_enabled:  # its sizes are those of its throughput
        names = ("throughput_mbps_per_tib", "StorageThroughput", "Throughput in MB/s for each TiB")
        yield _of_key(storage, *names, path=path, group=_FILES)


def _groups(config: Config, *, variants: Variants) -> Iterator[Parameter]:
    cluster, scripts = config.cluster, config.lifecycle_scripts
    names = [_in_pascal_case(group.name) for group in cluster.all_groups]
    taken = Counter(name.lower() for name in names)
    yield from _existing(cluster, ("execution_role_arn", "NodeRoleArn", "Role of the nodes"))
    if scripts.existing_bucket_name is not None:
        yield from _existing(
            scripts,
            ("existing_bucket_name", "ScriptsBucketName", "Bucket of the lifecycle scripts"),
            ("existing_bucket_kms_key_arn", "ScriptsKmsKeyArn", "Its KMS key"),
            path=("lifecycle_scripts",),
        )
    yield from _existing(cluster, ("role_arn", "ClusterRoleArn", "Cluster role"))
    for number, (path, group) in enumerate(cluster.groups_with_paths()):
        # Names may differ in their hyphens, or in upper and lower case, alone.
        suffix = str(number + 1) if taken[names[number].lower()] > 1 else ""
        place = tuple(int(step) if isinstance(step, int) else step for step in path)
        yield from _group(group, path=place, prefix=names[number] + suffix, variants=variants)
    writers = ("writers", "ScriptWriterArn", "Writer {} of lifecycle scripts")
    yield from _existing(scripts, writers, path=("lifecycle_scripts",))


def _group(
    group: NodeGroupConfig, *, path: KeyPath, prefix: str, variants: Variants
) -> Iterator[Parameter]:
    heading = f"Instance group {group.name}"
    types = list(group.types_with_paths())
    for number, (place, instance_type) in enumerate(types):
        position = str(number + 1) if len(types) > 1 else ""
        yield Parameter(
            name=f"{prefix}InstanceType{position}",
            label=f"Instance type {position}".strip(),
            group=heading,
            definition=definition(
                type(group),
                "instance_type",
                default=instance_type,
                allowed=variants.accepted((*path, *place), instance_types()),
                Description="HyperPod instance type, for which the account has its quota. The "
                "template is for those listed; another one may need other components.",
            ),
            paths=((*path, *place),),
        )
    key = ("instance_count", f"{prefix}InstanceCount", "Number of instances")
    count = _of_key(group, *key, path=path, group=heading)
    (place,), limits = count.paths, count.definition
    most = variants.most(place, least=group.instance_count, most=limits["MaxValue"])
    least = getattr(group, "min_instance_count", None) or limits["MinValue"]
    yield replace(count, definition={**limits, "MinValue": least, "MaxValue": most})
    if group.volume_size_gib is not None:
        told = "Size of the EBS volume of each instance, at /opt/sagemaker."
        key = ("volume_size_gib", f"{prefix}VolumeSizeGiB", "EBS volume in GiB")
        yield _of_key(group, *key, path=path, group=heading, Description=told)
    # CloudFormation makes no ARN of a text that may be one already.
    plan = {
        "AllowedPattern": TRAINING_PLAN_ARN,
        "Description": "ARN of the SageMaker training plan.",
    }
    key = ("training_plan_arn", f"{prefix}TrainingPlanArn", "Training plan")
    yield from _existing(group, key, path=path, group=heading, **plan)
    key = ("execution_role_arn", f"{prefix}ExecutionRoleArn", "Role of the nodes")
    yield from _existing(group, key, path=path, group=heading)
    for key, kind in (
        (("subnet_ids", f"{prefix}SubnetId", "Subnet {}"), "Subnet"),
        (("security_group_ids", f"{prefix}SecurityGroupId", "Security group {}"), "SecurityGroup"),
    ):
        inside = (*path, "override_vpc")
        for each in _existing(group.override_vpc, key, path=inside, group=heading):
            described = each.definition["Description"]
            found = {"Type": f"AWS::EC2::{kind}::Id", "Description": described}
            yield replace(each, definition=found)


def _of_key(
    section: Section,
    key: str,
    name: str,
    label: str,
    *,
    group: str,
    path: KeyPath,
    allowed: Collection[Any] = (),
    **changes: str,
) -> Parameter:
    """Return the parameter of a key, whose value is the default."""
    default = getattr(section, key)
    defined = definition(type(section), key, default=default, allowed=allowed, **changes)
    return Parameter(name=name, label=label, group=group, definition=defined, paths=((*path, key),))


def _existing(
    section: Section | None,
    *keys: tuple[str, str, str],
    group: str = _DEPLOYMENT,
    path: KeyPath = ("cluster",),
    **changes: str,
) -> Iterator[Parameter]:
    """Yield parameters without a default: what exists in one account is in no other.

    Of each key, by its name, they have the name and the label; of one with several values, these
    get numbers.
    """
    for key, name, label in keys:
        value = getattr(section, key, None)
        if section is None or value is None:
            continue
        is_list = isinstance(value, tuple)
        for index in range(len(value)) if is_list else [0]:
            number = index + 1 if is_list else ""
            yield Parameter(
                name=f"{name}{number}",
                label=label.format(number),
                group=group,
                definition=definition(type(section), key, default=None, **changes),
                paths=((*path, key, *([index] if is_list else ())),),
                is_token=True,
            )


def _in_pascal_case(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("-"))
