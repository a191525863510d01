"""What must hold after a deployment: the documented verify commands, and the AWS side of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from hyperpod_cdk import Config
from hyperpod_cdk.config.stack_names import stack_name
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from rehearsal.aws.clients import AwsClients
from rehearsal.report import Check
from rehearsal.verification.commands import ClusterTools, installation_commands
from rehearsal.verification.encryption import encryption_checks
from rehearsal.verification.expectation import expect
from rehearsal.verification.inspection import running_nodes, wanted_nodes
from rehearsal.verification.storage import storage_checks


def verify(
    config: Config,
    *,
    tools: ClusterTools,
    clients: AwsClients,
    outputs: Mapping[str, Mapping[str, str]],
) -> Iterator[Check]:
    """Yield each check as it is done."""
    yield from _commands(config, tools=tools)
    yield from _cluster(config, clients=clients)
    if config.cluster.resource == "custom":
        yield _shortage(outputs[stack_name(config, "hyperpod")])
    yield from _platform(config, clients=clients, outputs=outputs[stack_name(config, "platform")])
    yield from _addons(config, clients=clients)
    if config.storage is not None:
        names = outputs[stack_name(config, "storage")]
        yield from storage_checks(config.storage, tools=tools, clients=clients, outputs=names)
    together = {name: value for each in outputs.values() for name, value in each.items()}
    yield from encryption_checks(config, clients=clients, outputs=together)


def _commands(config: Config, *, tools: ClusterTools) -> Iterator[Check]:
    release, namespace = config.helm.release, config.helm.namespace
    for command in installation_commands(config):
        yield Check(check=command, ok=tools.run(command)[0])
    if config.components.mpi_operator:
        yield expect(
            tools,
            "kubectl get crd mpijobs.kubeflow.org -o jsonpath={.status.storedVersions[]}",
            lambda text: text == "v2beta1",
        )
    yield expect(
        tools,
        f"helm list -n {namespace} -o json",
        lambda text: any(
            item["name"] == release and item["status"] == "deployed" for item in json.loads(text)
        ),
    )
    wanted = wanted_nodes(config)
    yield expect(
        tools,
        "kubectl get nodes -l sagemaker.amazonaws.com/node-health-status=Schedulable -o name",
        lambda text: len(text.split()) == wanted,
    )


def _cluster(config: Config, *, clients: AwsClients) -> Iterator[Check]:
    sagemaker = clients("sagemaker")
    name = config.cluster.name
    status = sagemaker.describe_cluster(ClusterName=name)["ClusterStatus"]
    yield Check(
        check=f"aws sagemaker describe-cluster --cluster-name {name}: InService",
        ok=status == "InService",
    )
    wanted = wanted_nodes(config)
    yield Check(
        check=f"aws sagemaker list-cluster-nodes --cluster-name {name}: {wanted} Running",
        ok=running_nodes(config, clients=clients) == wanted,
    )


def _shortage(outputs: Mapping[str, str]) -> Check:
    told = outputs["HyperPodClusterShortage"]
    shortage = "the output HyperPodClusterShortage is none"
    return Check(check=shortage if told == "none" else f"{shortage}, not {told}", ok=told == "none")


def _platform(
    config: Config, *, clients: AwsClients, outputs: Mapping[str, str]
) -> Iterator[Check]:
    listed = clients("s3").list_objects_v2(Bucket=outputs["S3BucketName"])
    keys = [item["Key"] for item in listed.get("Contents", [])]
    script = "/".join(filter(None, (config.lifecycle_scripts.prefix, "on_create.sh")))
    yield Check(check=f"aws s3 ls s3://{outputs['S3BucketName']}: {script}", ok=script in keys)
    in_vpc = [{"Name": "vpc-id", "Values": [outputs["VpcId"]]}]
    ec2 = clients("ec2")
    tables = ec2.describe_route_tables(Filters=in_vpc)["RouteTables"]
    used = {
        route["NatGatewayId"]
        for table in tables
        for route in table["Routes"]
        if "NatGatewayId" in route
    }
    wanted = config.network.nat_gateway_count
    if config.network.vpc_id is None:
        yield Check(check=f"all {wanted} NAT gateways are routed to", ok=len(used) == wanted)
    cluster = clients("eks").describe_cluster(name=outputs["EKSClusterName"])["cluster"]
    mode = cluster["accessConfig"]["authenticationMode"]
    modes = {"API", "API_AND_CONFIG_MAP"} if config.eks.is_existing else {"API"}
    yield Check(check="EKS authentication mode has access entries", ok=mode in modes)


def _addons(config: Config, *, clients: AwsClients) -> Iterator[Check]:
    cluster, pinned = config.eks_cluster_name, ADDON_VERSIONS[config.eks.version]
    eks = clients("eks")
    for name in eks.list_addons(clusterName=cluster)["addons"]:
        addon = eks.describe_addon(clusterName=cluster, addonName=name)["addon"]
        ours = bool(config.eks.addons_among([name]))
        version = pinned.get(name, addon["addonVersion"]) if ours else addon["addonVersion"]
        yield Check(
            check=f"aws eks describe-addon --addon-name {name}: ACTIVE, {version}",
            ok=(addon["status"], addon["addonVersion"]) == ("ACTIVE", version),
        )
