"""The `storage` section: shared file systems, and the volumes and claims of them."""

from collections.abc import Iterator
from typing import Self

from pydantic import model_validator

from hyperpod_cdk.schema.errors import Finding, KeyPath, refuse
from hyperpod_cdk.schema.section import Listed
from hyperpod_cdk.storage.claim_section import ClaimConfig
from hyperpod_cdk.storage.lustre_section import LustreConfig, NamedLustreConfig
from hyperpod_cdk.storage.open_zfs_section import HomeDirectoriesConfig


class StorageConfig(LustreConfig):
    """A shared FSx for Lustre file system (PERSISTENT_2), and others beside it."""

    stop_nodes_without_lustre: bool = False
    """Whether a new node fails that cannot use Lustre, because of its kernel modules, LNet or EFA.
    Scripts of your own do not look at it. Default: false, it joins the cluster with a warning in
    its log."""

    more_file_systems: Listed[NamedLustreConfig] = ()
    """Further FSx for Lustre file systems. Default: none."""

    home_directories: HomeDirectoriesConfig | None = None
    """An FSx for OpenZFS file system for home directories. Default: none."""

    dynamic_provisioning: bool = False
    """Whether claims of the StorageClass fsx-dynamic get a new file system each, which is deleted
    with its claim. Default: false, the CSI driver has no rights in AWS."""

    @property
    def lustre_failure(self) -> str:
        """What the lifecycle scripts do with a node that cannot use Lustre."""
        return "stop" if self.stop_nodes_without_lustre else "warn"

    @property
    def file_systems(self) -> tuple[tuple[KeyPath, LustreConfig], ...]:
        """The Lustre file systems, each with its path from here."""
        further = (
            (("more_file_systems", index), each)
            for index, each in enumerate(self.more_file_systems)
        )
        return (((), self), *further)

    @property
    def placed_files(self) -> tuple[tuple[KeyPath, LustreConfig | HomeDirectoriesConfig], ...]:
        """All file systems, those of home directories last, each with its path from here."""
        homes = self.home_directories
        of_users = () if homes is None else ((("home_directories",), homes),)
        return (*self.file_systems, *of_users)

    @property
    def bucket_names(self) -> tuple[str, ...]:
        """The existing buckets that directories are linked to."""
        locations = [
            each.s3_uri
            for _, files in self.file_systems
            for each in files.data_repositories
            if each.s3_uri is not None
        ]
        return tuple(dict.fromkeys(uri.split("/")[2] for uri in locations))

    @property
    def existing_ids(self) -> tuple[str, ...]:
        """The IDs of the file systems that exist already."""
        ids = (files.file_system_id for _, files in self.file_systems)
        return tuple(each for each in ids if each is not None)

    @property
    def is_deleted_with_stack(self) -> bool:
        """Whether the stack may be deleted without a second thought: with it go all files."""
        return all(each.delete_with_stack for _, each in self.placed_files)

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        refuse([*self._repeated_names(), *self._repeated_claims()])
        return self

    def _repeated_names(self) -> Iterator[Finding]:
        names = [each.name for each in self.more_file_systems]
        ids = [each.file_system_id for _, each in self.file_systems]
        for index, name in enumerate(names):
            if name in names[:index]:
                path = ("more_file_systems", index, "name")
                message = "is taken; give each file system a name of its own"
                yield Finding(path=path, value=name, message=message)
        for index, identifier in enumerate(ids):
            if identifier is not None and identifier in ids[:index]:
                path = ("more_file_systems", index - 1, "file_system_id")
                message = "is used already; give the other one more claims"
                yield Finding(path=path, value=identifier, message=message)

    def _repeated_claims(self) -> Iterator[Finding]:
        seen = set()
        for path, claim, name in self._claims():
            if (claim.namespace, name) in seen:
                message = f"is the second claim of that name in the namespace {claim.namespace}"
                yield Finding(path=(*path, "name"), value=name, message=message)
            seen.add((claim.namespace, name))

    def _claims(self) -> Iterator[tuple[KeyPath, ClaimConfig, str]]:
        for path, files in self.placed_files:
            for index, claim in enumerate(files.claims):
                yield (*path, "claims", index), claim, claim.name or f"{files.label}-claim"
