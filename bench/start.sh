#!/usr/bin/env bash
# POST /agent/start per second, with a durable commit before the response, compared with the rate at which pgbench
# commits one durable INSERT, on the same cluster, alternately. Needs pgbench and wrk. The database is the server's own
# embedded one. pgbench has CLIENTS connections to the database (with fewer than 40 it commits less); the starts use
# each number of connections in CONNECTIONS. The started runs are executed, but wait for a model that pauses for
# DELAY_MS before each chunk: 60000 measures the start, 0 a start with a complete short run.
set -euo pipefail
# shellcheck source=bench/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
rounds=${ROUNDS:-3} seconds=${SECONDS_PER_ROUND:-5} clients=${CLIENTS:-40} connections=${CONNECTIONS:-40 160} accounts=${ACCOUNTS:-320} delay=${DELAY_MS:-60000}
serve_bench "${PORT:-18193}" "[accounts.tiers.free]
concurrent_runs = 1000000
threads = 100000000
[runs]
max_live_runs = 1000000
[runs.providers.offline]
kind = \"offline\"
options = { delay_ms = $delay }"
{
  echo 'local tokens = {'
  for _ in $(seq "$accounts"); do
    echo "\"$("$build/bin/runyard" token "${options[@]}" --subject "$(cat /proc/sys/kernel/random/uuid)")\","
  done
  cat <<'LUA'
}
local n, requests = 0, {}
function init()
  for i, token in ipairs(tokens) do
    requests[i] = wrk.format("POST", nil, {
      ["Host"] = wrk.headers["Host"],
      ["Content-Type"] = "multipart/form-data; boundary=b",
      ["Authorization"] = "Bearer " .. token,
    }, "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nSay hello\r\n--b--\r\n")
  end
end
function request()
  n = n % #requests + 1
  return requests[n]
end
LUA
} >"$work/start.lua"
psql -Xq "$url" -c 'create table public.bench_insert (id bigint generated always as identity primary key, body text)'
echo "insert into public.bench_insert (body) values ('one durable row');" >"$work/insert.sql"
commits() { pgbench -n -M prepared -c "$clients" -j 2 -T "$seconds" -f "$work/insert.sql" "$url" 2>/dev/null | awk '/^tps/{print $3}'; }
starts() { wrk -t1 -c"$1" -d"${seconds}s" -s "$work/start.lua" "$base/agent/start" | tee "$work/wrk" | awk '/Requests\/sec/{print $2}'; }
settle() { if [[ $delay -ge 1000 ]]; then return; fi; for _ in $(seq 600); do [[ $(psql -XqAt "$url" -c 'select count(*) from core.job') == 0 ]] && return; sleep 0.2; done; }
starts 40 >/dev/null; settle
for i in $(seq "$rounds"); do
  c=$(commits); echo "$c" >>"$work/c"
  for n in $connections; do
    s=$(starts "$n")
    if grep -q 'Non-2xx' "$work/wrk"; then grep 'Non-2xx' "$work/wrk"; fi
    settle
    echo "$s" >>"$work/s$n"; awk -v a="$s" -v b="$c" 'BEGIN{print a/b}' >>"$work/q$n"
    echo "round $i: pgbench $c commits/s, $s starts/s over $n connections"
  done
done
for n in $connections; do
  echo "median: pgbench $(median <"$work/c")/s, starts over $n connections $(median <"$work/s$n")/s, ratio $(median <"$work/q$n")"
done
psql -XqAt "$url" -c "select 'runs: '||status||' '||count(*) from runs.runs group by status"
