# shellcheck shell=bash
# Where containerd keeps its configuration and its data on this node.

# Amazon Linux 2 copies this over containerd's own file when the node joins the cluster.
readonly AL2_CONFIG=${ROOT:-}/etc/eks/containerd/containerd-config.toml

# Print the command that systemd starts containerd with, drop-ins included.
containerd_command() {
  local command
  command=$(systemctl show containerd.service --property=ExecStart |
    sed -n 's/.*argv\[\]=\(.*\) ; ignore_errors=.*/\1/p')
  if [[ -z $command ]]; then
    fail "systemd has no containerd.service with a start command" \
      "check: systemctl cat containerd.service; the image must ship containerd"
  fi
  printf '%s\n' "$command"
}

# Print the value of option $1 (as in --root) in command line $2, or nothing.
option_value() {
  sed -nE "s/.*[[:space:]]$1[=[:space:]]([^[:space:]]+).*/\1/p" <<<"$2"
}

# Print the configuration files of this node that exist, given containerd's command line $1.
containerd_config_files() {
  local own file
  own=$(option_value --config "$1")
  for file in "$AL2_CONFIG" "${own:-$ROOT/etc/containerd/config.toml}"; do
    if [[ -f $file ]]; then
      printf '%s\n' "$file"
    fi
  done
}

# Print the data directory in effect, given containerd's command line $1: the command's --root, else
# the file's root, else containerd's default.
containerd_root() {
  local root file
  root=$(option_value --root "$1")
  if [[ -z $root ]]; then
    file=$(containerd_config_files "$1" | tail -n 1)
    root=${file:+$(toml_root "$file")}
  fi
  printf '%s\n' "${root:-$ROOT/var/lib/containerd}"
}
