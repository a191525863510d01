"""People of a team are no admins, who have every right anyway."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import admin_findings
from hyperpod_cdk.schema.errors import Findings


def team_people(config: Config) -> Findings:
    """Find admins among the editors and viewers of a team: EKS takes a principal once.

    https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
    """
    for index, team in enumerate(config.teams):
        for key, people in (("editors", team.editors), ("viewers", team.viewers)):
            for finding in admin_findings(people, admins=config.eks.admins):
                yield finding.under("teams", index, key)
