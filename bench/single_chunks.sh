#!/usr/bin/env bash
# Cost of a chunk that is sent alone: RUNS (10 000) live runs without readers, each with one chunk of its response per
# PACE_MS (1000), for SECONDS_MEASURED (10). Prints the CPU time per chunk of the server and of its PostgreSQL, and
# the chunks per row of runs.events with their size. Needs wrk.
set -euo pipefail
# shellcheck source=bench/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
runs=${RUNS:-10000} pace=${PACE_MS:-1000} seconds=${SECONDS_MEASURED:-10}
serve_bench "${PORT:-18197}" "[accounts.tiers.free]
concurrent_runs = 1000000
threads = 100000000
[runs]
max_live_runs = 1000000
[runs.providers.offline]
kind = \"offline\"
options = { delay_ms = $pace, chunk_bytes = 1 }"
token=$("$build/bin/runyard" token "${options[@]}" --subject "$(cat /proc/sys/kernel/random/uuid)")
cat >"$work/start.lua" <<'LUA'
wrk.method = "POST"
wrk.body = "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\n" .. string.rep("Say hello to all of them. ", 20) .. "\r\n--b--\r\n"
wrk.headers["Content-Type"] = "multipart/form-data; boundary=b"
LUA
live() { psql -XqAt "$url" -c "select count(*) from runs.runs where status = 'running'"; }
until (($(live) >= runs)); do wrk -t1 -c16 -d1s -s "$work/start.lua" -H "Authorization: Bearer $token" "$base/agent/start" >/dev/null; done
sleep 5
postmaster=$(find "$work/data" -name postmaster.pid -exec head -1 {} \; 2>/dev/null)
ticks() { awk '{sub(/.*\) /, ""); n += $12 + $13} END{print n}' "$@"; }
sessions() { local p; for p in "$postmaster" $(pgrep -P "$postmaster"); do echo "/proc/$p/stat"; done; }
events() {
  psql -XqAt -F ' ' "$url" -c "select count(*), sum(last_seq - seq + 1), (select sum(pg_total_relation_size(relid)) from pg_partition_tree('runs.events')) from runs.events"
}
read -r rows_a chunks_a bytes_a <<<"$(events)"
began=$(live) server_a=$(ticks "/proc/$pid/stat") database_a=$(ticks $(sessions))
sleep "$seconds"
server_b=$(ticks "/proc/$pid/stat") database_b=$(ticks $(sessions)) ended=$(live)
read -r rows_b chunks_b bytes_b <<<"$(events)"
awk -v runs="$began" -v at_end="$ended" -v s="$seconds" -v w=$((chunks_b - chunks_a)) -v r=$((rows_b - rows_a)) -v bytes=$((bytes_b - bytes_a)) \
  -v server=$((server_b - server_a)) -v database=$((database_b - database_a)) -v hz="$(getconf CLK_TCK)" 'BEGIN{
  printf "%d live runs (%d at the end): %.0f chunks/s, %.2f per row of runs.events, %.0f bytes for each with its index\n", runs, at_end, w / s, w / r, bytes / w
  printf "CPU time per chunk: %.1f us in the server and %.1f us in PostgreSQL\n", server / hz * 1e6 / w, database / hz * 1e6 / w }'
