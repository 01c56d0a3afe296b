#!/usr/bin/env bash
# Time of a POST /agent/start with empty queues and with QUEUED (10 000) ready jobs that no worker takes, and as
# many runs of other accounts that wait for a slot. One client, one start at a time. Needs wrk.
set -euo pipefail
# shellcheck source=bench/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
queued=${QUEUED:-10000} seconds=${SECONDS_PER_ROUND:-3} rounds=${ROUNDS:-3}
serve_bench "${PORT:-18196}" '[accounts.tiers.free]
concurrent_runs = 1000000
threads = 100000000
[runs]
max_live_runs = 1000000
[runs.providers.offline]
kind = "offline"
options = { delay_ms = 60000 }'
token=$("$build/bin/runyard" token "${options[@]}" --subject "$(cat /proc/sys/kernel/random/uuid)")
cat >"$work/start.lua" <<'LUA'
wrk.method = "POST"
wrk.body = "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nSay hello\r\n--b--\r\n"
wrk.headers["Content-Type"] = "multipart/form-data; boundary=b"
LUA
time_of() { wrk -t1 -c1 -d"${seconds}s" -s "$work/start.lua" -H "Authorization: Bearer $token" "$base/agent/start" | awk '/Requests\/sec/{printf "%.3f\n", 1000 / $2}'; }
time_of >/dev/null
for _ in $(seq "$rounds"); do time_of; done | median >"$work/empty"
psql -Xq "$url" >/dev/null <<SQL
insert into core.job (kind, queue, state, max_attempts, args)
select 'bench.never', 'bench', 0, 20, '{}' from generate_series(1, $queued);
insert into runs.runs (id, account_id, project_id, thread_id, agent_id, agent_version, model, job_id, fence, seq_reserved, timeout_seconds,
                       waiting, queue_place, slot_limit)
select gen_random_uuid(), md5((n % 100)::text)::uuid, md5('p' || n)::uuid, md5('t' || n)::uuid, md5('a')::uuid, 1, 'runyard/basic', 0, 0, 2, 3000,
       true, n / 100 + 1, 0 from generate_series(1, $queued) n;
SQL
for _ in $(seq "$rounds"); do time_of; done | median >"$work/full"
awk -v e="$(cat "$work/empty")" -v f="$(cat "$work/full")" -v n="$queued" 'BEGIN{printf "a start: %s ms with empty queues, %s ms with %d queued, ratio %.2f\n", e, f, n, f / e}'
