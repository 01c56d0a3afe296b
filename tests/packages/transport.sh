#!/bin/bash
# Executes the commands of docs/transport.md against the packaged server, as root on the system where it is installed.
# `npx` starts server-everything without network access. usage: transport.sh PAGE Prints a line per check, "ok: ..." or
# "FAILED: ...", and at the end "done: N failures".
set -uo pipefail
page=${1:?}
failures=0
work=$(mktemp -d)
cd "$work" || exit 1
export PATH=/usr/local/bin:$PATH  # contains npx

ok() { printf 'ok: %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
block() { awk -v fence="\`\`\`sh $1" '$0 == fence { on = 1; next } on && /^```$/ { exit } on' "$page"; }
run_block() {  # BLOCK PATTERN WHAT
  local commands
  commands=$(block "$1")
  [[ -n $commands ]] || { fail "$page has no block $1"; return; }
  if timeout 250 bash -euo pipefail -c "$commands" >"$work/out" 2>&1 && grep -qE -- "$2" "$work/out"; then
    ok "$3"
  else
    fail "$3: $(tail -n 15 "$work/out")"
  fi
}

run_block make '^module +carrier_pigeon 0\.1\.0$' 'a project is created and built'
setsid bash -c "$(block server)
wait" >/dev/null 2>&1 </dev/null &
server=$!
trap 'kill -- "-$server" 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  [[ ! -S /run/runyard-demo/pigeon.sock ]] || break
  sleep 0.1
done
run_block check '^[0-9]+ passed, 0 failed' 'the conformance suite'
run_block install . 'installation into the running server'
run_block call 'Echo: coo' 'a tool call'
run_block reload 'carrier_pigeon' 'a reload'
run_block call 'Echo: coo' 'a tool call after the reload'
runyard modules disable carrier_pigeon --config /etc/runyard/runyard.toml >"$work/out" 2>&1 || fail "the module cannot be disabled: $(cat "$work/out")"
rm -f /usr/lib/runyard/modules/carrier_pigeon.so /etc/runyard/modules.d/carrier_pigeon.toml
printf 'done: %d failures\n' "$failures"
