"""What training images begin with is where a build looks for it, and may be pulled."""

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.facts.deep_learning_containers import registry_of
from hyperpod_cdk.schema.errors import KeyPath, error, warning
from hyperpod_cdk.workloads.images import base_images as bases_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_shared.aws_errors import code

_KEY: KeyPath = ("workloads", "base_registry")
_REFUSED = ("AccessDeniedException", "RepositoryNotFoundException", "RegistryNotFoundException")


@validator(phase=Phase.EXISTING_RESOURCES, iam=["ecr:BatchGetImage"])
def base_images(config: Config, target: Target) -> Problems:
    """Warns if a base image of `workloads` is missing.

    The deployment would succeed, and `hyperpod-cdk image build` fail.

    Keys: workloads.base_registry

    [Deep Learning Containers](https://aws.github.io/deep-learning-containers/reference/region_availability/)
    """
    if config.workloads is None:
        return
    registry = config.workloads.base_registry or registry_of(target.region)
    if registry is None:
        message = f"must be set: AWS names no registry of these containers in {target.region}"
        command = "aws ecr describe-repositories"
        yield error(_KEY, None, message), command
        return
    host, _, folder = registry.partition("/")
    account = host.partition(".")[0]
    for base in bases_of(config.instance_types):
        name = "/".join(part for part in (folder, base.repository) if part)
        why = _missing(target, account=account, repository=name, tag=base.tag)
        if why is not None:
            message = (
                f"leaves hyperpod-cdk image build without {host}/{name}:{base.tag} ({why}); name "
                "a registry of "
                "this region that has a copy"
            )
            look = f"aws ecr batch-get-image --registry-id {account} --repository-name {name}"
            command = f"{look} --image-ids imageTag={base.tag} --region {target.region}"
            value = config.workloads.base_registry
            yield warning(_KEY, value, message), command


def _missing(target: Target, *, account: str, repository: str, tag: str) -> str | None:
    """Return why an image cannot be pulled; None if it can."""
    try:
        answer = target.client("ecr").batch_get_image(
            registryId=account, repositoryName=repository, imageIds=[{"imageTag": tag}]
        )
    except ClientError as refused:
        if code(refused) not in _REFUSED:
            raise
        return code(refused)
    return None if answer.get("images") else "no such tag"
