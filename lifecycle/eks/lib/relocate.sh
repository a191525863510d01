# shellcheck shell=bash
# Copying a directory to the data volume without ever losing it.

# Make directory $2 a copy of directory $1 (empty when there is no $1). $2 appears complete or not
# at all. A $2 left by an earlier image of this node is deleted, after the copy succeeded: what
# containerd and kubelet keep there (images, pods) is of no use to another operating system.
copy_directory() {
  local source=$1 target=$2
  rm -rf -- "$target.new" "$target.old"
  mkdir -p -- "$target.new"
  if [[ -d $source ]]; then
    cp -a -- "$source/." "$target.new/" || fail "cannot copy $source to $target; nothing was deleted" \
      "check: free space (df -h $(dirname "$target")) and errors of the disk (dmesg)"
  fi
  if [[ -e $target ]]; then
    mv -- "$target" "$target.old"
  fi
  mv -- "$target.new" "$target"
  rm -rf -- "$target.old"
}
