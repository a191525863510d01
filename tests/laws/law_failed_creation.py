"""A first creation that fails deletes what it has made, but for what is kept and can be read.

CloudFormation deletes what has RetainExceptOnCreate then, and keeps what has Retain; a protected
resource is not deleted:
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
"""

from collections.abc import Iterator

from tests.support.configs import REPOSITORY
from tests.support.laws import Deployment, Resource

# By type: what failed-deployments.md says of it.
_DESCRIBED = {
    "AWS::EKS::Cluster": "eks.deletion_protection",
    "AWS::RDS::DBInstance": "database of Slurm accounting",
}
_RETAINED = "Retain"


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each resource that a failed creation leaves without a word, or unusable."""
    return [*_protected(deployment), *_unreadable(deployment)]


def _protected(deployment: Deployment) -> Iterator[str]:
    page = (REPOSITORY / "docs" / "failed-deployments.md").read_text("utf-8")
    for resource in deployment.resources:
        flags = (value for key, value in resource.properties.items() if "DeletionProtection" in key)
        if any(each is True for each in flags) and _policy(resource) != _RETAINED:
            words = _DESCRIBED.get(resource.type)
            if words is None or words not in page:
                yield resource.violation(
                    "is protected from the deletion that a failed creation begins",
                    allowed="retained, or named by docs/failed-deployments.md",
                )


def _unreadable(deployment: Deployment) -> Iterator[str]:
    for resource in deployment.resources:
        for name in ("KmsKeyId", "KMSMasterKeyID", "KmsMasterKeyId"):
            key = deployment.referred(resource.stack, resource.properties.get(name))
            if key is not None and _policy(resource) == _RETAINED != _policy(key):
                yield resource.violation(
                    f"stays, and {key.logical_id}, which encrypts it, goes with a failed creation",
                    allowed="both stay, or both go",
                )


def _policy(resource: Resource) -> str:
    return str(resource.attributes.get("DeletionPolicy", "Delete"))
