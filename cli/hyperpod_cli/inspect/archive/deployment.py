"""What an archive has of a deployment, and what it is of."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    StringConstraints,
    ValidationError,
)

from hyperpod_cdk.schema.arns import AccountId, DeploymentName, Region
from hyperpod_cli.aws.stacks import DeployedResource


class _Answer(BaseModel):
    """What must be in an answer of AWS, which stays as AWS gave it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an answer; one that lacks something is a ValueError."""
        try:
            cls.model_validate(answer)
        except ValidationError as error:
            raise ValueError(first_line(error)) from None
        return answer


class _Group(_Answer):
    name: str = Field(alias="InstanceGroupName")
    target: NonNegativeInt = Field(alias="TargetCount")


class _Cluster(_Answer):
    name: str = Field(alias="ClusterName")
    groups: Sequence[_Group] = Field(default=(), alias="InstanceGroups")
    restricted: Sequence[_Group] = Field(default=(), alias="RestrictedInstanceGroups")


class _ControlPlane(_Answer):
    name: str
    version: str


class _Scaling(_Answer):
    least: NonNegativeInt = Field(alias="minSize")
    most: NonNegativeInt = Field(alias="maxSize")
    wanted: NonNegativeInt = Field(alias="desiredSize")


class _NodeGroup(_Answer):
    name: str = Field(alias="nodegroupName")
    cluster: str = Field(alias="clusterName")
    scaling: _Scaling = Field(alias="scalingConfig")


class _Policy(_Answer):
    statement: Mapping[str, Any] | Sequence[Mapping[str, Any]] = Field(alias="Statement")


class _Resource(_Answer):
    type: str = Field(alias="Type")
    properties: Mapping[str, Any] = Field(default={}, alias="Properties")


class _Template(_Answer):
    resources: Mapping[str, _Resource] = Field(alias="Resources")
    outputs: Mapping[str, Mapping[str, Any]] = Field(default={}, alias="Outputs")


Policy = Annotated[Mapping[str, Any], AfterValidator(_Policy.of)]
"""The document of an IAM policy."""
Template = Annotated[Mapping[str, Any], AfterValidator(_Template.of)]
"""A stack's template."""
# https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
StackName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,127}$")]


def first_line(error: Exception) -> str:
    """Return what is wrong with values, the first of it."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = "".join(f"{part}." for part in first["loc"]).removesuffix(".")
        problem = first["msg"].removeprefix("Value error, ")
        return f"{place}: {problem}" if place else problem
    return str(error)


class Model(BaseModel):
    """A part of an archive."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ArchivedStack(Model):
    """A stack as it is, but for its template."""

    name: StackName
    status: str
    is_protected: bool = False
    parameters: Mapping[str, str] = {}
    outputs: Mapping[str, str] = {}
    tags: Mapping[str, str] = {}
    resources: tuple[DeployedResource, ...] = ()


class ArchivedNode(Model):
    """A node of the HyperPod cluster, by its instance ID, or of an EKS node group, by its name.

    Its pods are those that users lose with it, as `<namespace>/<name>`.
    """

    id: str
    group: str
    instance_type: str
    status: str
    pods: tuple[str, ...] = ()


class ArchivedDeployment(Model):
    """What is deployed, as AWS, Helm and Kubernetes describe it.

    The cluster and the control plane are None without one; Helm releases are without their values.
    `cloudformation` has the policies of the role with which CloudFormation works, by name, and
    `boundary` the one that bounds it, by its ARN. `hidden` is where values are left out that look
    like secrets, `unread` what could not be read, and why.
    """

    stacks: tuple[ArchivedStack, ...]
    cluster: Annotated[Mapping[str, Any], AfterValidator(_Cluster.of)] | None = None
    nodes: tuple[ArchivedNode, ...] = ()
    control_plane: Annotated[Mapping[str, Any], AfterValidator(_ControlPlane.of)] | None = None
    addons: tuple[Mapping[str, Any], ...] = ()
    node_groups: tuple[Annotated[Mapping[str, Any], AfterValidator(_NodeGroup.of)], ...] = ()
    file_systems: tuple[Mapping[str, Any], ...] = ()
    releases: tuple[Mapping[str, Any], ...] = ()
    claims: tuple[Mapping[str, Any], ...] = ()
    cloudformation: Mapping[str, Policy] = {}
    boundary: Mapping[str, Policy] = {}
    hidden: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


class Manifest(Model):
    """What the archive is of, which version wrote it, when (in UTC), and digests of its files."""

    format: int
    account: AccountId
    region: Region
    deployment: DeploymentName
    version: str
    written: str
    digest: str = ""
    files: Mapping[str, str] = {}


def unsettled(deployment: ArchivedDeployment) -> Iterator[tuple[str, str]]:
    """Yield what of a deployment is not in service, and what AWS or Helm says of it."""
    cluster, control_plane = deployment.cluster or {}, deployment.control_plane or {}
    states = [
        ("the HyperPod cluster", cluster.get("ClusterStatus"), "InService"),
        ("the EKS cluster", control_plane.get("status"), "ACTIVE"),
    ]
    for noun, items, name, key, settled in (
        ("add-on", deployment.addons, "addonName", "status", "ACTIVE"),
        ("node group", deployment.node_groups, "nodegroupName", "status", "ACTIVE"),
        ("file system", deployment.file_systems, "FileSystemId", "Lifecycle", "AVAILABLE"),
    ):
        states += [(f"{noun} {item.get(name)}", item.get(key), settled) for item in items]
    states += [
        (f"release {item.get('namespace')}/{item.get('name')}", item.get("status"), "deployed")
        for item in deployment.releases
    ]
    for what, state, settled in states:
        if state not in (None, settled):
            yield what, str(state)
