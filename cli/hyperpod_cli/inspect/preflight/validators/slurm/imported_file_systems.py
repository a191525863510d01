"""Whether file systems that are gone are still mounted by the deployed cluster."""

import json

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.aws.stacks import described_stack, outputs_in, template_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_stacks.table import stack_name

_NAME = "FileSystemDnsName"


@validator(
    phase=Phase.FORMER_DEPLOYMENTS,
    iam=["cloudformation:DescribeStacks", "cloudformation:GetTemplate"],
)
def imported_file_systems(config: Config, target: Target) -> Problems:
    """A file system is removed whose name the HyperPod stack imports from the storage stack.

    Without storage and accounting, the storage stack stays as it is.

    Keys: storage.home_directories

    [CloudFormation](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html)
    """
    stack, importer = stack_name(config, "storage"), stack_name(config, "hyperpod")
    files = () if config.storage is None else config.storage.placed_files
    kept = {f"{each.output_prefix}{_NAME}" for _, each in files}
    cloudformation = target.client("cloudformation")
    described = described_stack(cloudformation, stack)
    if described is None or not (files or config.makes_accounting):
        return
    gone = {
        value: key
        for key, value in outputs_in(described).items()
        if key.endswith(_NAME) and key not in kept
    }
    imports = json.dumps(template_of(cloudformation, importer)) if gone else ""
    for each in described.get("Outputs", ()):
        name = each.get("ExportName")
        if name and f'"{name}"' in imports and each["OutputValue"] in gone:
            homes = gone[each["OutputValue"]] != _NAME
            message = (
                f"takes {each['OutputValue']} out of {stack}, which CloudFormation refuses while "
                f"{importer} mounts it; deploy the cluster without it first, with `npx cdk deploy "
                f"{importer} --exclusively -c config=FILE`, then all with `hyperpod-cdk deploy`"
            )
            path = ("storage", "home_directories") if homes else ("storage",)
            command = f"aws cloudformation list-imports --export-name {name}"
            yield error(path, None, message), command
