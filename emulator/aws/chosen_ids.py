"""Tags by which a resource gets the id that a configuration names; AWS draws ids.

Both sides of the local AWS read them, so nothing is imported here.
"""

KMS_KEY_ID = "emulator:key-id"
NETWORK_ID = "emulator:network-id"
"""Of a VPC, subnet, security group, route table, NAT gateway or internet gateway."""
FILE_SYSTEM_ID = "emulator:file-system-id"
