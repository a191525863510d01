"""What is still there after `cdk destroy`."""

from rehearsal.aws_clients import AwsClients
from rehearsal.environment import RehearsalEnvironment

# Made by `cdk bootstrap`, which destroying an app does not undo.
_BOOTSTRAP = "cdk-hnb659fds-"


def retained(clients: AwsClients) -> list[str]:
    """Return the resources that the stacks keep on purpose: files, and access logs."""
    file_systems = clients("fsx").describe_file_systems()["FileSystems"]
    buckets = clients("s3").list_buckets()["Buckets"]
    return [
        *(f"FSx for Lustre file system {item['FileSystemId']}" for item in file_systems),
        *(
            f"S3 bucket {bucket['Name']}"
            for bucket in buckets
            if not bucket["Name"].startswith(_BOOTSTRAP)
        ),
    ]


def forgotten(environment: RehearsalEnvironment, *, stacks: list[str]) -> list[str]:
    """Return what should be gone and is not: stacks, clusters, nodes, releases."""
    clients = environment.clients
    existing = clients("cloudformation").describe_stacks()["Stacks"]
    return [
        *(f"stack {item['StackName']}" for item in existing if item["StackName"] in stacks),
        *(
            f"HyperPod cluster {item['ClusterName']}"
            for item in clients("sagemaker").list_clusters()["ClusterSummaries"]
        ),
        *(f"EKS cluster {name}" for name in clients("eks").list_clusters()["clusters"]),
        *(
            f"node {node['metadata']['name']}"
            for node in environment.kubernetes.objects("v1", "Node")
        ),
        *(
            f"Helm release {secret['metadata']['labels']['name']}"
            for secret in environment.kubernetes.objects("v1", "Secret")
            if secret["metadata"].get("labels", {}).get("owner") == "helm"
        ),
    ]
