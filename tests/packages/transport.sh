#!/bin/bash
# docs/transport.md, followed literally against the packaged server, as root in the system that it is installed in. `npx` there
# starts server-everything without the network.
# usage: transport.sh PAGE
# Prints a line per check, "ok: ..." or "FAILED: ...", and at the end "done: N failures".
set -uo pipefail
page=${1:?}
failures=0
work=$(mktemp -d)
cd "$work" || exit 1
export PATH=/usr/local/bin:$PATH  # where npx is

ok() { printf 'ok: %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
block() { awk -v fence="\`\`\`sh $1" '$0 == fence { on = 1; next } on && /^```$/ { exit } on' "$page"; }
follow() {  # BLOCK PATTERN WHAT
  local commands
  commands=$(block "$1")
  [[ -n $commands ]] || { fail "$page has no block $1"; return; }
  if timeout 250 bash -euo pipefail -c "$commands" >"$work/out" 2>&1 && grep -qE -- "$2" "$work/out"; then
    ok "$3"
  else
    fail "$3: $(tail -n 15 "$work/out")"
  fi
}

follow make '^module +carrier_pigeon 0\.1\.0$' 'a project is made and built'
setsid bash -c "$(block server)
wait" >/dev/null 2>&1 </dev/null &
server=$!
trap 'kill -- "-$server" 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  [[ ! -S /run/runyard-demo/pigeon.sock ]] || break
  sleep 0.1
done
follow check '^[0-9]+ passed, 0 failed' 'the conformance suite'
follow install . 'into the running server'
follow call 'Echo: coo' 'a tool call'
follow reload 'carrier_pigeon' 'a reload'
follow call 'Echo: coo' 'a tool call after the reload'
runyard modules disable carrier_pigeon --config /etc/runyard/runyard.toml >"$work/out" 2>&1 || fail "it cannot be disabled: $(cat "$work/out")"
rm -f /usr/lib/runyard/modules/carrier_pigeon.so /etc/runyard/modules.d/carrier_pigeon.toml
printf 'done: %d failures\n' "$failures"
