"""The claim of a team's directory has a name of its own."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error


def team_claims(config: Config) -> Findings:
    """Find claims of the name that a team's has in its namespaces: Kubernetes takes one of a name.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
    """
    if config.storage is None:
        return
    usual = f"{config.storage.label}-claim"
    teams = {claim.namespace: team for team in config.teams for claim in team.claims}
    for path, files in config.storage.placed_files:
        for index, claim in enumerate(files.claims):
            team = teams.get(claim.namespace)
            if team is not None and (claim.name or f"{files.label}-claim") == usual:
                message = (
                    f"has the claim {usual} of the team {team.name}, which shows {team.directory}; "
                    "leave this one out, or set directory: null of the team to keep it"
                )
                yield error(("storage", *path, "claims", index), claim.namespace, message)
