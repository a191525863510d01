"""What links a directory of a Lustre file system to S3."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Self

from pydantic import model_validator

from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import ApiLimits, ListLimits, Matching
from hyperpod_cdk.schema.section import Listed, Section

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_S3_URI = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^\s]*)?"
_DIRECTORY = r"/|(/[^/]+)+"
Event = Annotated[str, ApiLimits(shape_name="fsx.EventType", noun="an event of a data repository")]


class DataRepositoryConfig(Section):
    """A directory whose files are the objects of an S3 bucket (a data repository association)."""

    path: Annotated[
        str,
        ApiLimits(shape_name="fsx.Namespace", noun="a path of a data repository such as /s3"),
        Matching(
            pattern=_DIRECTORY, rule="must be a path such as /s3, from the file system's root"
        ),
    ] = "/s3"
    """Directory of the file system that shows the S3 objects. None may be inside another."""

    s3_uri: (
        Annotated[
            str, Matching(pattern=_S3_URI, rule="must be an S3 URI such as s3://bucket/prefix")
        ]
        | None
    ) = None
    """Existing S3 bucket, or prefix in one: s3://bucket/prefix. Default: none, see new_bucket."""

    new_bucket: bool = False
    """Whether a bucket is created for it: encrypted, versioned, TLS only, and kept with its objects
    when the stack is deleted. Default: false, s3_uri names an existing one."""

    import_existing: bool = True
    """Whether the objects that are there appear as files at once. The contents of a file are copied
    when it is first read. Default: true; it cannot be changed later."""

    import_events: Annotated[
        Listed[Event], ListLimits(shape_name="fsx.EventTypes", noun="events of S3 objects")
    ] = ("NEW", "CHANGED", "DELETED")
    """What happens to objects and then to their files: NEW, CHANGED, DELETED. Default: all."""

    export_events: Annotated[
        Listed[Event], ListLimits(shape_name="fsx.EventTypes", noun="events of files")
    ] = ()
    """What happens to files and then to their objects: NEW, CHANGED, DELETED. Default: nothing, S3
    is only read."""

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if self.new_bucket == (self.s3_uri is not None):
            beside = "leaves no place for s3_uri beside it: a new bucket gets its own name"
            message = beside if self.new_bucket else "must be true where there is no s3_uri"
            refuse([Finding(path=("new_bucket",), value=self.new_bucket, message=message)])
        return self


def overlap_findings(repositories: Sequence[DataRepositoryConfig]) -> Iterator[Finding]:
    """Find directories and S3 locations that are within another one.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    """
    for index, repository in enumerate(repositories):
        for earlier in repositories[:index]:
            for key in ("path", "s3_uri"):
                own, other = getattr(repository, key), getattr(earlier, key)
                if own is not None and other is not None and _overlap(own, other):
                    message = f"overlaps {other}: FSx links a place to one other only"
                    yield Finding(path=(index, key), value=own, message=message)


def _overlap(one: str, other: str) -> bool:
    first, second = (f"{place.rstrip('/')}/" for place in (one, other))
    return first.startswith(second) or second.startswith(first)
