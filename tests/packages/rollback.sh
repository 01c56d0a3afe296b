#!/bin/bash
# Upgrades a module to a version with a migration and rolls it back, like an operator of the packaged server, as root on
# the system where it is installed. scripts/check-packages sends requests at the same time and counts failures.
#   rollback.sh install VERSIONS   installs version 1 into the running server
#   rollback.sh change VERSIONS    version 2 with a migration; a version whose start fails, by reload and by restart; version 1
#   rollback.sh remove VERSIONS
# VERSIONS: directory with v1, v2 and v2_fails, each with abi_stock.so. Prints a line per check, "ok: ..." or "FAILED:
# ...", and at the end "done: N failures".
set -uo pipefail
action=${1:?} versions=${2:?}
config=/etc/runyard/runyard.toml file=/usr/lib/runyard/modules/abi_stock.so drop_in=/etc/runyard/modules.d/abi_stock.toml
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ok() { printf 'ok: %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
install_version() { install "$versions/$1/abi_stock.so" "$file"; }
modules() { timeout 100 runyard modules "$1" abi_stock --config "$config" >"$work/out" 2>&1; }
serves() {  # VERSION WHAT
  local body
  body=$(curl -s -m 100 http://127.0.0.1:8080/abi_stock)
  if [[ $body == *"\"version\":\"$1\""* ]]; then ok "$2"; else fail "$2: the response is $body"; fi
}
active() { [[ $(systemctl show -P ActiveState runyard.service) == active ]]; }
last_log() { journalctl --no-pager -u runyard.service -o cat -n 8 | tr '\n' '|'; }
becomes_active() {
  local end=$((SECONDS + 60))
  until active; do
    ((SECONDS < end)) || { fail "$1: the server is $(systemctl show -P ActiveState runyard.service)"; return 1; }
    sleep 0.2
  done
}

case $action in
  install)
    install_version v1
    printf '[modules.abi_stock]\nenabled = true\n' >"$drop_in"
    modules enable || fail "version 1 is not enabled: $(cat "$work/out")"
    serves 1.0.0 'version 1 serves'
    ;;
  change)
    install_version v2
    modules reload || fail "version 2 is rejected: $(cat "$work/out")"
    serves 2.0.0 'version 2 serves after its migration'
    install_version v2_fails
    if modules reload; then fail 'a version whose start fails is accepted'; fi
    grep -q 'the shelves are full' "$work/out" || fail "the error message gives no reason: $(cat "$work/out")"
    serves 2.0.0 'version 2 still serves after a rejected reload'
    install_version v1
    modules reload || fail "version 1 is rejected after version 2: $(cat "$work/out")"
    serves 1.0.0 'version 1 serves again'
    # While no server runs, requests wait in the socket of systemd.
    install_version v2_fails
    if systemctl restart runyard.service 2>"$work/out"; then fail 'the server starts with a required module whose start fails'; fi
    install_version v1
    becomes_active 'after a failed start' && serves 1.0.0 'version 1 serves after a failed start of the server'
    # The starts above count towards systemd's start limit.
    systemctl reset-failed runyard.service
    systemctl restart runyard.service || fail "a restart with version 1: $(last_log)"
    serves 1.0.0 'version 1 starts on the newer schema'
    ;;
  remove)
    modules disable || fail "the module cannot be disabled: $(cat "$work/out")"
    rm -f "$file" "$drop_in"
    ;;
esac
printf 'done: %d failures\n' "$failures"
