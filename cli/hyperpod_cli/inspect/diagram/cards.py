"""What the picture says of each resource."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cli.aws.assembly import Address, Stack, TemplateResource, text
from hyperpod_cli.inspect.diagram.card import Card, Column, Surroundings
from hyperpod_cli.inspect.diagram.network_cards import security_group_card, vpc_card
from hyperpod_shared.clusters import groups_of, node_type, partitions_of

_HYPERPOD_CLUSTERS = ("AWS::SageMaker::Cluster", "Custom::HyperPodCluster")
_KEPT = ("Retain", "RetainExceptOnCreate")


def card(resource: TemplateResource, surroundings: Surroundings) -> Card:
    """Return what the picture says of a resource; of a type without a card, its name alone."""
    make = _CARDS.get(resource.type)
    if make is not None:
        return make(resource, surroundings)
    *service, kind = resource.type.split("::")[1:]
    words = [
        word if word.isupper() else word.lower()
        for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", kind)
    ]
    given = (resource.properties.get(key) for key in (f"{kind}Name", "Name", "Alias"))
    name = next((text(each) for each in given if each is not None), "")
    title = " ".join((*service, *words))
    return Card(kind=title[0].upper() + title[1:], name=name)


def subnets_of_clusters(stacks: Sequence[Stack]) -> frozenset[Address]:
    """Return the subnets in which HyperPod puts nodes."""
    subnets = {item.address for stack in stacks for item in stack.of_type("AWS::EC2::Subnet")}
    clusters = [
        item for stack in stacks for kind in _HYPERPOD_CLUSTERS for item in stack.of_type(kind)
    ]
    return frozenset(address for item in clusters for address in item.needs if address in subnets)


def _eks_cluster(cluster: TemplateResource, around: Surroundings) -> Card:
    network = cluster.properties["ResourcesVpcConfig"]
    open_to = [
        name
        for name, key in (("public", "EndpointPublicAccess"), ("private", "EndpointPrivateAccess"))
        if network.get(key)
    ]
    addons = [text(item.properties["AddonName"]) for item in around.of_type("AWS::EKS::Addon")]
    return Card(
        kind="EKS cluster",
        name=text(cluster.properties["Name"]),
        lines=(
            f"Kubernetes {text(cluster.properties['Version'])}, "
            f"authentication mode {text(cluster.properties['AccessConfig']['AuthenticationMode'])}",
            f"{' and '.join(open_to)} endpoint",
            f"add-ons: {', '.join(addons)}",
        ),
    )


def _kept(resource: TemplateResource) -> tuple[str, ...]:
    return ("kept when the stack is deleted",) if resource.deletion_policy in _KEPT else ()


def _bucket(bucket: TemplateResource, around: Surroundings) -> Card:
    logged = len(around.of_type("AWS::S3::Bucket")) > 1
    return Card(
        kind="S3 bucket",
        name=text(bucket.properties.get("BucketName", "")),
        lines=("access logs in a second bucket",) if logged else (),
    )


def _lifecycle_scripts(scripts: TemplateResource, _: Surroundings) -> Card:
    files = json.loads(text(scripts.properties["Keys"]))
    return Card(kind="Lifecycle scripts", lines=(f"{len(files)} files, run on each node",))


def _function(function: TemplateResource, around: Surroundings) -> Card:
    machines = around.of_type("AWS::StepFunctions::StateMachine")
    if not machines:
        described = function.properties.get("Description")
        return Card(kind="Lambda function", lines=() if described is None else (text(described),))
    functions = around.of_type("AWS::Lambda::Function")
    return Card(
        kind="Provisioner",
        lines=(
            "serves the custom resources",
            f"{len(functions)} Lambda functions, {len(machines)} Step Functions state machine",
        ),
    )


def _role(role: TemplateResource, _: Surroundings) -> Card:
    policies = [
        text(arn).rpartition("/")[2] for arn in role.properties.get("ManagedPolicyArns", ())
    ]
    return Card(
        kind="IAM role",
        name=text(role.properties.get("RoleName", "")),
        lines=(text(role.properties.get("Description", "")), *policies),
    )


def _file_system(system: TemplateResource, around: Surroundings) -> Card:
    kept = _kept(system)
    if system.properties["FileSystemType"] == "OPENZFS":
        settings = system.properties["OpenZFSConfiguration"]
        throughput = text(settings.get("ThroughputCapacity"))
        size = f"{text(system.properties['StorageCapacity'])} GiB, {throughput} MB/s"
        return Card(kind="FSx for OpenZFS", lines=(size, *kept))
    buckets = tuple(
        f"linked to {text(item.properties['DataRepositoryPath'])}"
        for item in around.of_type("AWS::FSx::DataRepositoryAssociation")
        if system.address in item.needs
    )
    return Card(kind="FSx for Lustre", lines=(_lustre_size(system), *buckets, *kept))


def _lustre_size(system: TemplateResource) -> str:
    lustre = system.properties.get("LustreConfiguration", {})
    efa = ", EFA" if lustre.get("EfaEnabled") else ""
    if "StorageCapacity" not in system.properties:
        return f"Intelligent-Tiering, {text(lustre.get('ThroughputCapacity'))} MB/s{efa}"
    return (
        f"{text(system.properties['StorageCapacity'])} GiB, "
        f"{text(lustre.get('PerUnitStorageThroughput'))} MB/s/TiB{efa}"
    )


def _database(database: TemplateResource, _: Surroundings) -> Card:
    given = database.properties
    size = f"{text(given['DBInstanceClass'])}, {text(given['AllocatedStorage'])} GiB"
    standby = ", a standby" if given.get("MultiAZ") else ""
    lines = (
        f"{size}{standby}, backups for {text(given['BackupRetentionPeriod'])} days",
        *_kept(database),
    )
    return Card(kind="RDS for MariaDB", name="Slurm accounting", lines=lines)


def _key(key: TemplateResource, _: Surroundings) -> Card:
    rotated = ("rotated every year",) if key.properties.get("EnableKeyRotation") else ()
    return Card(kind="KMS key", lines=("encrypts the deployment's data", *rotated, *_kept(key)))


def _hyperpod_cluster(cluster: TemplateResource, _: Surroundings) -> Card:
    # The properties of the native type are the request itself.
    given = cluster.properties.get("Request")
    request = cluster.properties if given is None else json.loads(text(given))
    groups = [*groups_of(request).values()]
    half = (len(groups) + 1) // 2
    cards = [_instance_group(group) for group in groups]
    provisioning = request.get("NodeProvisioningMode", "all-or-nothing")
    return Card(
        kind="HyperPod cluster",
        name=text(cluster.properties["ClusterName"]),
        lines=(
            f"node recovery {request.get('NodeRecovery')}, provisioning {provisioning}",
            *_of_slurm(request, groups),
        ),
        columns=tuple(
            Column(title="", cards=tuple(part)) for part in (cards[:half], cards[half:]) if part
        ),
    )


def _of_slurm(request: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what Slurm and HyperPod do on the nodes, where Slurm orchestrates them."""
    slurm = request["Orchestrator"].get("Slurm")
    if slurm is None:
        return
    accounting = ", with accounting in a database" if "AccountingDatabase" in slurm else ""
    yield f"orchestrated by Slurm{accounting}"
    storage = (each for group in groups for each in group.get("InstanceStorageConfigs") or ())
    mounted = (mount for each in storage for mount in each.values() if "DnsName" in mount)
    mounts = {str(mount.get("MountPath", "HyperPod's choice")) for mount in mounted}
    if mounts:
        yield f"file systems mounted at {', '.join(sorted(mounts))}"


def _instance_group(group: Mapping[str, Any]) -> Card:
    requirements = group.get("InstanceRequirements")
    several = requirements["InstanceTypes"] if isinstance(requirements, Mapping) else ()
    types = " or ".join(several) or str(group.get("InstanceType"))
    return Card(
        kind=_kind_of_group(group),
        name=str(group["InstanceGroupName"]),
        lines=(f"{group['InstanceCount']} of {types}",),
    )


def _node_group(group: TemplateResource, _: Surroundings) -> Card:
    given = group.properties
    sizes = given["ScalingConfig"]
    types = " or ".join(text(each) for each in given["InstanceTypes"])
    capacity = text(given["CapacityType"]).replace("_", " ").lower()
    least, most = (text(sizes[key]) for key in ("MinSize", "MaxSize"))
    return Card(
        kind="EKS node group",
        name=text(given["NodegroupName"]),
        lines=(f"{least} to {most} of {types}, {capacity}",),
    )


def _budget(budget: TemplateResource, _: Surroundings) -> Card:
    limit = budget.properties["Budget"]["BudgetLimit"]
    return Card(kind="Budget", lines=(f"{text(limit['Amount'])} {text(limit['Unit'])} a month",))


def _kind_of_group(group: Mapping[str, Any]) -> str:
    names = partitions_of(group)
    if names:
        return f"Partition {', '.join(names)}: group"
    return f"{node_type(group).capitalize() or 'Instance'} group"


def _named(kind: str, key: str, line: str = "", shown: str = "") -> Callable[..., Card]:
    """Return what makes the card of a kind by the property that is its name, or without one."""

    def make(resource: TemplateResource, _: Surroundings) -> Card:
        given = resource.properties
        lines = (line.format(text(given.get(shown, ""))),) if line else ()
        return Card(kind=kind, name=text(given[key]) if key else "", lines=lines)

    return make


_CARDS: Mapping[str, Callable[[TemplateResource, Surroundings], Card]] = {
    "AWS::Budgets::Budget": _budget,
    "AWS::EC2::SecurityGroup": security_group_card,
    "AWS::EC2::VPC": vpc_card,
    "AWS::EKS::Addon": _named("EKS add-on", "AddonName"),
    "AWS::EKS::Cluster": _eks_cluster,
    "AWS::EKS::Nodegroup": _node_group,
    "AWS::FSx::FileSystem": _file_system,
    "AWS::IAM::Role": _role,
    "AWS::KMS::Key": _key,
    "AWS::Lambda::Function": _function,
    "AWS::RDS::DBInstance": _database,
    "AWS::S3::Bucket": _bucket,
    "AWS::SageMaker::Cluster": _hyperpod_cluster,
    "Custom::DeletionCheck": _named("Deletion check", "", "keeps users' objects and running jobs"),
    "Custom::EksAuthenticationMode": _named(
        "Authentication mode", "ClusterName", "lets the cluster know access entries"
    ),
    "Custom::FileSystemAvailability": _named(
        "Availability", "", "waits until the file system can be mounted"
    ),
    "Custom::HelmRelease": _named("Helm release", "Release", "namespace {}", "Namespace"),
    "Custom::HyperPodCluster": _hyperpod_cluster,
    "Custom::LifecycleScripts": _lifecycle_scripts,
}
