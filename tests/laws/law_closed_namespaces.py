"""No editor gets a namespace of an add-on, a chart or a Pod Identity association.

Its service accounts have rights on the cluster or in AWS, which an editor could use by a pod:
https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html
"""

import json
from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.eks.section import EditorsConfig, named_namespaces
from hyperpod_cdk.schema.errors import Severity
from tests.support.laws import Deployment, Resource

_TYPES = ("AWS::EKS::Addon", "AWS::EKS::PodIdentityAssociation", "Custom::HelmRelease")
_EDITOR = "arn:aws:iam::111122223333:role/Editor"


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each namespace that the rules leave to editors."""
    return [
        resource.violation(f"editors may get {name}", allowed="editors_namespaces refuses it")
        for resource in deployment.of_type(*_TYPES)
        for name in _namespaces(deployment, resource)
        if not _is_closed(deployment.config, name)
    ]


def _namespaces(deployment: Deployment, resource: Resource) -> Iterator[str]:
    properties = resource.properties
    for key, value in properties.items():
        if key == "Namespace":
            yield deployment.text(resource.stack, value)
        elif key == "NamespaceConfig":
            yield deployment.text(resource.stack, value["Namespace"])
        elif key == "AdoptNamespaces":
            adopted = json.loads(deployment.text(resource.stack, value))
            # Those of claims and of editors are users' own; the release is elsewhere.
            yield from (name for name in adopted if name not in _of_users(deployment.config))


def _of_users(config: Config) -> set[str]:
    files = () if config.storage_of_teams is None else config.storage_of_teams.placed_files
    of_claims = {claim.namespace for _, each in files for claim in each.claims}
    return {*of_claims, *named_namespaces(config.eks_of_teams.editors)}


def _is_closed(config: Config, namespace: str) -> bool:
    try:
        editors = EditorsConfig(namespaces=(namespace,), principals=(_EDITOR,))
    except ValueError:
        return True  # refused whatever else there is
    opened = config.model_copy(
        update={"eks": config.eks.model_copy(update={"editors": (editors,)})}
    )
    return any(
        each.severity is Severity.ERROR and each.path[:2] == ("eks", "editors")
        for each in findings(opened)
    )
