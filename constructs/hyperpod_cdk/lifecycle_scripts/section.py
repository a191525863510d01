"""The `lifecycle_scripts` section: the scripts that new nodes run."""

from pydantic import field_validator

from hyperpod_cdk.schema.arns import PrincipalArn
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.section import Listed, Section


class LifecycleScriptsConfig(Section):
    """The project's lifecycle scripts, which every new node runs as root."""

    writers: Listed[PrincipalArn] = ()
    """ARNs of IAM roles and users that may change or delete the scripts in their bucket besides the
    deployment, if their own policies allow it too. Default: nobody."""

    @field_validator("writers")
    @classmethod
    def _check_writers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        refuse(
            Finding(path=(index,), value=arn, message="is listed twice; name it once")
            for index, arn in enumerate(value)
            if arn in value[:index]
        )
        return value
