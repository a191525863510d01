"""What EKS adds to the stacks: a control plane, Helm releases, claims."""

import aws_cdk as cdk
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.cluster import eks_cluster_of
from hyperpod_cdk.eks.namespace_isolation import NamespaceIsolation
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_cdk.helm.dependencies import HyperPodDependencies, PlaceholderRule
from hyperpod_cdk.helm.release import DeletionCheck, PriorityClasses
from hyperpod_cdk.hyperpod.node_pools import NodePools
from hyperpod_cdk.hyperpod.orchestrator import Eks
from hyperpod_cdk.node_health.node_health import NodeHealth
from hyperpod_cdk.provisioner.access import ProvisionerAccess
from hyperpod_cdk.storage.claims import FileSystemClaims
from hyperpod_stacks.orchestration.orchestration import FileSystem, Orchestration, Platform
from hyperpod_stacks.packaged_chart import pinned_chart


class EksOrchestration(Orchestration):
    """Amazon EKS: each node is a node of a Kubernetes cluster.

    Without a chart, the dependencies are the one to deploy, or a placeholder.

    Raises:
        HyperPodChartError: The chart cannot be read.
    """

    runs_helm = True

    def __init__(self, *, config: Config, chart: HyperPodChart | None) -> None:
        self._config = config
        self._chart = chart or pinned_chart(config)
        self._cluster: eks.ICluster | None = None
        self._dependencies: HyperPodDependencies | None = None
        self._made: dict[str, Construct] = {}  # by the namespace that it makes

    @property
    def cluster(self) -> eks.ICluster:
        """The EKS cluster, once it is added to the platform."""
        assert self._cluster is not None  # noqa: S101 - the platform is the first stack
        return self._cluster

    @property
    def orchestrator(self) -> Eks:
        """What the HyperPod cluster and its nodes' role know of it."""
        return Eks(cluster=self.cluster)

    def add_to_stack(self, stack: cdk.Stack) -> None:
        """Let CloudFormation refuse a stack while the official chart is not packaged."""
        if self._chart.is_placeholder:
            PlaceholderRule(stack, "Chart")

    def add_to_platform(self, scope: Construct, platform: Platform) -> None:
        """Add the control plane, and the provisioner's access to it."""
        config = self._config
        control_plane = eks_cluster_of(
            scope,
            "Eks",
            cluster_name=config.eks_cluster_name,
            eks=config.eks_of_teams,
            vpc=platform.network.vpc,
            subnets=platform.network.eks_subnets,
            security_group=platform.security_group,
            secrets_key=platform.keys.eks_secrets,
            log_groups=platform.log_groups,
            provisioner=platform.provisioner,
        )
        self._cluster = control_plane.cluster
        access = ProvisionerAccess(
            scope,
            "ProvisionerAccess",
            cluster=self.cluster,
            provisioner=platform.provisioner,
            joins_hyperpod=config.cluster.exists,
            depends_on=control_plane.before_access,
        )
        editors = config.eks_of_teams.editors
        if editors:
            # The namespaces of editors limit their pods before the editors get in.
            isolation = NamespaceIsolation(
                scope,
                "EditorsPodSecurity",  # its name in what is deployed
                cluster=self.cluster,
                provisioner=platform.provisioner,
                editors=editors,
                network=config.network,
                trusted_namespaces=config.closed_namespaces,
                queues=config.governance is not None,
                dynamic_storage=config.storage is not None and config.storage.dynamic_provisioning,
                depends_on=[access],
            )
            self._made = dict.fromkeys(isolation.namespaces, isolation)
            principals = {arn for each in editors for arn in (*each.principals, *each.viewers)}
            for principal in sorted(principals):
                control_plane.entries[principal].node.add_dependency(isolation)

    @property
    def token_issuer_url(self) -> str | None:
        """The OIDC issuer of an EKS cluster that is made."""
        cluster = self.cluster
        if not isinstance(cluster, eks.Cluster):
            return None
        return cluster.cluster_open_id_connect_issuer_url

    @property
    def platform_outputs(self) -> dict[str, str]:
        """The outputs of the platform stack that name the EKS cluster."""
        return {
            "EKSClusterName": self.cluster.cluster_name,
            "EKSClusterArn": self.cluster.cluster_arn,
        }

    @property
    def further_outputs(self) -> dict[str, str]:
        """What gives an IAM principal admin access to the Kubernetes cluster."""
        stack = cdk.Stack.of(self.cluster)
        entry = (
            f"--cluster-name {self.cluster.cluster_name} --region {stack.region} "
            "--principal-arn PRINCIPAL_ARN"
        )
        policy = f"arn:{stack.partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
        command = (
            f"aws eks create-access-entry {entry} && aws eks associate-access-policy {entry} "
            f"--policy-arn {policy} --access-scope type=cluster"
        )
        return {"GrantAdminCommand": command}

    def mount(
        self, scope: Construct, construct_id: str, file_system: FileSystem, *, platform: Platform
    ) -> None:
        """Give a file system the volumes and claims through which pods mount it.

        Of several file systems, the first that is to make a namespace does.
        """
        claims = file_system.files.claims
        made = {each.namespace for each in claims if each.create_namespace}
        made_before = {each.namespace for each in claims} & self._made.keys()
        mounted = FileSystemClaims(
            scope,
            construct_id,
            cluster=self.cluster,
            provisioner=platform.provisioner,
            file_system_id=file_system.identifier,
            mount=file_system.availability,
            files=file_system.files,
            key=file_system.key,
            namespaces=sorted(made - made_before),
            provisioning=file_system.provisioning,
            image_registry=self._config.helm.image_registry,
            depends_on=[self._made[namespace] for namespace in sorted(made_before)],
        )
        self._made |= dict.fromkeys(made - made_before, mounted)

    def add_before_nodes(self, scope: Construct, platform: Platform) -> list[Construct]:
        """Add the Helm releases to the first stack with nodes; return those that nodes need."""
        if self._dependencies is not None:
            return []
        config, provisioner = self._config, platform.provisioner
        self._dependencies = HyperPodDependencies(
            scope,
            "Dependencies",
            cluster=self.cluster,
            provisioner=provisioner,
            chart=self._chart,
            helm=config.helm,
            instance_types=config.instance_types,
        )
        before_cluster: list[Construct] = [self._dependencies]
        if config.helm.priority_classes:
            before_cluster.append(
                PriorityClasses(
                    scope,
                    "PriorityClasses",
                    cluster=self.cluster,
                    provisioner=provisioner,
                    classes=config.helm.priority_classes,
                    namespace=config.helm.namespace,
                )
            )
        # The cluster does not wait for it: a node joins without it.
        if config.node_health is not None:
            NodeHealth(
                scope,
                "NodeHealth",
                cluster=self.cluster,
                provisioner=provisioner,
                health=config.node_health,
                instance_types=config.cluster.instance_types,
            )
        return before_cluster

    def add_after_cluster(
        self, scope: Construct, platform: Platform, *, cluster: IDependable
    ) -> None:
        """Add node pools, and a check with which the deletion of the stack begins."""
        if self._config.cluster.node_pools:
            NodePools(
                scope,
                "NodePools",
                cluster=self.cluster,
                provisioner=platform.provisioner,
                hyperpod=self._config.cluster,
                depends_on=[cluster],
            )
        self.add_after_nodes(scope, platform)

    def add_after_nodes(self, scope: Construct, platform: Platform) -> None:
        """Add a check with which the deletion of the stack with the Helm releases begins."""
        if self._dependencies is None or self._dependencies.node.scope is not scope:
            return
        # CloudFormation deletes it first, so it depends on all there is.
        everything = list(scope.node.children)
        DeletionCheck(
            scope,
            "DeletionCheck",
            cluster=self.cluster,
            provisioner=platform.provisioner,
            releases=[self._dependencies],
            delete_user_objects=self._config.helm.delete_user_objects,
            depends_on=everything,
        )
