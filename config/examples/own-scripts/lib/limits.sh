# shellcheck shell=bash
# Limits of the services that systemd starts, containerd among them.

raise_limits() {
  # ROOT is empty on a node.
  local folder=${ROOT:-}/etc/systemd/system.conf.d
  mkdir -p "$folder"
  printf '[Manager]\nDefaultLimitNOFILE=1048576\nDefaultLimitMEMLOCK=infinity\n' \
    >"$folder/90-limits.conf"
}
