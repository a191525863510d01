"""The scripts that an instance group's nodes run."""

from collections.abc import Iterator
from typing import Annotated

from hyperpod_cdk.lifecycle_scripts.section import OwnScriptsConfig
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import ApiLimits, Matching
from hyperpod_cdk.schema.section import Api, Task

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_S3_URI = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/(?!\.\.?(/|$))[A-Za-z0-9!_.-]+)+/?"
_S3_URI_RULE = (
    "must be an S3 URI with a prefix, such as s3://bucket/scripts, of letters, digits and !_.- "
    "between slashes, without .."
)
# Nodes run the script in a shell as root, so its name must not contain shell syntax.
_SCRIPT = r"(?!\.\.?(/|$))[A-Za-z0-9_.-]+(/(?!\.\.?(/|$))[A-Za-z0-9_.-]+)*"

ScriptsUri = Annotated[
    str,
    ApiLimits(shape_name="sagemaker.S3Uri", noun="an S3 URI such as s3://bucket/prefix"),
    Matching(
        pattern=_S3_URI,
        rule=_S3_URI_RULE,
    ),
]
ScriptName = Annotated[
    str,
    ApiLimits(
        shape_name="sagemaker.ClusterLifeCycleConfigFileName",
        noun="a script's name such as on_create.sh",
    ),
    Matching(
        pattern=_SCRIPT,
        rule="must be a path such as on_create.sh, of letters, digits and _.- between slashes, "
        "without ..",
    ),
]


class LifecycleConfig(OwnScriptsConfig):
    """Which script the nodes run, and when."""

    source_s3_uri: Annotated[
        ScriptsUri | None, Api("SourceS3Uri"), Task("run scripts of your own on each node")
    ] = None
    """Bucket and prefix of scripts that are there already, in place of directory; the nodes' role
    may then read them: s3://bucket/prefix. Default: those of the deployment."""

    on_create: Annotated[ScriptName | None, Api("OnCreate")] = None
    """Script under source_s3_uri that does all of a new node's setup. Default: that of the
    deployment."""

    on_init_complete: Annotated[ScriptName | None, Api("OnInitComplete")] = None
    """Script under source_s3_uri that runs after the AMI's own setup, instead of on_create.
    Default: none."""

    def _findings(self) -> Iterator[Finding]:
        if self.directory is not None and self.source_s3_uri is not None:
            message = "must be left out with directory, whose scripts the deployment uploads"
            yield error(("source_s3_uri",), self.source_s3_uri, message)
            return
        scripts = [name for name in (self.on_create, self.on_init_complete) if name is not None]
        if len(scripts) > 1:
            message = "must be left out with on_create: a node runs one script or the other"
            yield error(("on_init_complete",), self.on_init_complete, message)
        elif self.source_s3_uri is not None and not scripts:
            message = "is missing: name the script under source_s3_uri (or set on_init_complete)"
            yield error(("on_create",), None, message)
        elif self.source_s3_uri is None and scripts:
            message = "is missing: say where the script is (or leave the script out too)"
            yield error(("source_s3_uri",), None, message)
