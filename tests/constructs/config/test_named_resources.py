"""An ARN in a section is checked, and in the local AWS there, because its type says what it is."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.schema.arns import BUCKET_NAME, KmsKeyId, PrincipalArn
from hyperpod_cdk.schema.limits import ApiLimits
from hyperpod_cdk.schema.named_resources import Names, named_resources
from hyperpod_cdk.schema.section import Listed, Section, arguments, section_in
from hyperpod_rehearsal.existing_resources import account_of, existing_resources
from tests.support.assembly import merged
from tests.support.configs import MINIMUM

VIEWER = "arn:aws:iam::444455556666:role/Viewer"
KEY = "1234abcd-12ab-34cd-56ef-1234567890ab"


class EksWithMoreKeys(EksConfig):
    """The control plane with keys that name more of the account."""

    viewers: Listed[PrincipalArn] = ()
    """Roles."""

    logs_kms_key_id: KmsKeyId | None = None
    """A key."""


class ConfigWithMoreKeys(Config):
    """A configuration with those keys."""

    eks: EksWithMoreKeys = EksWithMoreKeys()
    """The control plane."""


def configured(**eks: object) -> ConfigWithMoreKeys:
    return ConfigWithMoreKeys.model_validate(merged(MINIMUM, {"eks": eks}))


def test_a_new_key_is_checked_for_its_place() -> None:
    with pytest.raises(ValidationError, match=r"eks\n.*viewers\[1\].*must be of partition aws"):
        configured(viewers=[VIEWER, VIEWER.replace("arn:aws:", "arn:aws-cn:")])


def test_what_a_new_key_names_is_there_in_the_local_aws() -> None:
    config = configured(viewers=[VIEWER], logs_kms_key_id=KEY)

    assert [str(each) for each in existing_resources(config)] == [
        f"IAM role {VIEWER}",
        f"KMS key {KEY}",
    ]
    assert account_of(config) == "444455556666"


def test_each_is_found_where_it_stands() -> None:
    config = configured(viewers=[VIEWER], logs_kms_key_id=KEY)

    assert [(each.path, each.value, each.kind) for each in named_resources(config)] == [
        (("eks", "viewers", 0), VIEWER, "principal"),
        (("eks", "logs_kms_key_id"), KEY, "KMS key"),
    ]


def fields(section: type[Section]) -> Iterator[tuple[str, list[object]]]:
    """Yield every field in a section, and in those under it, with all its marks."""
    for name, field in section.model_fields.items():
        yield f"{section.__name__}.{name}", [*field.metadata, *arguments(field.annotation)]
        if (inner := section_in(field.annotation)) is not None:
            yield from fields(inner)


def pattern(mark: object) -> str:
    match mark:
        case FieldInfo():
            return "".join(map(pattern, mark.metadata))
        case ApiLimits():
            return shape(mark.shape_name).pattern or ""
        case _:
            return str(getattr(mark, "pattern", ""))


# Of ARNs, IDs of EC2 and FSx, and URIs or names of buckets.
NAMING = ("arn:", "-[0-9a-f]{8", "s3://", BUCKET_NAME)


def test_every_key_that_names_what_exists_says_of_what_kind() -> None:
    naming = {
        name: marks
        for name, marks in fields(Config)
        if any(part in "".join(map(pattern, marks)) for part in NAMING)
    }

    assert len(naming) > 20
    assert [
        name for name, marks in naming.items() if not any(isinstance(each, Names) for each in marks)
    ] == []
