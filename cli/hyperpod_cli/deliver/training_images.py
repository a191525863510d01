"""Building the images that jobs train in: by the deployment's CodeBuild project, or by Docker."""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.facts.deep_learning_containers import registry_of
from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.workloads.images import TrainingImage, base_images, image_output, training_image
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.aws.stacks import outputs_of
from hyperpod_cli.deliver.images import ecr_credentials
from hyperpod_cli.operate.logs import log_pages
from hyperpod_cli.terminal.errors import FailedError, OpsError
from hyperpod_cli.terminal.options import command_line
from hyperpod_shared.aws_errors import is_not_found
from hyperpod_stacks.table import stack_name

_DOCKER = "docker"
_IN_PROGRESS = "IN_PROGRESS"
_SUCCEEDED = "SUCCEEDED"
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class TrainingImages:
    """The training images of a configuration, and the repository that they are for.

    `images` are of the files as they are now; `deployed` has the URI of each of the files as they
    were deployed, by the name of its base.
    """

    config: Config
    path: Path
    session: AwsSession
    repository: str
    project: str
    images: tuple[TrainingImage, ...]
    deployed: Mapping[str, str]

    def uri(self, image: TrainingImage) -> str | None:
        """Return where an image is, with its digest; None while it is not there."""
        ecr = self.session.client("ecr")
        name = self.repository.partition("/")[2]
        asked = [{"imageTag": image.tag}]
        found = ecr.batch_get_image(repositoryName=name, imageIds=asked).get("images", ())
        return f"{self.repository}@{found[0]['imageId']['imageDigest']}" if found else None

    def missing(self) -> list[TrainingImage]:
        """Return the images that are not in the repository."""
        return [image for image in self.images if self.uri(image) is None]

    def lines(self) -> Iterator[str]:
        """Yield where each image is, as the values of a job name it."""
        for image in self.images:
            uri = self.uri(image)
            if uri is None:
                raise FailedError(
                    f"{self.repository}:{image.tag} was built, but is not in the repository; "
                    "check `aws ecr list-images --repository-name "
                    f"{self.repository.partition('/')[2]} --region {self.session.region}`"
                )
            yield f"{image.tag}: image: {uri}"

    def refuse_changed(self) -> None:
        """Refuse to build with CodeBuild what it does not have."""
        tags = {uri.rpartition(":")[2] for uri in self.deployed.values()}
        if not tags.issuperset(image.tag for image in self.images):
            only = stack_name(self.config, "workloads")
            deploy = command_line("deploy", self.path, "--only", only)
            raise OpsError(
                "images/training: has changed since it was deployed, and CodeBuild builds the "
                f"deployed version; run `{deploy}` first, or build here with --docker"
            )


def training_images(config: Config, *, path: Path, session: AwsSession) -> TrainingImages:
    """Find the training images of a deployment."""
    if config.workloads is None:
        message = "null has no repository for images; write `workloads: {}`, and deploy it"
        raise ConfigError([f"{path}: workloads: {message}"])
    stack = stack_name(config, "workloads")
    outputs = outputs_of(session.client("cloudformation"), stack)
    context = asset_directory("images") / "training"
    bases = base_images(config.instance_types)
    deployed = {base.name: outputs.get(image_output(base.name), "") for base in bases}
    return TrainingImages(
        config=config,
        path=path,
        session=session,
        repository=outputs["TrainingImageRepository"],
        project=outputs["TrainingImageProject"],
        images=tuple(training_image(base, context=context) for base in bases),
        deployed=deployed,
    )


def build_on_codebuild(
    found: TrainingImages, *, say: Say, sleep: Callable[[float], None], every: float
) -> None:
    """Start the project, and show its log every so many seconds until it ends."""
    started = found.session.writing_client("codebuild").start_build(projectName=found.project)
    build_id = started["build"]["id"]
    region = found.session.region
    say(f"Build {build_id} has started. It takes 20 to 40 minutes, also after Ctrl-C.")
    codebuild, logs = (found.session.polling_client(name) for name in ("codebuild", "logs"))
    token: str | None = None
    while True:
        [build] = codebuild.batch_get_builds(ids=[build_id])["builds"]
        token = _say_new_lines(logs, build.get("logs", {}), token=token, say=say)
        if build["buildStatus"] != _IN_PROGRESS:
            break
        sleep(every)
    if build["buildStatus"] != _SUCCEEDED:
        raise FailedError(
            f"build {build_id} ended with {build['buildStatus']}: {_why(build)}; its whole log: "
            f"aws logs tail {build['logs']['groupName']} --since 3h --region {region}"
        )


def _say_new_lines(logs: Any, log: Mapping[str, str], *, token: str | None, say: Say) -> str | None:  # noqa: ANN401 - a client of boto3
    """Say what came since the token; return the next one."""
    if "groupName" not in log or "streamName" not in log:
        return token
    try:
        for page in log_pages(logs, log["groupName"], log["streamName"], token=token):
            token = page["nextForwardToken"]
            for event in page["events"]:
                say(event["message"].rstrip("\n"))
    except ClientError as error:
        if not is_not_found(error):  # no stream yet
            raise
    return token


def _why(build: Mapping[str, Any]) -> str:
    told = [
        f"{phase['phaseType']}: {context['message']}"
        for phase in build.get("phases", ())
        for context in phase.get("contexts", ())
        if context.get("message")
    ]
    return told[-1] if told else "CodeBuild does not say why"


def build_with_docker(found: TrainingImages, *, say: Say) -> None:
    """Build on this machine, and push."""
    docker = shutil.which(_DOCKER)
    if docker is None:
        raise OpsError(
            "docker: is not on PATH; install Docker with buildx, or leave out --docker and let "
            "CodeBuild build"
        )
    _ask([docker, "info"], "is not running, or not for this user; start it")
    _ask([docker, "buildx", "version"], "has no buildx; install docker-buildx-plugin")
    section = found.config.workloads
    assert section is not None  # noqa: S101 - `training_images` refuses it
    registry = section.base_registry or registry_of(found.session.region)
    if registry is None:
        raise OpsError(
            f"workloads.base_registry: must be set: AWS names no registry of Deep Learning "
            f"Containers in {found.session.region}"
        )
    user, password = ecr_credentials(found.session.client("ecr"))
    for host in dict.fromkeys(each.partition("/")[0] for each in (registry, found.repository)):
        command = [docker, "login", "--username", user, "--password-stdin", host]
        done = _run(command, password=password)
        if done.returncode:
            raise OpsError(f"docker is not logged in to {host}: {' '.join(done.stderr.split())}")
    for image in found.missing():
        say(f"Building {found.repository}:{image.tag} ...")
        _, *words = image.build(
            repository=found.repository, base_registry=registry, index=section.package_index
        )
        context = asset_directory("images") / "training"
        built = subprocess.run([docker, *words], cwd=context, check=False)  # noqa: S603 - no shell
        if built.returncode:
            raise FailedError(f"docker buildx build of {image.tag} failed; its last lines say why")


def _ask(command: list[str], otherwise: str) -> None:
    done = _run(command)
    if done.returncode:
        told = " ".join(done.stderr.split())
        raise OpsError(f"docker: {otherwise}, or leave out --docker: {told}")


def _run(command: list[str], *, password: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - an argument list, no shell
        command, input=password, capture_output=True, text=True, check=False
    )
