"""Properties of AWS::EKS::Cluster that a template may change, and not leave out again.

As worded in https://github.com/aws/aws-cdk/issues/37926, of PublicAccessCidrs. Whether all
properties are meant, or a rollback too, is not published: the protection is refused here as well,
and no rollback is.
"""

from collections.abc import Iterator

from emulator.aws.cloudformation.resource_type import Created, Properties, Refused
from emulator.aws.ministack import cloudformation, provisioners

_ROLLBACK = "UPDATE_ROLLBACK_IN_PROGRESS"


def install() -> None:
    """Check each update of a cluster by CloudFormation."""
    handlers = provisioners.RESOURCE_HANDLERS["AWS::EKS::Cluster"]
    updated = handlers["update"]

    def update(
        physical_id: str, old: Properties, new: Properties, stack: str, *names: str
    ) -> Created:
        if cloudformation.stacks[stack]["StackStatus"] != _ROLLBACK:
            for name in _dropped(old, new):
                raise Refused(
                    "The new template must include all the properties specified in the previous "
                    f'template, property "{name}" missing'
                )
        result: Created = updated(physical_id, old, new, stack, *names)
        return result

    handlers["update"] = update


def _dropped(old: Properties, new: Properties) -> Iterator[str]:
    if "PublicAccessCidrs" in old["ResourcesVpcConfig"].keys() - new["ResourcesVpcConfig"].keys():
        yield "PublicAccessCidrs"
    if "DeletionProtection" in old.keys() - new.keys():
        yield "DeletionProtection"
