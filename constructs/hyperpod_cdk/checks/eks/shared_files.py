"""Teams have files of their own on a file system that they share."""

from collections.abc import Sequence
from itertools import combinations

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import matches
from hyperpod_cdk.schema.errors import Findings, warning
from hyperpod_cdk.storage.claim_section import READ_ONLY, ClaimConfig
from hyperpod_cdk.storage.section import HomeDirectoriesConfig


def shared_files(config: Config) -> Findings:
    """Find claims of different editors that show the same files, one of them to write.

    A job runs code that it reads there, such as a checkpoint that is a pickle. Lustre and NFS mount
    a directory alone: https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-from-fileset.html
    """
    storage = config.storage_of_teams
    for path, files in () if storage is None else storage.placed_files:
        place = ("storage", *path, "claims")
        for (first, one), (index, other) in combinations(enumerate(files.claims), 2):
            if _have_other_editors(config, one, other) and _overlap(one, other):
                # A team's claim, which comes last, is not written there.
                written = [(first, one), (index, other)]
                (_, whose), (at, claim) = written if other.team is None else written[::-1]
                yield warning(
                    (*place, at, "directory"),
                    claim.directory,
                    f"shows files of the claim in {whose.namespace}, whose editors are others: the "
                    "editors of one run code in jobs of the other; give each claim a directory",
                )
        if isinstance(files, HomeDirectoriesConfig) and files.root_squash:
            for index, claim in enumerate(files.claims):
                if claim.directory is not None:
                    message = (
                        "must exist already: root, which would make it, is nobody by root_squash"
                    )
                    yield warning((*place, index, "directory"), claim.directory, message)


def _have_other_editors(config: Config, one: ClaimConfig, other: ClaimConfig) -> bool:
    editors = [_editors(config, claim.namespace) for claim in (one, other)]
    return all(editors) and not set(editors[0]) & set(editors[1])


def _editors(config: Config, namespace: str) -> Sequence[int]:
    return [
        index
        for index, editors in enumerate(config.eks_of_teams.editors)
        if any([*matches(pattern, [namespace])] for pattern in editors.namespaces)
    ]


def _overlap(one: ClaimConfig, other: ClaimConfig) -> bool:
    first, second = (f"{claim.directory or ''}/" for claim in (one, other))
    is_read = one.access == other.access == READ_ONLY
    return not is_read and (first.startswith(second) or second.startswith(first))
