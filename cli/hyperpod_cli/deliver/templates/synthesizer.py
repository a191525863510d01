"""Where the templates find their assets: in a bucket and under a prefix that parameters name."""

import jsii
from aws_cdk import (
    Aws,
    DockerImageAssetLocation,
    DockerImageAssetSource,
    FileAssetLocation,
    FileAssetPackaging,
    FileAssetSource,
    Fn,
    IReusableStackSynthesizer,
    ISynthesisSession,
    Stack,
    StackSynthesizer,
)

from hyperpod_cli.deliver.templates.parameters import ASSETS_BUCKET, ASSETS_PREFIX


@jsii.implements(IReusableStackSynthesizer)
class AssetsInBucket(StackSynthesizer):
    """Writes templates that need neither a bootstrap stack nor an account or a region.

    Attributes:
        assets: Path of each asset's file or directory in the cloud assembly, by its name in the
            bucket.
    """

    def __init__(self, assets: dict[str, str] | None = None) -> None:
        super().__init__()
        self.assets = assets if assets is not None else {}

    def reusable_bind(self, stack: Stack) -> "AssetsInBucket":
        """Return the synthesizer of one stack; all of them list the same assets."""
        own = AssetsInBucket(self.assets)
        own.bind(stack)
        return own

    def add_file_asset(  # type: ignore[override] # the struct, which jsii passes in one
        self, asset: FileAssetSource
    ) -> FileAssetLocation:
        """Return where a template finds a file, or a directory as an archive."""
        assert asset.file_name is not None  # noqa: S101 - of an asset that no command makes
        is_directory = asset.packaging == FileAssetPackaging.ZIP_DIRECTORY
        suffix = ".zip" if is_directory else asset.file_name[asset.file_name.rindex(".") :]
        name = f"{asset.source_hash}{suffix}"
        self.assets[name] = asset.file_name
        bucket = Fn.ref(ASSETS_BUCKET)
        key = Fn.join("", [Fn.ref(ASSETS_PREFIX), name])
        return FileAssetLocation(
            bucket_name=bucket,
            object_key=key,
            http_url=f"https://s3.{Aws.REGION}.{Aws.URL_SUFFIX}/{bucket}/{key}",
            s3_object_url=f"s3://{bucket}/{key}",
        )

    def add_docker_image_asset(  # type: ignore[override] # likewise
        self, asset: DockerImageAssetSource
    ) -> DockerImageAssetLocation:
        """Refuse an image: it would need a repository of every reader's own.

        Raises:
            ValueError: Always; no stack of this project has an image.
        """
        raise ValueError(
            f"{asset.directory_name}: plain templates hold files, and no container image; let the "
            "stack name an image that is in a registry"
        )

    def synthesize(self, session: ISynthesisSession) -> None:
        """Write the stack's template."""
        self._synthesize_template(session)
        self._emit_artifact(session)
