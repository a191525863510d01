"""Networks that tests build: the default one, three zones, an existing one."""

from typing import Any

SUBNET = "AWS::EC2::Subnet"
DEFAULTS: dict[str, Any] = {
    "public_subnet_cidrs": ["10.192.10.0/24", "10.192.11.0/24"],
    "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az2"}],
    "availability_zone_ids": ["usw2-az1", "usw2-az2"],
}
THREE_ZONES = {
    "public_subnet_cidrs": ["10.192.10.0/24", "10.192.11.0/24", "10.192.12.0/24"],
    "eks_subnet_cidrs": ["10.192.7.0/28", "10.192.8.0/28", "10.192.9.0/28"],
    "availability_zone_ids": ["usw2-az3", "usw2-az1", "usw2-az4"],
    "hyperpod_subnets": [
        {"cidr": "10.192.64.0/18", "availability_zone_id": "usw2-az4"},
        {"cidr": "10.2.0.0/16", "availability_zone_id": "usw2-az3"},
        {"cidr": "10.3.0.0/16"},
    ],
}
EXISTING: dict[str, Any] = {
    "vpc_id": "vpc-0123456789abcdef0",
    "eks_subnet_ids": ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"],
    "nat_gateway_ids": ["nat-0123456789abcdef0"],
    "hyperpod_subnets": [{"cidr": "10.0.0.0/16", "availability_zone_id": "usw2-az1"}],
}
