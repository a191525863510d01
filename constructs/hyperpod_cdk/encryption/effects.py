"""What a change does to the key of a deployment, and to what it encrypts."""

from collections.abc import Iterator

from hyperpod_cdk.effects.effect import Effect, Properties, StackState, changes

_KEY, _LOGS, _BUCKET = "AWS::KMS::Key", "AWS::Logs::LogGroup", "AWS::S3::Bucket"


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield the key that comes or goes, and the data that gets another one from then on."""
    if not former.template:
        return  # A first deployment is told by what it makes.
    for logical_id, had, has in changes(former, wanted, _KEY):
        template = former.template if has is None else wanted.template
        # One that goes with its stack, such as a topic's, encrypts nothing that stays.
        stays = template["Resources"][logical_id].get("DeletionPolicy", "Delete") != "Delete"
        if stays and (had is None or has is None):
            kept = "left behind, without a stack, and billed on; what it has encrypted needs it"
            yield Effect(
                rule="encryption.key-new" if had is None else "encryption.key-kept",
                text=f"KMS key of the deployment: {'new' if had is None else kept}",
                place=("encryption", "create_kms_key"),
                resources=frozenset([logical_id]),
            )
    for kind, key, data in (
        (_LOGS, "logs", "logs"),
        (_BUCKET, "lifecycle_bucket", "lifecycle scripts"),
    ):
        encrypted = {
            logical_id
            for logical_id, had, has in changes(former, wanted, kind)
            if had is not None and has is not None and _key_of(had) != _key_of(has)
        }
        if encrypted:
            yield Effect(
                rule=f"encryption.{key.replace('_', '-')}",
                text=f"{data} that are written from then on are encrypted with another key",
                place=("encryption", key),
                resources=frozenset(encrypted),
            )


def _key_of(properties: Properties) -> object:
    """Return what says which key encrypts a log group or a bucket."""
    return properties.get("KmsKeyId"), properties.get("BucketEncryption")
