"""What somebody wants to do with a configuration, and the keys to change for it."""

from collections.abc import Mapping, Sequence

TASKS: Mapping[str, Sequence[str]] = {
    "name the deployment, and run a second one beside it": ("name", "cluster.name"),
    "choose the region, and the zones": (
        "region",
        "network.availability_zone_ids",
        "network.hyperpod_subnets[].availability_zone_id",
    ),
    "fit the addresses into a network plan": (
        "network.vpc_cidr",
        "network.public_subnet_cidrs",
        "network.eks_subnet_cidrs",
        "network.hyperpod_subnets[].cidr",
    ),
    "keep the network off the internet": (
        "network.closed",
        "eks.endpoint_access",
        "helm.image_registry",
    ),
    "deploy into a VPC that exists": (
        "network.vpc_id",
        "network.eks_subnet_ids",
        "network.hyperpod_subnets[].subnet_id",
        "network.security_group_id",
    ),
    "save NAT gateways": ("network.nat_gateways",),
    "run nodes in a further zone": (
        "network.availability_zone_ids",
        "network.hyperpod_subnets",
        "cluster.instance_groups[].availability_zone_id",
    ),
    "add nodes, remove them, scale to 0": ("cluster.instance_groups[].instance_count",),
    "choose the hardware": (
        "cluster.instance_groups[].instance_type",
        "cluster.instance_groups[].instance_types",
    ),
    "use reserved capacity": ("cluster.instance_groups[].training_plan_arn",),
    "use Spot capacity": ("cluster.instance_groups[].capacity",),
    "let pending pods add nodes": ("cluster.auto_scaling", "cluster.role_arn"),
    "wait for all nodes, or for none": (
        "cluster.wait_for",
        "cluster.wait_minutes",
        "cluster.on_shortage",
        "cluster.node_provisioning_mode",
        "cluster.instance_groups[].min_instance_count",
    ),
    "test the hardware before a node joins": ("cluster.instance_groups[].deep_health_checks",),
    "decide what happens to a faulty node": ("cluster.node_recovery",),
    "check nodes by a script of your own": (
        "node_health.script",
        "node_health.action",
        "node_health.max_at_once",
    ),
    "patch the nodes' AMI, or pin it": (
        "cluster.software_update",
        "cluster.instance_groups[].auto_patch",
        "cluster.instance_groups[].scheduled_update",
        "cluster.instance_groups[].image_id",
        "cluster.instance_groups[].image_release_version",
    ),
    "run scripts of your own on each node": (
        "lifecycle_scripts.directory",
        "lifecycle_scripts.run",
        "cluster.instance_groups[].lifecycle.directory",
        "cluster.instance_groups[].lifecycle.source_s3_uri",
        "lifecycle_scripts.writers",
    ),
    "give nodes larger or encrypted volumes": (
        "cluster.instance_groups[].volume_size_gib",
        "cluster.instance_groups[].ebs_volumes",
    ),
    "steer pods to groups": (
        "cluster.instance_groups[].labels",
        "cluster.instance_groups[].taints",
        "helm.priority_classes",
    ),
    "give nodes rights of their own": (
        "cluster.data_buckets",
        "cluster.instance_groups[].execution_role_arn",
    ),
    "size the shared file system, or do without": (
        "storage",
        "storage.capacity_gib",
        "storage.throughput_mbps_per_tib",
    ),
    "use a file system that exists": ("storage.file_system_id",),
    "have several file systems, or home directories": (
        "storage.more_file_systems",
        "storage.home_directories",
    ),
    "mount a file system in a namespace": ("storage.claims[].namespace",),
    "reach the file system by EFA": ("storage.efa_enabled",),
    "read a data set from S3, and write checkpoints to it": (
        "storage.data_repositories[].s3_uri",
        "storage.data_repositories[].export_events",
    ),
    "delete the file system with its stack": (
        "storage.delete_with_stack",
        "storage.i_understand_all_files_are_deleted",
    ),
    "deploy to an EKS cluster that exists": (
        "eks.cluster_arn",
        "eks.set_authentication_mode",
        "eks.addons",
    ),
    "use a bucket or a role that exists": (
        "lifecycle_scripts.existing_bucket_name",
        "lifecycle_scripts.existing_bucket_kms_key_arn",
        "cluster.execution_role_arn",
    ),
    "name what is made": (
        "eks.cluster_name",
        "lifecycle_scripts.bucket_name",
        "cluster.execution_role_name",
    ),
    "upgrade Kubernetes": ("eks.version",),
    "let people use kubectl": ("eks.admins", "eks.viewers", "eks.editors"),
    "limit who reaches the Kubernetes API": ("eks.endpoint_access", "eks.public_access_cidrs"),
    "encrypt Kubernetes secrets with a key of yours": ("eks.secrets_kms_key_arn",),
    "protect the control plane from deletion": ("eks.deletion_protection",),
    "switch components of the Helm chart": ("helm.components", "helm.values"),
    "install a chart of your own": ("helm.chart",),
    "keep checkpoints in memory": ("cluster.tiered_storage",),
    "train Amazon Nova": ("cluster.restricted_instance_groups", "cluster.shared_environment"),
    "tag every resource": ("tags",),
}
"""The table at the start of docs/configuration.md: each task with its keys."""
