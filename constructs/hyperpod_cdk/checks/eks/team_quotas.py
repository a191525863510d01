"""Quotas are of task governance, and task governance is of quotas."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error


def team_quotas(config: Config) -> Findings:
    """Find a quota without task governance, which divides the nodes, and governance of no quota.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup.html
    """
    if config.governance is not None and not config.governed_teams:
        message = "has nothing to share: give a team a quota (teams[].quota), or leave it out"
        yield error(("governance",), None, message)
    for index, team in enumerate(config.teams):
        if team.quota and config.governance is None:
            message = "needs task governance with it: add governance: {}, or leave the quota out"
            types = ", ".join(each.instance_type for each in team.quota)
            yield error(("teams", index, "quota"), types, message)
