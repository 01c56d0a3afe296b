#!/usr/bin/env bash
# Time of a page of each list with few runs in the table and with ROWS (a million). The caller owns a tenth of these
# runs, and one of the caller's threads a tenth of the caller's runs. One client, one request at a time. Needs wrk.
set -euo pipefail
# shellcheck source=bench/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
rows=${ROWS:-1000000} seconds=${SECONDS_PER_ROUND:-3} rounds=${ROUNDS:-3}
serve_bench "${PORT:-18195}" '[accounts.tiers.free]
concurrent_runs = 1000
threads = 100000000'
me=$(cat /proc/sys/kernel/random/uuid)
token=$("$build/bin/runyard" token "${options[@]}" --subject "$me")
auth=(-H "Authorization: Bearer $token")
start() { curl -sf "${auth[@]}" -F prompt=hello "$@" "$base/agent/start"; }
field() { sed -E "s/.*\"$1\":\"([^\"]+)\".*/\1/"; }
first=$(start)
thread=$(field thread_id <<<"$first")
for _ in $(seq 60); do sleep 0.05; start >/dev/null; done
for _ in $(seq 60); do
  until next=$(start -F "thread_id=$thread" 2>/dev/null); do sleep 0.02; done
done
sleep 1
# Milliseconds of one request.
time_of() { wrk -t1 -c1 -d"${seconds}s" -H "Authorization: Bearer $token" "$base$1" | awk '/Requests\/sec/{printf "%.3f\n", 1000 / $2}'; }
cursor_of() { curl -sf "${auth[@]}" "$base$1" | sed -E 's/.*"next_cursor":"([^"]+)".*/\1/'; }
lists=("/agent-runs?limit=20" "/agent-runs?limit=20&status=completed" "/agent-runs/active" "/threads?limit=20"
  "/thread/$thread/agent-runs?limit=20" "/threads/$thread/messages?limit=20")
measure() {
  local list cursor
  for list in "${lists[@]}"; do
    for _ in $(seq "$rounds"); do time_of "$list"; done | median >>"$1"
  done
  cursor=$(cursor_of "/agent-runs?limit=50")
  for _ in $(seq "$rounds"); do time_of "/agent-runs?limit=20&cursor=$cursor"; done | median >>"$1"
}
measure "$work/few"
psql -Xq "$url" >/dev/null <<SQL
create function pg_temp.id(n bigint) returns uuid language sql as \$\$
  -- UUIDv7 of moments before now, one millisecond each.
  select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid
\$\$;
create temp table made as
select pg_temp.id(n + 10000) as id, case when n % 10 = 0 then '$me'::uuid else md5((n % 1000)::text)::uuid end as account,
       case when n % 100 = 0 then '$thread'::uuid else md5('t' || n)::uuid end as thread, n
  from generate_series(1, $rows) n;
insert into runs.runs (id, account_id, project_id, thread_id, agent_id, agent_version, model, status, job_id, fence, seq_reserved,
                       timeout_seconds, reason, started_at, completed_at)
select id, account, md5('p' || n)::uuid, thread, md5('a')::uuid, 1, 'runyard/basic', 'completed', 0, 0, 9, 3000, 'ok',
       now() - n * interval '1 ms', now() from made;
insert into runs.threads (id, project_id, account_id, title, created_at)
select thread, md5('p' || n)::uuid, account, 'x', now() - n * interval '1 ms' from made where n % 100 <> 0;
insert into runs.messages (thread_id, id, run_id, role, body)
select thread, md5('m' || n)::uuid, id, 'user', '{"role":"user","content":"hello"}' from made;
vacuum analyze runs.runs; vacuum analyze runs.threads; vacuum analyze runs.messages;
SQL
measure "$work/many"
echo "list: ms with few runs, ms with $rows, ratio"
paste -d' ' <(printf '%s\n' "${lists[@]}" "/agent-runs, second page" | sed "s/$thread/ID/; s/ /_/g") "$work/few" "$work/many" | awk '{printf "%s: %s %s %.2f\n", $1, $2, $3, $3 / $2}'
