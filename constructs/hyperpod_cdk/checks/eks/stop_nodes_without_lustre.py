"""Whether a node that cannot use Lustre is stopped by a script that nodes run."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, warning


def stop_nodes_without_lustre(config: Config) -> Findings:
    """Find a node to be stopped by the project's lifecycle scripts, which no group's nodes run.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html
    """
    if config.storage is None or not config.storage.stop_nodes_without_lustre:
        return
    if not config.runs_project_scripts:
        yield warning(
            ("storage", "stop_nodes_without_lustre"),
            True,
            "has no effect: the project's lifecycle scripts stop the node, and each instance group "
            "has scripts of its own or none; let those scripts fail, or leave this key out",
        )
