"""Whether anybody is let into the Kubernetes cluster."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, warning


def no_admins(config: Config) -> Findings:
    """Find a cluster that only the deployment can use.

    Who deploys gets no access with it: CloudFormation creates the cluster, and the configuration
    grants no rights to the creator. It is no rule of the control plane itself, to which an app of
    its own may grant access later. A cluster that exists has its users.

    https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html
    """
    if not config.eks.admins and not config.eks.is_existing:
        yield warning(
            ("eks", "admins"),
            [],
            "gives no one access to the Kubernetes cluster, including you; list ARNs of IAM roles "
            "or users, or grant access later with the command in the platform stack's output "
            "GrantAdminCommand",
        )
