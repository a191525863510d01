"""Values of an instance group's keys, as tests combine them."""

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd"
ROLE = "arn:aws:iam::111122223333:role/Nodes"
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5"
SUBNET, FIREWALL = "subnet-0123456789abcdef0", "sg-0123456789abcdef0"
ROOT = {"root_volume": True, "kms_key_id": KEY}
DATA = {"volume_size_gib": 100}
DNS = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
LUSTRE = {"dns_name": DNS, "mount_name": "abcdefgh"}


def mounts(count: int) -> list[dict[str, str]]:
    """Return so many mounts of file systems."""
    return [{**LUSTRE, "mount_path": f"/fs{index}"} for index in range(count)]
