"""Some node reaches a file system by EFA, if it is made for that."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.schema.errors import Findings, warning


def lustre_over_efa(config: Config) -> Findings:
    """Find an EFA-enabled file system that no node reaches by EFA, which does not leave a zone.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html
    """
    if config.storage is None:
        return
    first, *_ = config.network.hyperpod_zone_ids
    zones = set()
    has_efa = False
    for _, group in config.cluster.groups_with_paths():
        if any(facts.efa_interfaces for facts in group.facts) or not group.facts:
            has_efa = True
            subnet = subnet_for(group, config.network)
            zones.add(None if subnet is None else subnet.zone)
    for path, files in config.storage.file_systems:
        if not files.efa_enabled:
            continue
        where = ("storage", *path, "efa_enabled")
        zone = files.availability_zone_id or first
        if not has_efa:
            yield warning(where, True, "has no effect: no instance group has instances with EFA")
        elif zone is not None and not zones & {zone, None}:
            message = (
                f"has no effect: the file system is in {zone}, the instances with EFA are in "
                f"{', '.join(sorted(map(str, zones)))}, and EFA does not leave a zone"
            )
            yield warning(where, True, message)
