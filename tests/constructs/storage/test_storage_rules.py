"""What the section accepts, and what FSx or caution refuses."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

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
    ("fields", "place"),
    [
        ({"capacity_gib": 1300}, "capacity_gib"),
        ({"capacity_gib": 3600}, "capacity_gib"),
        ({"throughput_mbps_per_tib": 200}, "throughput_mbps_per_tib"),
        ({"delete_with_stack": True}, "i_understand_all_files_are_deleted"),
        ({"efa_enabled": True}, "capacity_gib"),
        (
            {"efa_enabled": True, "capacity_gib": 7200, "throughput_mbps_per_tib": 1000},
            "capacity_gib",
        ),
        ({"efa_enabled": True, "capacity_gib": 19200, "metadata_iops": 3000}, "metadata_iops"),
        ({"metadata_iops": 4500}, "metadata_iops"),
        ({"metadata_iops": 204000}, "metadata_iops"),
        ({"metadata_mode": "USER_PROVISIONED"}, "metadata_iops"),
        ({"metadata_mode": "AUTOMATIC", "metadata_iops": 3000}, "metadata_iops"),
        ({**TIERED, "metadata_iops": 3000}, "metadata_iops"),
        ({**TIERED, "metadata_mode": "AUTOMATIC"}, "metadata_mode"),
        ({**TIERED, "throughput_mbps": 6000}, "throughput_mbps"),
        ({**TIERED, "throughput_mbps": None}, "throughput_mbps"),
        ({**TIERED, "capacity_gib": 2400}, "capacity_gib"),
        ({**TIERED, "read_cache": "USER_PROVISIONED"}, "read_cache_gib"),
        ({**TIERED, "read_cache": "USER_PROVISIONED", "read_cache_gib": 16}, "read_cache_gib"),
        ({**TIERED, "read_cache_gib": 64}, "read_cache_gib"),
        ({"throughput_mbps": 4000}, "throughput_mbps"),
        ({"storage_type": "HDD"}, "storage_type"),
        ({"backup_start_time": "02:00"}, "backup_start_time"),
        ({"backup_retention_days": 91}, "backup_retention_days"),
        ({"backup_retention_days": 1, "backup_start_time": "25:00"}, "backup_start_time"),
        ({"weekly_maintenance_start_time": "8:03:00"}, "weekly_maintenance_start_time"),
        ({"data_repositories": [LINK], "backup_retention_days": 7}, "backup_retention_days"),
        (
            {"data_repositories": [{"path": f"/{n}", "new_bucket": True} for n in range(9)]},
            "data_repositories",
        ),
        ({"data_repositories": [{}]}, "data_repositories.0..new_bucket"),
        ({"data_repositories": [{**LINK, "new_bucket": True}]}, "data_repositories.0..new_bucket"),
        ({"data_repositories": [{**LINK, "path": "data"}]}, "data_repositories.0..path"),
        (
            {"data_repositories": [{**LINK, "export_events": ["MOVED"]}]},
            "data_repositories.0..export_events.0.",
        ),
        *(
            (
                {
                    "data_repositories": [
                        {"path": one, "new_bucket": True},
                        {"path": other, "new_bucket": True},
                    ]
                },
                r"data_repositories.1..path",
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
            "data_repositories.1..s3_uri",
        ),
        ({"data_repository_s3_uri": "s3://b"}, "data_repository_s3_uri"),
        ({"data_repository_export": True}, "data_repository_export"),
        ({"root_squash": True}, "root_squash"),
        ({"file_system_id": "fs-1"}, "file_system_id"),
        ({"file_system_id": ID, "capacity_gib": 2400}, "capacity_gib"),
        ({"file_system_id": ID, "data_repositories": [LINK]}, "data_repositories"),
        ({"more_file_systems": [{"name": "a"}, {"name": "a"}]}, "more_file_systems.1. .a..name"),
        ({"more_file_systems": [{}]}, "more_file_systems.0..name"),
        (
            {"more_file_systems": [{"name": "a", "capacity_gib": 1}]},
            "more_file_systems.0. .a..capacity_gib",
        ),
        (
            {"file_system_id": ID, "more_file_systems": [{"name": "a", "file_system_id": ID}]},
            "more_file_systems.0. .a..file_system_id",
        ),
        (
            {"more_file_systems": [{"name": "a", "claims": [{"name": "fsx-claim"}]}]},
            "more_file_systems.0. .a..claims.0. .fsx-claim..name",
        ),
        ({"claims": [{"access": "ReadWriteOnce"}]}, "claims.0..access"),
        ({"home_directories": {"throughput_mbps": 64}}, "home_directories.throughput_mbps"),
        (
            {"home_directories": {"deployment_type": "SINGLE_AZ_1"}},
            "home_directories.throughput_mbps",
        ),
        (
            {"home_directories": {"deployment_type": "MULTI_AZ_1"}},
            "home_directories.deployment_type",
        ),
        ({"home_directories": {"capacity_gib": 63}}, "home_directories.capacity_gib"),
    ],
)
def test_what_is_refused(fields: dict[str, Any], place: str, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(ConfigError, match=rf"(?m)^StorageConfig\.{place}") as refused:
        StorageConfig(**fields)

    assert refused.value.lines == snapshot
