"""The namespaces of claims are there when the claims are made."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import named_namespaces
from hyperpod_cdk.schema.errors import Findings, error, warning
from hyperpod_shared.governance import TEAM_NAMESPACE

_OF_KUBERNETES = {"default", "kube-system", "kube-public", "kube-node-lease"}


def claim_namespaces(config: Config) -> Findings:
    """Find claims in namespaces that nothing has made before: HyperPod makes those of teams later.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-policies.html
    https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/#initial-namespaces
    """
    if config.storage is None:
        return
    files = config.storage.placed_files
    teams = () if config.governance is None else config.governance.teams
    of_teams = {f"{TEAM_NAMESPACE}{team.name}" for team in teams}
    # A claim waits for the file systems before its own alone.
    made = {*named_namespaces(config.eks.editors)}
    for path, file in files:
        made |= {each.namespace for each in file.claims if each.create_namespace}
        for index, claim in enumerate(file.claims):
            place = ("storage", *path, "claims", index, "namespace")
            if claim.namespace in made | _OF_KUBERNETES:
                continue
            if claim.namespace in of_teams:
                message = (
                    "is made by HyperPod with the team's quota, after the file system; add "
                    "create_namespace: true, which makes it, or takes over one that exists"
                )
                yield error(place, claim.namespace, message)
            elif config.makes_control_plane:
                message = (
                    "must exist before the storage stack is deployed, and a new EKS cluster does "
                    "not have it; create_namespace: true makes it, or takes over one that exists"
                )
                yield warning(place, claim.namespace, message)
