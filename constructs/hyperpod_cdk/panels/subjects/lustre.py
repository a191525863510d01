"""FSx for Lustre: free space, traffic and metadata."""

from hyperpod_cdk.panels.definition import FSX, Alarm, Line, Panel, Subject, Unit, rate

_METRICS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html"

SUBJECT = Subject(
    title="File systems",
    sources=(_METRICS,),
    has="Lustre",
    namespace=FSX,
    panels=(
        Panel(
            title="Used space",
            what="The share of a file system's space that is used.",
            unit=Unit.PERCENT,
            why=("When it is full, jobs fail to write checkpoints; before that, it gets slower."),
            to_do="Delete old checkpoints, or raise the file system's capacity_gib, which takes "
            "hours.",
            cloudwatch=(
                Line(
                    label="used",
                    metrics=("PhysicalDiskUsage", "FreeDataStorageCapacity"),
                    statistic="Sum",
                    expression="100 * m1 / (m1 + m2)",
                ),
            ),
            alarm=Alarm(name="FileSystemFills", is_above=True, threshold=85, minutes=15),
            has="SizedLustre",
        ),
        Panel(
            title="Throughput",
            what="What clients read and write.",
            unit=Unit.BYTES_A_SECOND,
            why="At the limit of the file system, GPUs wait for data and for checkpoints.",
            to_do="Raise throughput_mbps_per_tib or the capacity, or cache data on the nodes.",
            cloudwatch=(
                rate("read", "DataReadBytes"),
                rate("written", "DataWriteBytes"),
            ),
        ),
        Panel(
            title="Metadata operations",
            what="Opening, listing and deleting files.",
            unit=Unit.A_SECOND,
            why="They limit data sets of many small files, rather than throughput.",
            to_do="Pack small files into larger ones, or raise metadata_iops.",
            cloudwatch=(rate("operations", "MetadataOperations"),),
        ),
    ),
)
