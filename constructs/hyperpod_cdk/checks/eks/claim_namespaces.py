"""The namespaces of claims are there when the claims are made."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import named_namespaces
from hyperpod_cdk.schema.errors import Findings, warning

_OF_KUBERNETES = {"default", "kube-system", "kube-public", "kube-node-lease"}


def claim_namespaces(config: Config) -> Findings:
    """Find claims in namespaces that nothing has made before; those of teams and editors are made.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/#initial-namespaces
    """
    if config.storage is None or not config.makes_control_plane:
        return
    # A claim waits for the file systems before its own alone.
    made = {*named_namespaces(config.eks_of_teams.editors)}
    for path, file in config.storage.placed_files:
        made |= {each.namespace for each in file.claims if each.create_namespace}
        for index, claim in enumerate(file.claims):
            if claim.namespace not in made | _OF_KUBERNETES:
                message = (
                    "must exist before the storage stack is deployed, and a new EKS cluster does "
                    "not have it; create_namespace: true makes it, or takes over one that exists"
                )
                place = ("storage", *path, "claims", index, "namespace")
                yield warning(place, claim.namespace, message)
