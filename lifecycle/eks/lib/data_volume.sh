# shellcheck shell=bash
# Finding this node's data volume.

# Print its mount point, or nothing if the node has only its root volume.
data_volume() {
  local candidate
  for candidate in "$EBS_VOLUME" "$INSTANCE_STORE"; do
    if mountpoint -q "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
}

# Print the EBS disks from which nothing is mounted, partitions and logical volumes included.
unmounted_ebs_disks() {
  local name model
  while read -r name model; do
    if [[ $model == *"Elastic Block Store"* && -z $(mounts_of "$name") ]]; then
      printf '%s\n' "$name"
    fi
  done < <(lsblk --nodeps --noheadings --paths --output NAME,MODEL)
}

mounts_of() {
  lsblk --noheadings --output MOUNTPOINT "$1" | tr -d '[:space:]'
}
