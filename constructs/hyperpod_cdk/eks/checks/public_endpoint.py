"""Who can reach the public endpoint of the control plane."""

from hyperpod_cdk.eks.section import ANYWHERE, EksConfig
from hyperpod_cdk.schema.errors import Findings, warning


def public_endpoint(eks: EksConfig) -> Findings:
    """Find an endpoint that everyone can reach because the configuration does not say who may.

    Requests still need IAM credentials with an access entry. Of a cluster that exists, the
    configuration only says what is.

    https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html
    """
    is_said = "public_access_cidrs" in eks.model_fields_set and ANYWHERE in eks.public_access_cidrs
    if eks.is_reachable_from_anywhere and not is_said and not eks.is_existing:
        yield warning(
            ("eks", "public_access_cidrs"),
            list(eks.public_access_cidrs),
            "lets every address reach the Kubernetes API; list the addresses that need it, set "
            "eks.endpoint_access: private, or write 0.0.0.0/0 to keep it so",
        )
