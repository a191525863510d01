"""The Kubernetes version is one that the add-on of task governance is pinned for."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cdk.schema.errors import Findings, error
from hyperpod_cdk.schema.limits import is_token
from hyperpod_shared.governance import ADDON


def governance_version(config: Config) -> Findings:
    """Find a Kubernetes version without a version of the add-on, whose Kueue needs a newer one.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup.html
    """
    version = config.eks.version
    fitting = [name for name, pins in ADDON_VERSIONS.items() if ADDON in pins]
    if config.governance is None or is_token(version) or version in fitting:
        return
    message = (
        f"must be one of {', '.join(fitting)} for task governance, whose Kueue is not pinned for "
        "others; or leave governance out"
    )
    yield error(("eks", "version"), version, message)
