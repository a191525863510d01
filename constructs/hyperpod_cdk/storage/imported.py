"""File systems that exist already."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImportedLustre:
    """An FSx for Lustre file system that the deployment uses, and neither changes nor deletes.

    Attributes:
        file_system_id: Its ID.
        data_repositories: The S3 locations of the links that the deployment made: none.
    """

    file_system_id: str
    data_repositories: tuple[str, ...] = ()
