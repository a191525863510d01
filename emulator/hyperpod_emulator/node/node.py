"""A node: its lifecycle scripts, run for real, and its network interfaces."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hyperpod_emulator.aws.ec2.network import ANYWHERE, HTTPS, covers, leads_out, route_table_of
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.hyperpod import Subnet

STUB = Path(__file__).with_name("command.sh")
"""Stands in for each system command."""
_SLURM_STUB = Path(__file__).with_name("slurm_command.sh")
_SLURM_STUBBED = (
    *("chown", "getent", "groupadd", "hostname", "runuser", "ssh-keygen", "stat", "useradd"),
)
_STUBBED = (
    *("findmnt", "ip", "lctl", "lnetctl", "lsblk", "modinfo", "modprobe"),
    *("mountpoint", "nvidia-ctk", "sync", "systemctl"),
)

CONFIG_V3 = """\
version = 3
root = "/var/lib/containerd"
state = "/run/containerd"

[plugins.'io.containerd.cri.v1.runtime'.containerd]
default_runtime_name = "runc"

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
"""
CONFIG_AL2 = """\
version = 2
#root = "/var/lib/containerd"
state = "/run/containerd"

[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".registry]
root = "a key of the same name in a table"
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of the scripts gave."""

    code: int
    output: str
    calls: list[str]


class NodeInstance:
    """A node before its first boot script, all in a directory; change it, then `run`."""

    def __init__(
        self,
        directory: Path,
        *,
        scripts: Path,
        release: str = "amzn-2023",
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Make a node.

        Args:
            directory: Where all of it is.
            scripts: Its lifecycle scripts, which keep to the folder that the variable
                HYPERPOD_LIFECYCLE_ROOT names, in place of the root of the file system.
            release: Its operating system.
            environment: Further variables of its scripts.
        """
        self._environment = environment
        self.root = directory / "root"
        self._state = directory / "state"
        self._bin = directory / "bin"
        self._scripts = shutil.copytree(scripts, directory / "scripts")
        for folder in (self.root, self._state, self._bin):
            folder.mkdir()
        for name in _STUBBED:
            (self._bin / name).symlink_to(STUB)
        for name in ("mounts", "disks", "active", "missing_modules", "failing", "calls"):
            (self._state / name).touch()
        (self._state / "containerd_command").write_text("ExecStart=/usr/bin/containerd\n")
        (self.root / "etc/systemd/system").mkdir(parents=True)
        system, version = release.split("-")
        self.write("etc/os-release", f'ID="{system}"\nVERSION_ID="{version}"\n')
        if release == "amzn-2":
            self.write("etc/eks/containerd/containerd-config.toml", CONFIG_AL2)
        else:
            self.write("etc/containerd/config.toml", CONFIG_V3)
        self.write("var/lib/containerd/io.containerd.content/pause", "image layer")
        self.write("var/lib/kubelet/config.json", "{}")
        self.write("var/lib/kubelet/.hidden", "a dot file")

    def write(self, path: str, text: str) -> None:
        """Write a file; a `root = "/…"` in it means a path of this tree, never of the machine."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace('root = "/', f'root = "{self.root}/'))

    def read(self, path: str) -> str:
        """Return the text of a file, with paths as the node sees them."""
        return (self.root / path).read_text().replace(str(self.root), "")

    def state(self, name: str, *lines: str) -> None:
        """Set one of the stubs' state files."""
        (self._state / name).write_text("".join(f"{line}\n" for line in lines))

    def mount(self, *paths: str) -> None:
        """Mount a volume at each of these paths, and nowhere else."""
        for path in paths:
            (self.root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        self.state("mounts", *(f"{self.root}{path}" for path in paths))

    def add_gpu(self) -> None:
        """Put an NVIDIA GPU into the node."""
        self.write("sys/bus/pci/devices/0000:00:1e.0/vendor", "0x10de\n")

    def add_rdma(self, *devices: str, driver: str = "efa") -> None:
        """Put RDMA devices into the node."""
        for device in devices:
            folder = self.root / "sys/class/infiniband" / device / "device"
            folder.mkdir(parents=True)
            (folder / "driver").symlink_to(f"../../../../bus/pci/drivers/{driver}")

    def set_instance_type(self, name: str) -> None:
        """Set the instance type, without `ml.`."""
        self.write("sys/devices/virtual/dmi/id/product_name", f"{name}\n")

    def join_slurm(self, address: str, files: Mapping[str, str]) -> None:
        """Make it a node that the AMI for Slurm has set up, with the files of HyperPod by path."""
        for name in _SLURM_STUBBED:
            (self._bin / name).symlink_to(_SLURM_STUB)
        self.state("addresses", address)
        self.state("owners")
        self.write("etc/passwd", "root:x:0:0::/root:/bin/bash\n")
        self.write("etc/group", "root:x:0:\n")
        (self.root / "etc/skel").mkdir()
        for path, text in files.items():
            self.write(path.lstrip("/"), text)

    def run(self, entry: str = "on_create.sh", **settings: str) -> Run:
        """Run on_create.sh, or another script, once; the calls are those of this run."""
        done = self._execute(self._scripts / entry, settings)
        output = done.stdout.replace(str(self.root), "")
        return Run(code=done.returncode, output=output, calls=self._calls())

    def _execute(self, script: Path, settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
        (self._state / "calls").write_text("")
        environment = {
            "PATH": f"{self._bin}:{os.defpath}",
            "STUB_STATE": str(self._state),
            "HYPERPOD_LIFECYCLE_ROOT": str(self.root),
            **self._environment,
            **settings,
        }
        return subprocess.run(  # noqa: S603 - our own scripts
            [shutil.which("bash") or "/bin/bash", str(script)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )

    def _calls(self) -> list[str]:
        return (self._state / "calls").read_text().replace(str(self.root), "").splitlines()


_ALL_TRAFFIC, _HTTPS = "-1", 443
_FSX_PORTS = {"FsxLustreConfig": 988, "FsxOpenZfsConfig": 2049}
_Rule = Mapping[str, Any]
_Groups = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VpcNetwork:
    """Looks at the subnets and security groups of an account in a region."""

    clients: AwsClients

    def find(self, subnet_id: str) -> Subnet | None:
        """Return the subnet, or None when it is not known."""
        of_id = [{"Name": "subnet-id", "Values": [subnet_id]}]
        for found in self.clients("ec2").describe_subnets(Filters=of_id)["Subnets"]:
            return Subnet(
                subnet_id=subnet_id,
                cidr=found["CidrBlock"],
                availability_zone=found["AvailabilityZone"],
                availability_zone_id=found["AvailabilityZoneId"],
            )
        return None

    def zones(self) -> Mapping[str, str]:
        """Return the ids of the zones by their names."""
        found = self.clients("ec2").describe_availability_zones()["AvailabilityZones"]
        return {zone["ZoneName"]: zone["ZoneId"] for zone in found}

    def reaches_s3(self, *, subnet_id: str, groups: tuple[str, ...]) -> bool:
        """Return whether a node gets its lifecycle scripts.

        It has no public address, so that an internet gateway leads nowhere:
        https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Internet_Gateway.html.
        And without DNS support it finds no name:
        https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html.
        """
        ec2 = self.clients("ec2")
        [subnet] = ec2.describe_subnets(SubnetIds=[subnet_id])["Subnets"]
        vpc_id = subnet["VpcId"]
        attribute = ec2.describe_vpc_attribute(VpcId=vpc_id, Attribute="enableDnsSupport")
        in_vpc = [{"Name": "vpc-id", "Values": [vpc_id]}]
        table = route_table_of(subnet_id, ec2.describe_route_tables(Filters=in_vpc)["RouteTables"])
        return (
            attribute["EnableDnsSupport"]["Value"]
            and any(_opens(rule) for rule in self._rules(groups, "IpPermissionsEgress"))
            and (leads_out(table) or _has_endpoint(ec2, in_vpc, table))
        )

    def mounts(
        self, *, storage: Sequence[Mapping[str, Any]], subnet_id: str, groups: tuple[str, ...]
    ) -> bool:
        """Return whether each FSx file system is in the node's VPC and lets the node in.

        The ports: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
        and https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html.
        """
        wanted = [
            (each[kind], port)
            for each in storage
            for kind, port in _FSX_PORTS.items()
            if kind in each
        ]
        if not wanted:
            return True
        ec2, fsx = self.clients("ec2"), self.clients("fsx")
        [subnet] = ec2.describe_subnets(SubnetIds=[subnet_id])["Subnets"]
        found = {
            each.get("DNSName"): each
            for each in fsx.describe_file_systems()["FileSystems"]
            if each["VpcId"] == subnet["VpcId"]
        }
        return all(
            (system := found.get(mount["DnsName"])) is not None
            and mount.get("MountName") == system.get("LustreConfiguration", {}).get("MountName")
            and self._lets_in(system, port, subnet=subnet, groups=groups)
            for mount, port in wanted
        )

    def _lets_in(
        self, system: Mapping[str, Any], port: int, *, subnet: Mapping[str, Any], groups: _Groups
    ) -> bool:
        interfaces = self.clients("ec2").describe_network_interfaces(
            NetworkInterfaceIds=system["NetworkInterfaceIds"]
        )["NetworkInterfaces"]
        there = tuple(each["GroupId"] for one in interfaces for each in one["Groups"])
        here = IPv4Network(subnet["CidrBlock"])
        return any(
            covers(rule, port)
            and (
                {pair["GroupId"] for pair in rule["UserIdGroupPairs"]} & {*groups}
                or any(here.subnet_of(IPv4Network(each["CidrIp"])) for each in rule["IpRanges"])
            )
            for rule in self._rules(there, "IpPermissions")
        )

    def passes_efa(self, *, groups: tuple[str, ...]) -> bool:
        """Return whether all traffic of the groups passes within them, by name.

        https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security
        """
        return all(
            any(
                rule["IpProtocol"] == _ALL_TRAFFIC
                and {pair["GroupId"] for pair in rule["UserIdGroupPairs"]} & {*groups}
                for rule in self._rules(groups, direction)
            )
            for direction in ("IpPermissions", "IpPermissionsEgress")
        )

    def _rules(self, groups: tuple[str, ...], direction: str) -> Iterator[_Rule]:
        found = self.clients("ec2").describe_security_groups(GroupIds=list(groups))
        for group in found["SecurityGroups"]:
            yield from group[direction]


def _has_endpoint(
    ec2: Any,  # noqa: ANN401 - a client
    in_vpc: list[dict[str, Any]],
    table: Mapping[str, Any],
) -> bool:
    """Return whether S3 has a gateway endpoint on the table, or an interface in the VPC."""
    return any(
        each["ServiceName"].endswith(".s3")
        and (each["VpcEndpointType"] != "Gateway" or table["RouteTableId"] in each["RouteTableIds"])
        for each in ec2.describe_vpc_endpoints(Filters=in_vpc)["VpcEndpoints"]
    )


def _opens(rule: _Rule) -> bool:
    """Return whether a rule lets HTTPS out to addresses of the world, or of a prefix list."""
    is_wide = any(each["CidrIp"] == ANYWHERE for each in rule["IpRanges"])
    return covers(rule, HTTPS) and (is_wide or bool(rule["PrefixListIds"]))
