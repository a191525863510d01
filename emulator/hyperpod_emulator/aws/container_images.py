"""What ECR says of an image that is not there, and MiniStack leaves out."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws.ministack import Response, ecr, get_account_id, wrap


def install() -> None:
    """Refuse to describe an image that is not in its repository.

    The words are those of https://github.com/hashicorp/terraform-provider-aws/issues/35268.
    """

    def describe_those_there(
        describe: Callable[..., Response], request: Mapping[str, Any]
    ) -> Response:
        name = request.get("repositoryName", "")
        for wanted in request.get("imageIds") or () if name in ecr._repositories else ():
            if ecr._find_image(name, wanted) is None:
                which = f"imageDigest:'{wanted.get('imageDigest', 'null')}', "
                which += f"imageTag:'{wanted.get('imageTag', 'null')}'"
                return ecr.error_response_json(
                    "ImageNotFoundException",
                    f"The image with imageId {{{which}}} does not exist within the repository with "
                    f"name '{name}' in the registry with id '{get_account_id()}'",
                    HTTPStatus.BAD_REQUEST.value,
                )
        return describe(request)

    wrap(ecr, "_describe_images", describe_those_there)
