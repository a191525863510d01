"""The `lifecycle_scripts` section: the scripts that new nodes run."""

from typing import Annotated

from pydantic import field_validator

from hyperpod_cdk.lifecycle_scripts.own_scripts import OwnScriptsConfig
from hyperpod_cdk.schema.arns import PrincipalArn
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import Matching
from hyperpod_cdk.schema.section import Listed

Prefix = Annotated[
    str,
    Matching(
        # As the API takes an S3 URI, and without what an IAM policy would read as a pattern.
        pattern=r"(?!\.\.?(/|$))[A-Za-z0-9!_.-]+(/(?!\.\.?(/|$))[A-Za-z0-9!_.-]+)*/?",
        longest=256,
        rule="must be a prefix such as lifecycle-scripts, of letters, digits and !_.- between "
        "slashes, without ..",
    ),
]


class LifecycleScriptsConfig(OwnScriptsConfig):
    """The lifecycle scripts, which every new node runs as root."""

    prefix: Prefix | None = None
    """Where in their bucket the scripts are, such as lifecycle-scripts. A change moves them, and an
    update of the HyperPod stack then tells the cluster: until that, a new node finds none, so make
    it while no node joins. Default: the top of the bucket."""

    writers: Listed[PrincipalArn] = ()
    """ARNs of IAM roles and users that may change or delete the scripts in their bucket besides the
    deployment, if their own policies allow it too. Default: nobody."""

    @field_validator("prefix")
    @classmethod
    def _without_slash(cls, value: str | None) -> str | None:
        return None if value is None else value.rstrip("/")

    @field_validator("writers")
    @classmethod
    def _check_writers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        refuse(
            Finding(path=(index,), value=arn, message="is listed twice; name it once")
            for index, arn in enumerate(value)
            if arn in value[:index]
        )
        return value
