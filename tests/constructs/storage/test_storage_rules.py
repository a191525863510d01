"""What the section accepts, and what FSx or caution refuses."""

from typing import Any

import pytest

from hyperpod_cdk import ConfigError, StorageConfig
from hyperpod_emulator.aws.fsx.rules import backup_problem, file_system_problem

ID = "fs-0123456789abcdef0"
TIERED: dict[str, Any] = {"storage_type": "INTELLIGENT_TIERING", "throughput_mbps": 4000}
LINK: dict[str, Any] = {"s3_uri": "s3://bucket"}

GOOD: list[dict[str, Any]] = [
    {},
    {"capacity_gib": 2400, "throughput_mbps_per_tib": 125, "compression": "NONE"},
    {"capacity_gib": 7200, "throughput_mbps_per_tib": 1000},
    {"capacity_gib": 38400, "throughput_mbps_per_tib": 125, "efa_enabled": True},
    {"capacity_gib": 19200, "efa_enabled": True},
    {"capacity_gib": 9600, "throughput_mbps_per_tib": 500, "efa_enabled": True},
    {"capacity_gib": 4800, "throughput_mbps_per_tib": 1000, "efa_enabled": True},
    {"metadata_mode": "AUTOMATIC"},
    *({"metadata_iops": iops} for iops in (1500, 3000, 6000, 12000, 24000, 192000)),
    {"metadata_mode": "USER_PROVISIONED", "metadata_iops": 6000},
    TIERED,
    {**TIERED, "metadata_iops": 12000},
    {**TIERED, "read_cache": "NO_CACHE"},
    {**TIERED, "read_cache": "USER_PROVISIONED", "read_cache_gib": 32},
    {**TIERED, "efa_enabled": True},
    {"backup_retention_days": 90, "backup_start_time": "23:59"},
    {"weekly_maintenance_start_time": "1:00:00"},
    {
        "data_repositories": [
            {**LINK, "path": f"/{number}", "s3_uri": f"s3://bucket{number}"} for number in range(8)
        ]
    },
]


@pytest.mark.parametrize("fields", GOOD, ids=str)
def test_fsx_takes_what_the_section_takes(fields: dict[str, Any]) -> None:
    storage = StorageConfig(**fields)

    properties = {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageType": storage.storage_type,
        "SubnetIds": ["subnet-1"],
        "StorageCapacity": None if storage.is_tiered else storage.capacity_gib,
        "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", **storage.to_request()},
    }

    assert file_system_problem(properties) is None
    assert backup_problem(properties, is_linked=bool(storage.data_repositories)) is None


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"capacity_gib": 1300}, "capacity_gib: 1300 must be 1200, 2400 or a multiple of 2400"),
        ({"capacity_gib": 3600}, "capacity_gib: 3600 must be 1200, 2400 or a multiple of 2400"),
        ({"throughput_mbps_per_tib": 200}, "throughput_mbps_per_tib: 200 is not .* 125, 250,"),
        ({"delete_with_stack": True}, "i_understand_all_files_are_deleted: false must be true too"),
        (
            {"efa_enabled": True},
            r"capacity_gib: 1200 \(the default\) must be a multiple of 19200 with efa_enabled",
        ),
        (
            {"efa_enabled": True, "capacity_gib": 7200, "throughput_mbps_per_tib": 1000},
            "capacity_gib: 7200 must be a multiple of 4800 with efa_enabled",
        ),
        (
            {"efa_enabled": True, "capacity_gib": 19200, "metadata_iops": 3000},
            "metadata_iops: 3000 must be 6000 or more with efa_enabled",
        ),
        ({"metadata_iops": 4500}, "metadata_iops: 4500 must be 1500, 3000, 6000 or a multiple of"),
        ({"metadata_iops": 204000}, "metadata_iops: 204000 must be 1500 to 192000"),
        ({"metadata_mode": "USER_PROVISIONED"}, "metadata_iops: is missing"),
        (
            {"metadata_mode": "AUTOMATIC", "metadata_iops": 3000},
            "metadata_iops: 3000 has no place next to metadata_mode: AUTOMATIC",
        ),
        ({**TIERED, "metadata_iops": 3000}, "metadata_iops: 3000 must be 6000 or 12000 for"),
        ({**TIERED, "metadata_mode": "AUTOMATIC"}, "metadata_mode: 'AUTOMATIC' must be USER_PROV"),
        ({**TIERED, "throughput_mbps": 6000}, "throughput_mbps: 6000 must be a multiple of 4000"),
        ({**TIERED, "throughput_mbps": None}, "throughput_mbps: is missing: INTELLIGENT_TIERING"),
        ({**TIERED, "capacity_gib": 2400}, "capacity_gib: 2400 belongs to storage_type SSD"),
        (
            {**TIERED, "read_cache": "USER_PROVISIONED"},
            "read_cache_gib: is missing: read_cache: USER_PROVISIONED needs it",
        ),
        (
            {**TIERED, "read_cache": "USER_PROVISIONED", "read_cache_gib": 16},
            "read_cache_gib: 16 must be 32 to 131072 GiB at 4000 MB/s",
        ),
        ({**TIERED, "read_cache_gib": 64}, "read_cache_gib: 64 goes with read_cache: USER_PROV"),
        ({"throughput_mbps": 4000}, "throughput_mbps: 4000 belongs to storage_type INTELLIGENT"),
        ({"storage_type": "HDD"}, "storage_type: 'HDD' is not a possible value"),
        ({"backup_start_time": "02:00"}, "backup_start_time: '02:00' needs backup_retention_days"),
        ({"backup_retention_days": 91}, "backup_retention_days: 91 must be 0 to 90"),
        (
            {"backup_retention_days": 1, "backup_start_time": "25:00"},
            "backup_start_time: '25:00' must match",
        ),
        ({"weekly_maintenance_start_time": "8:03:00"}, "weekly_maintenance_start_time: '8:03:00'"),
        (
            {"data_repositories": [LINK], "backup_retention_days": 7},
            "backup_retention_days: 7 has no place next to data_repositories",
        ),
        (
            {"data_repositories": [{"path": f"/{n}", "new_bucket": True} for n in range(9)]},
            "data_repositories: '9 links' must be at most 8",
        ),
        ({"data_repositories": [{}]}, "data_repositories.0..new_bucket: false must be true where"),
        (
            {"data_repositories": [{**LINK, "new_bucket": True}]},
            "data_repositories.0..new_bucket: true leaves no place for s3_uri",
        ),
        (
            {"data_repositories": [{**LINK, "path": "data"}]},
            "data_repositories.0..path: 'data' must be a path such as /s3",
        ),
        (
            {"data_repositories": [{**LINK, "export_events": ["MOVED"]}]},
            "data_repositories.0..export_events.0.: 'MOVED' is not an event",
        ),
        *(
            (
                {
                    "data_repositories": [
                        {"path": one, "new_bucket": True},
                        {"path": other, "new_bucket": True},
                    ]
                },
                rf"data_repositories.1..path: '{other}' overlaps {one}",
            )
            for one, other in (("/", "/a"), ("/a", "/a/b"), ("/a/b", "/a"), ("/a", "/a"))
        ),
        (
            {
                "data_repositories": [
                    {"path": "/a", "s3_uri": "s3://bucket/x/"},
                    {"path": "/b", "s3_uri": "s3://bucket/x/y"},
                ]
            },
            "data_repositories.1..s3_uri: 's3://bucket/x/y' overlaps s3://bucket/x/",
        ),
        ({"data_repository_s3_uri": "s3://b"}, ".*write storage.data_repositories: .{path: /s3, "),
        ({"data_repository_export": True}, ".*export_events: .NEW, CHANGED.}.* .keys"),
        ({"root_squash": True}, ".*CloudFormation has no property for it"),
        ({"file_system_id": "fs-1"}, "file_system_id: 'fs-1' must be the ID of a file system"),
        (
            {"file_system_id": ID, "capacity_gib": 2400},
            "capacity_gib: 2400 has no place next to file_system_id",
        ),
        (
            {"file_system_id": ID, "data_repositories": [LINK]},
            "data_repositories: .* has no place next to file_system_id",
        ),
        ({"more_file_systems": [{"name": "a"}, {"name": "a"}]}, "more_file_systems.1. .a..name: "),
        ({"more_file_systems": [{}]}, "more_file_systems.0..name: is missing"),
        (
            {"more_file_systems": [{"name": "a", "capacity_gib": 1}]},
            "more_file_systems.0. .a..capacity_gib: 1 must be 1200",
        ),
        (
            {"file_system_id": ID, "more_file_systems": [{"name": "a", "file_system_id": ID}]},
            "more_file_systems.0. .a..file_system_id: .* is used already",
        ),
        (
            {"more_file_systems": [{"name": "a", "claims": [{"name": "fsx-claim"}]}]},
            "more_file_systems.0. .a..claims.0. .fsx-claim..name: .* is the second claim",
        ),
        ({"claims": [{"access": "ReadWriteOnce"}]}, "claims.0..access: .* is not a possible value"),
        (
            {"home_directories": {"throughput_mbps": 64}},
            "home_directories.throughput_mbps: 64 must",
        ),
        (
            {"home_directories": {"deployment_type": "SINGLE_AZ_1"}},
            r"home_directories.throughput_mbps: 160 \(the default\) must be one of 64, 128",
        ),
        (
            {"home_directories": {"deployment_type": "MULTI_AZ_1"}},
            "home_directories.deployment_type: 'MULTI_AZ_1' is not a possible value",
        ),
        ({"home_directories": {"capacity_gib": 63}}, "home_directories.capacity_gib: 63"),
    ],
)
def test_what_is_refused(fields: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError, match=rf"(?m)^StorageConfig\.{line}"):
        StorageConfig(**fields)
