"""The `eks` section: the control plane, its add-ons, and who may use it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from ipaddress import IPv4Network, collapse_addresses
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationInfo, field_validator

from hyperpod_cdk.schema.arns import (
    EKS_NAME,
    EksClusterArn,
    KmsKeyArn,
    OidcProviderArn,
    PrincipalArn,
)
from hyperpod_cdk.schema.cidrs import Cidr, is_private
from hyperpod_cdk.schema.errors import Finding, error, refuse
from hyperpod_cdk.schema.limits import Message, is_token, listed_twice
from hyperpod_cdk.schema.section import Listed, Section, judged

# Kubernetes keeps the prefix for itself, and begins with these three.
# https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
_PREFIX = "kube-"
SYSTEM_NAMESPACES = ("kube-system", "kube-node-lease", "kube-public")
"""Kubernetes' own, without `default`."""

# https://docs.aws.amazon.com/eks/latest/userguide/access-policies.html
EditorsNamespace = Annotated[
    str,
    Field(pattern=r"^[a-z0-9*]([a-z0-9*-]*[a-z0-9*])?$", max_length=63),
    Message(
        "must be a namespace, or a pattern of them such as dev-*, of lower-case letters, "
        "digits, inner hyphens and *"
    ),
]


listed_once = partial(listed_twice, message="is listed twice; EKS takes a principal once")


def admin_findings(principals: Sequence[str], *, admins: Sequence[str]) -> Iterator[Finding]:
    """Find principals of a list that are admins anyway."""
    for index, arn in enumerate(principals):
        if arn in admins:
            message = "is in eks.admins, which gives every right; list it in one of the two"
            yield error((index,), arn, message)


def _missing(values: Sequence[str], *, noun: str) -> Iterator[Finding]:
    if not values:
        yield Finding(value=[], message=f"must name one {noun} or more")


def matches(pattern: str, namespaces: Iterable[str]) -> Iterator[str]:
    """Yield the namespaces that a pattern of editors' namespaces stands for."""
    return (each for each in namespaces if fnmatchcase(each, pattern))


def namespace_findings(namespaces: Sequence[str]) -> Iterator[Finding]:
    """Find namespaces of Kubernetes' own, and none."""
    yield from _missing(namespaces, noun="namespace")
    for index, namespace in enumerate(namespaces):
        system = [*matches(namespace, SYSTEM_NAMESPACES), *matches(f"{_PREFIX}*", [namespace])]
        if system:
            message = (
                f"must leave out {system[0]}, which is Kubernetes' own: an editor may act as its "
                "service accounts, and so as an admin; name other namespaces, or list the "
                "principals in eks.admins"
            )
            yield error((index,), namespace, message)
        elif namespace in namespaces[:index]:
            yield error((index,), namespace, "is listed twice; list each namespace once")


def _principal_findings(principals: Sequence[str]) -> Iterator[Finding]:
    yield from _missing(principals, noun="principal")
    yield from listed_once(principals)


ISOLATION_RELEASE = "hyperpod-pod-security"
NETWORK_POLICY = "hyperpod-isolation"
"""Name of the NetworkPolicy, and of the ResourceQuota, of each namespace of editors."""
_MOST_GIB = _MOST_USER = 2**31 - 1
StorageGib = Annotated[int, Field(ge=0, le=_MOST_GIB)]


class UserIdsConfig(Section):
    """Numbers of users, and of groups."""

    first: Annotated[int, Field(ge=1, le=_MOST_USER)]
    """The first; train runs jobs as it."""

    count: Annotated[int, Field(ge=1, le=_MOST_USER)] = 1000
    """How many. Default: 1000."""

    @property
    def last(self) -> int:
        """The last number."""
        return self.first + self.count - 1

    def meets(self, other: "UserIdsConfig") -> bool:
        """Return whether some number is in both."""
        return self.first <= other.last and other.first <= self.last

    def __str__(self) -> str:
        """Return the first and the last number."""
        return f"{self.first} to {self.last}"

    def _findings(self) -> Iterator[Finding]:
        if self.last > _MOST_USER:
            message = f"must be {_MOST_USER - self.first + 1} or fewer, up to user {_MOST_USER}"
            yield error(("count",), self.count, message)


class EditorsConfig(Section):
    """Principals that run jobs in namespaces."""

    namespaces: Annotated[
        Listed[EditorsNamespace], judged(namespace_findings), Field(examples=[["team-b"]])
    ]
    """Namespaces, which are made if they do not exist, and get a network policy; * stands for any
    characters, as in dev-*, of namespaces that get none. Namespaces of Kubernetes and of the charts
    are not allowed."""

    principals: Annotated[Listed[PrincipalArn], judged(_principal_findings)]
    """ARNs of IAM roles and users that may change everything in the namespaces, including secrets,
    except quotas and roles."""

    training_jobs: bool = True
    """Whether they may also run jobs of the training operators, such as a PyTorchJob. Default:
    true."""

    privileged_namespaces: Annotated[Listed[EditorsNamespace], Field(examples=[["team-a"]])] = ()
    """Consent: namespaces in which pods may be privileged, so that editors can become root on every
    node. In the others, the Pod Security Standard baseline applies. Default: none."""

    public: bool = False
    """Consent: whether Services of type LoadBalancer and internet-facing Ingresses may let the
    internet reach pods of the namespaces. Default: false."""

    dynamic_storage_gib: StorageGib = 4800
    """How much the claims of each namespace may ask of storage.dynamic_provisioning together, in
    GiB; 0 for nothing. A pattern has no limit. Default: 4800."""

    @property
    def team(self) -> str:
        """The team whose namespaces they are; empty for none."""
        return ""

    @property
    def viewers(self) -> tuple[str, ...]:
        """Who sees the objects in the namespaces, without changing them: nobody."""
        return ()

    @property
    def user_ids(self) -> UserIdsConfig | None:
        """The users that pods with claims run as; None for any."""
        return None

    @property
    def shares_trust(self) -> bool:
        """Whether pods of its namespaces, and of others that say so, reach each other."""
        return False

    def _findings(self) -> Iterator[Finding]:
        for index, name in enumerate(self.privileged_namespaces):
            is_unknown = any(map(is_token, (name, *self.namespaces)))
            if not is_unknown and not any(fnmatchcase(name, each) for each in self.namespaces):
                message = "is none of namespaces, in which it must be too"
                yield error(("privileged_namespaces", index), name, message)


def named_namespaces(editors: Iterable[EditorsConfig]) -> tuple[str, ...]:
    """Return the namespaces that editors have by name, without the patterns."""
    names = {name for each in editors for name in each.namespaces}
    return tuple(sorted(name for name in names if "*" not in name))


# Keys of a new control plane, each with the value that means the same as leaving it out.
_OF_NEW_ONES: Mapping[str, object] = {
    "cluster_name": None,
    "secrets_kms_key_arn": None,
    "deletion_protection": False,
}
_OF_EXISTING_ONES: Mapping[str, object] = {
    "set_authentication_mode": False,
    "addons": (),
    "oidc_provider_arn": None,
}


def existing_cluster_findings(eks: Mapping[str, Any]) -> Iterator[Finding]:
    """Find keys that have no effect with, or without, `cluster_arn`."""
    exists = eks["cluster_arn"] is not None
    for key, absent in (_OF_NEW_ONES if exists else _OF_EXISTING_ONES).items():
        if eks[key] == absent:
            continue
        message = (
            "must be left out: cluster_arn names a cluster that is not made, and stays as it is"
            if exists
            else "must be left out: it is for cluster_arn, which is not set"
        )
        value = list(eks[key]) if isinstance(eks[key], tuple) else eks[key]
        yield error((key,), value, message)
    once = "is listed twice; name it once"
    yield from listed_twice(eks["addons"], message=once, of=("addons",))


# EKS offers newer ones earlier; HyperPod lists those it supports.
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
KubernetesVersion = Literal["1.30", "1.31", "1.32", "1.33", "1.34", "1.35"]
HYPERPOD_KUBERNETES_VERSIONS: tuple[str, ...] = get_args(KubernetesVersion)
ANYWHERE = "0.0.0.0/0"
DAEMON_SET_ADDONS = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
"""Add-ons whose pods are DaemonSets, healthy with no node."""
DNS_ADDON, FSX_ADDON = "coredns", "aws-fsx-csi-driver"
Addon = Literal["vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns", "aws-fsx-csi-driver"]

# Quota "Public endpoint access CIDR ranges per cluster".
# https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
_MOST_PUBLIC_ACCESS_CIDRS = 40


class EksConfig(Section):
    """The Kubernetes control plane: a new one, or one that exists."""

    cluster_name: Annotated[
        str | None,
        Field(pattern=rf"^{EKS_NAME}$"),
        Message(
            "must be 1 to 100 letters, digits, hyphens and underscores, the first one a "
            "letter or digit"
        ),
        Field(examples=["another"]),
    ] = None
    """Name of the EKS cluster that is made; it cannot be changed later. Default: `<name>-eks`."""

    cluster_arn: EksClusterArn | None = None
    """ARN of an EKS cluster of your own, of this account and region, instead; it cannot be changed
    later. Needs network.vpc_id and network.security_group_id, those of the cluster. version,
    endpoint_access and public_access_cidrs then describe it and do not change it; node_groups
    follow version: their nodes are replaced. Default: a cluster is made."""

    set_authentication_mode: bool = False
    """Whether to change the authentication mode of cluster_arn from CONFIG_MAP to
    API_AND_CONFIG_MAP, which HyperPod needs; EKS never changes it back. Default: false."""

    addons: Annotated[Listed[Addon], Field(examples=[["eks-pod-identity-agent"]])] = ()
    """EKS add-ons to install on cluster_arn, and to remove with the deployment; only such as it
    does not have. Default: none. A cluster that is made has all that it needs."""

    oidc_provider_arn: OidcProviderArn | None = None
    """ARN of the IAM OIDC provider of cluster_arn, which operators.inference_operator needs: its
    pods have roles by service accounts (IRSA). Default: none. For a cluster that is made, the
    deployment makes it."""

    version: Annotated[KubernetesVersion, Field(examples=["1.34", "1.33"])] = "1.35"
    """Kubernetes version, in quotes. Versions outside 1.33 to 1.35, which the provisioner's kubectl
    and Helm support, cause a warning."""

    endpoint_access: Literal["public_and_private", "private", "public"] = "public_and_private"
    """From where the Kubernetes API server can be reached: public_and_private, private or
    public."""

    public_access_cidrs: Annotated[Listed[Cidr], Field(examples=[["192.0.2.0/24"]])] = (ANYWHERE,)
    """IPv4 CIDR blocks that may reach the public endpoint; without effect when endpoint_access is
    private. To open a narrower list again, add 0.0.0.0/0 to it: CloudFormation refuses to take it
    away. Default: anywhere; IAM controls access."""

    admins: Annotated[Listed[PrincipalArn], judged(listed_once)] = ()
    """ARNs of IAM roles and users that have admin access to the Kubernetes cluster. Default: only
    the provisioner."""

    viewers: Listed[PrincipalArn] = ()
    """ARNs of IAM roles and users with read access to Kubernetes' own objects in every namespace:
    pods and their logs, jobs, services, claims. They cannot read secrets, nodes or custom
    resources, such as a PyTorchJob. Default: none."""

    editors: Annotated[
        Listed[EditorsConfig],
        Field(
            examples=[
                [
                    {
                        "namespaces": ["team-b"],
                        "principals": ["arn:aws:iam::111122223333:role/Another"],
                    }
                ]
            ]
        ),
    ] = ()
    """Who runs jobs in which namespaces. Default: admins only."""

    secrets_kms_key_arn: KmsKeyArn | None = None
    """ARN of a symmetric KMS key of this region that encrypts Kubernetes secrets; it cannot be
    changed later. Default: a key that AWS owns."""

    deletion_protection: bool = False
    """Whether EKS refuses to delete the cluster until this is false again, rather than left out.
    Default: false."""

    @property
    def is_reachable_from_anywhere(self) -> bool:
        """Whether a client with an unknown address can connect to the API server."""
        if self.endpoint_access == "private":
            return False
        # Blocks such as 0.0.0.0/1 and 128.0.0.0/1 are every address together.
        return IPv4Network(ANYWHERE) in collapse_addresses(
            map(IPv4Network, self.public_access_cidrs)
        )

    @property
    def stated_public_access_cidrs(self) -> tuple[str, ...] | None:
        """The blocks that the template lists; None for EKS's default, which is anywhere."""
        if self.public_access_cidrs == (ANYWHERE,):
            return None
        # Blocks of a private endpoint mean nothing, but that a template lists none is refused
        # after one that did: https://github.com/aws/aws-cdk/issues/37926
        return () if self.endpoint_access == "private" else self.public_access_cidrs

    @property
    def stated_deletion_protection(self) -> bool | None:
        """What the template says of the protection; None if the section does not."""
        return self.deletion_protection if "deletion_protection" in self.model_fields_set else None

    @property
    def is_existing(self) -> bool:
        """Whether the deployment makes no control plane."""
        return self.cluster_arn is not None

    def addons_among(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return which of some add-ons the deployment installs: all on a cluster that it makes."""
        return tuple(name for name in names if not self.is_existing or name in self.addons)

    @field_validator("public_access_cidrs")
    @classmethod
    def _check_public_access(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        refuse(_public_access_findings(value, endpoint_access=info.data.get("endpoint_access")))
        return value

    def _findings(self) -> Iterator[Finding]:
        return existing_cluster_findings(dict(self))

    @field_validator("viewers")
    @classmethod
    def _check_viewers(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        refuse([*listed_once(value), *admin_findings(value, admins=info.data.get("admins", ()))])
        return value

    @field_validator("editors")
    @classmethod
    def _check_editors(
        cls, value: tuple[EditorsConfig, ...], info: ValidationInfo
    ) -> tuple[EditorsConfig, ...]:
        admins = info.data.get("admins", ())
        refuse(
            finding.under(index, "principals")
            for index, editors in enumerate(value)
            for finding in admin_findings(editors.principals, admins=admins)
        )
        return value


def _public_access_findings(
    cidrs: Sequence[str], *, endpoint_access: str | None
) -> Iterator[Finding]:
    if not 1 <= len(cidrs) <= _MOST_PUBLIC_ACCESS_CIDRS:
        message = (
            f"must list 1 to {_MOST_PUBLIC_ACCESS_CIDRS} blocks (with none, EKS opens the endpoint "
            "to everyone); for no public access set endpoint_access: private"
        )
        yield Finding(value=list(cidrs), message=message)
    elif endpoint_access == "public" and ANYWHERE not in cidrs:
        message = (
            "would lock the nodes out, whose traffic then comes from the NAT gateways; "
            "set endpoint_access: public_and_private"
        )
        yield Finding(value=list(cidrs), message=message)
    for index, cidr in enumerate(cidrs):
        if is_private(cidr):
            message = "is a private block, which EKS refuses here; private access needs no listing"
            yield error((index,), cidr, message)
        elif cidr in cidrs[:index]:
            yield error((index,), cidr, "is listed twice; list each block once")
