#!/usr/bin/env bash
# On a node with an NVIDIA GPU, make nvidia containerd's default runtime unless it is already.
# shellcheck source-path=SCRIPTDIR source=../lib/step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"

readonly NVIDIA_PCI_VENDOR=0x10de
readonly DEFAULT_RUNTIME='^([[:space:]]*default_runtime_name[[:space:]]*=[[:space:]]*)'
readonly NVIDIA_RUNTIME='^[[:space:]]*\[.*runtimes\."?nvidia"?\]'

# By PCI id, not by nvidia-smi: true also while the driver is not loaded yet.
has_nvidia_gpu() {
  grep -qsx "$NVIDIA_PCI_VENDOR" "$ROOT"/sys/bus/pci/devices/*/vendor
}

if ! has_nvidia_gpu; then
  say "no NVIDIA GPU: nothing to do"
  exit 0
fi

command=$(containerd_command)
files=$(containerd_config_files "$command")
if [[ -z $files ]]; then
  # nodeadm on Amazon Linux 2023 writes it later and looks for the GPU itself.
  say "containerd has no configuration yet: the image's own start-up chooses the runtime"
  exit 0
fi

changed=false
while read -r file; do
  if grep -qE "${DEFAULT_RUNTIME}[\"']nvidia[\"']" "$file"; then
    say "$file: nvidia is the default runtime already"
    continue
  fi
  if grep -qE "$NVIDIA_RUNTIME" "$file" && grep -qE "$DEFAULT_RUNTIME" "$file"; then
    sed -i -E "s/$DEFAULT_RUNTIME.*/\1\"nvidia\"/" "$file"
  elif command -v nvidia-ctk >/dev/null; then
    nvidia-ctk runtime configure --runtime=containerd --config="$file" --set-as-default </dev/null
  else
    say "WARNING $file has no nvidia runtime and the image has no nvidia-ctk:" \
      "pods see no GPU unless the GPU operator installs the runtime"
    continue
  fi
  changed=true
  say "$file: nvidia is now the default runtime"
done <<<"$files"

if [[ $changed == true ]]; then
  systemctl try-restart containerd
fi
