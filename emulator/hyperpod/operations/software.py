"""UpdateClusterSoftware: another AMI on the nodes of a cluster."""

from __future__ import annotations

from emulator.hyperpod.operations.call import Answer, Backend, Call, Handler
from emulator.hyperpod.simulation.errors import conflict, validation_error
from emulator.hyperpod.simulation.event_log import record_cluster
from emulator.hyperpod.simulation.state import Cluster, image_id


class SoftwareOperations:
    """The operation that updates the platform software."""

    def __init__(self, *, backend: Backend) -> None:
        self._backend = backend

    @property
    def handlers(self) -> dict[str, Handler]:
        """Handlers by operation name."""
        return {"UpdateClusterSoftware": self._update}

    def _update(self, call: Call) -> Answer:
        request, around = call.request, self._backend.surroundings
        cluster = self._backend.registry.find(request["ClusterName"], call.caller)
        if cluster.status != "InService":
            message = (
                f"The software of cluster '{cluster.name}' cannot be updated while its status is "
                f"{cluster.status}. Wait until it is InService."
            )
            raise conflict(message)
        versions = self._versions(call, cluster)
        image = request.get("ImageId", "default")
        cluster.status = "SystemUpdating"
        record_cluster(
            cluster, time=call.now, description=f"Software of {cluster.name} is being updated"
        )
        for name in versions:
            group = cluster.groups[name]
            group.status, group.software_update_status = "SystemUpdating", "InProgress"
            for node in group.nodes:
                if node.status == "Running":
                    node.status = "SystemUpdating"

        def finish(now: float) -> None:
            for name, version in versions.items():
                self._finish_group(cluster, name, version=version, image=image, now=now)
            cluster.status = "InService"
            description = f"Software of {cluster.name} was updated"
            record_cluster(cluster, time=now, description=description)
            self._backend.lifecycle.node_settled(cluster, now)

        around.agenda.at(call.now + around.timings.software_update, finish)
        return {"ClusterArn": cluster.arn}

    def _versions(self, call: Call, cluster: Cluster) -> dict[str, str]:
        latest = self._backend.release_version
        groups = call.request.get("InstanceGroups")
        if groups is None:
            return {n: latest for n, group in cluster.groups.items() if not group.deleting}
        versions = {g["InstanceGroupName"]: g.get("ImageReleaseVersion", latest) for g in groups}
        unknown = sorted(set(versions) - set(cluster.groups))
        if unknown:
            message = f"Instance group '{unknown[0]}' does not exist in '{cluster.name}'."
            raise validation_error(message)
        return versions

    @staticmethod
    def _finish_group(cluster: Cluster, name: str, *, version: str, image: str, now: float) -> None:
        group = cluster.groups.get(name)
        if group is None:
            return
        region = cluster.caller.region
        group.image_release_version = version
        group.image_id = (
            image_id(region=region, release_version=version) if image == "default" else image
        )
        group.status, group.software_update_status = "Updating", "Succeeded"
        for node in group.nodes:
            if node.status == "SystemUpdating":
                node.status, node.software_updated_at = "Running", now
                node.image_release_version = version
