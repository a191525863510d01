"""An EKS cluster that exists, and its authentication mode."""

from collections.abc import Sequence

from aws_cdk import ArnFormat, Stack, aws_eks_v2
from constructs import Construct, IDependable

from hyperpod_cdk.eks.access import ADMIN, access_by_principal, add_access_entry
from hyperpod_cdk.eks.addons import add_addons
from hyperpod_cdk.eks.checks import eks_findings
from hyperpod_cdk.eks.section import DAEMON_SET_ADDONS, EksConfig
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.reasons import statement
from hyperpod_cdk.synthesis.refusals import report


class AuthenticationMode(Construct):
    """Lets an EKS cluster know access entries beside its `aws-auth` ConfigMap.

    Changes the mode `CONFIG_MAP` to `API_AND_CONFIG_MAP`, and no other. EKS never goes back, so
    nothing happens when it is deleted.
    https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html

    Args:
        cluster: The EKS cluster.
        provisioner: Changes it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: aws_eks_v2.ICluster,
        provisioner: Provisioner,
    ) -> None:
        super().__init__(scope, construct_id)
        access = provisioner.grant(
            self,
            "Access",
            statements=[
                statement(
                    self,
                    sid="SetAuthenticationMode",
                    why="It lets the EKS cluster know access entries, which nodes join by.",
                    added_by="`eks.set_authentication_mode`",
                    actions=["eks:DescribeCluster", "eks:UpdateClusterConfig"],
                    resources=[cluster.cluster_arn],
                )
            ],
        )
        provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::EksAuthenticationMode",
            properties={"ClusterName": cluster.cluster_name},
            depends_on=[access],
        )


class ImportedEksCluster(Construct):
    """An EKS control plane that exists, with the attributes of `EksCluster`.

    Access entries and the add-ons that are asked for are added to it, and go with the deployment.
    Nothing else of it is changed, but its authentication mode by `set_authentication_mode`.

    Args:
        cluster_arn: Its ARN; of this account and region.
        eks: Its version and endpoint as they are, access and add-ons.
        provisioner: Changes the authentication mode.

    Attributes:
        cluster: The EKS cluster.
        before_access: What must exist before the first access entry.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_arn: str,
        eks: EksConfig,
        provisioner: Provisioner,
    ) -> None:
        super().__init__(scope, construct_id)
        report(self, eks_findings(eks))
        arn = Stack.of(self).split_arn(cluster_arn, ArnFormat.SLASH_RESOURCE_NAME)
        self.cluster = aws_eks_v2.Cluster.from_cluster_attributes(
            self, "Cluster", cluster_name=str(arn.resource_name)
        )
        self.before_access: Sequence[IDependable] = ()
        if eks.set_authentication_mode:
            mode = AuthenticationMode(
                scope,
                f"{construct_id}AuthenticationMode",
                cluster=self.cluster,
                provisioner=provisioner,
            )
            self.before_access = (mode,)
            # Whatever is added to this construct, now or later, depends on the mode.
            self.node.add_dependency(mode)
        add_addons(
            self,
            eks.addons_among(DAEMON_SET_ADDONS),
            cluster=self.cluster,
            kubernetes_version=eks.version,
        )
        for principal, access in access_by_principal(eks).items():
            add_access_entry(self, cluster=self.cluster, principal_arn=principal, access=access)

    def grant_admin(self, principal_arn: str) -> aws_eks_v2.AccessEntry:
        """Give an IAM principal cluster admin rights through an access entry.

        Args:
            principal_arn: ARN of an IAM role or user; may be a token.
        """
        return add_access_entry(
            self, cluster=self.cluster, principal_arn=principal_arn, access=[ADMIN]
        )
