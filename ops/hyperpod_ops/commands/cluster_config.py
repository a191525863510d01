"""`hyperpod-ops cluster-config`."""

from hyperpod_ops.options import DEFAULT_CONFIG, ConfigFile, Region


def cluster_config(*, config: ConfigFile = DEFAULT_CONFIG, region: Region = None) -> None:
    """Print the CreateCluster request, to send it by hand.

    aws sagemaker create-cluster --cli-input-json file://cluster-config.json takes it.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cdk.config.stack_names import stack_name
    from hyperpod_ops.session import aws_session
    from hyperpod_ops.stack_outputs import outputs_of
    from hyperpod_ops.tables import print_json
    from hyperpod_ops.workshop import cluster_config as request

    loaded = load_config(config)
    cloudformation = aws_session(region=region, config=loaded).client("cloudformation")
    outputs = outputs_of(cloudformation, stack_name(loaded, "platform"))
    print_json(request.cluster_config(loaded, outputs=outputs))
