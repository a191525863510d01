"""The links of file systems to S3."""

from hyperpod_cdk import LustreConfig
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject


@subject(phase=Phase.DATA, iam=["fsx:DescribeDataRepositoryAssociations"])
def links(deployment: LiveDeployment) -> Checks:
    """Each link of a file system to S3 is AVAILABLE."""
    section = deployment.config.storage
    for _, files in () if section is None else section.placed_files:
        if isinstance(files, LustreConfig):
            file_system = deployment.outputs_of("storage")[f"{files.output_prefix}FileSystemId"]
            yield from _links(deployment, files, file_system=file_system)


def _links(deployment: LiveDeployment, files: LustreConfig, *, file_system: str) -> Checks:
    if not files.data_repositories:
        return
    of_files = [{"Name": "file-system-id", "Values": [file_system]}]
    answer = deployment.client("fsx").describe_data_repository_associations(Filters=of_files)
    states = {link["FileSystemPath"]: link["Lifecycle"] for link in answer["Associations"]}
    for repository in files.data_repositories:
        state = states.get(repository.path, "not there")
        yield checked(
            f"aws fsx describe-data-repository-associations: {repository.path} is AVAILABLE",
            problem=None if state == "AVAILABLE" else f"is {state}",
            advice="MISCONFIGURED is a bucket that FSx may not read, or that is gone: look at its "
            "policy and its key",
        )
