"""The check with which the deletion of a stack begins."""

import json
from collections.abc import Sequence

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.provisioner.provisioner import Provisioner, ask_for_stack


class DeletionCheck(Construct):
    """Refuses the deletion of its stack while users would lose something, before it begins.

    That is: objects in the namespaces, and of the CustomResourceDefinitions, that the releases
    delete; and jobs that run on the nodes. CloudFormation deletes first what nothing depends on, so
    the check must depend on everything else in its stack. A rollback is never refused.

    To consent, set `delete_user_objects`, or tag the EKS cluster as the refusal says, which works
    for a stack that cannot be updated too.

    Args:
        cluster: The EKS cluster.
        provisioner: Looks; needs `ProvisionerAccess` to the cluster.
        releases: Helm releases of the stack.
        delete_user_objects: Whether users' objects and running jobs may be lost. Default: no.
        depends_on: Everything else in the stack.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        releases: Sequence[HelmRelease],
        delete_user_objects: bool = False,
        depends_on: Sequence[IDependable],
    ) -> None:
        super().__init__(scope, construct_id)
        access = provisioner.grant(self, "Access", statements=[ask_for_stack(self)])
        provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::DeletionCheck",
            properties={
                "ClusterName": cluster.cluster_name,
                "Releases": json.dumps(
                    [f"{release.namespace}/{release.release}" for release in releases]
                ),
                "DeleteUserObjects": json.dumps(delete_user_objects),
            },
            depends_on=[access, *depends_on],
        )
