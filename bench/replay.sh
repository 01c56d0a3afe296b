#!/usr/bin/env bash
# Replay of a long run: measures events per second of GET /agent-run/{id}/stream for a finished run, compared with COPY
# TO on the same rows, alternately. Server and PostgreSQL (the server's own embedded one) on core 0, the readers on core
# 1. EVENTS sets the length of the run, with 20 bytes of text each; ROW sets the number of events per log row.
set -euo pipefail
# shellcheck source=bench/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
rounds=${ROUNDS:-7} events=${EVENTS:-100000} row=${ROW:-60}
serve_bench "${PORT:-18194}" '' taskset -c 0
token=$("$build/bin/runyard" token "${options[@]}" --subject "$(cat /proc/sys/kernel/random/uuid)")
auth=(-H "Authorization: Bearer $token")
id=$(curl -sf "${auth[@]}" -F prompt=hello "$base/agent/start" | sed -E 's/.*"agent_run_id":"([^"]+)".*/\1/')
curl -sfN "${auth[@]}" "$base/agent-run/$id/stream" >/dev/null
# Replaces the run's events with EVENTS generated ones; the last is the terminal event.
psql -Xq "$url" >/dev/null <<SQL
delete from runs.events where run_id = '$id';
insert into runs.events (run_id, seq, last_seq, wire)
select '$id', min(n), max(n),
       coalesce('llm_response_chunk ' || min(n) || ' [' || string_agg(format('"%s"', lpad(n::text, 20, 'x')), ',' order by n)
         filter (where n < $events) || E']\n\n', '') ||
       coalesce(max(runs.event_wire(n, format('{"type": "status", "sequence": %s, "status": "completed"}', n)))
         filter (where n = $events), '')
  from generate_series(1, $events) n group by (n - 1) / $row;
update runs.runs set border_seq = $events, seq_reserved = $events where id = '$id';
vacuum analyze runs.events;
SQL
now() { date +%s%N; }
per_second() { awk -v n="$events" -v t="$(($2 - $1))" 'BEGIN{printf "%.0f\n", n / t * 1e9}'; }
copy() {
  local a; a=$(now)
  taskset -c 1 psql -Xq "$url" -c "copy (select seq, wire from runs.events where run_id = '$id' order by seq) to stdout" >"$work/copied"
  per_second "$a" "$(now)"
}
replay() {
  local a; a=$(now)
  taskset -c 1 curl -sfN "${auth[@]}" "$base/agent-run/$id/stream$1" >"$work/replayed"
  per_second "$a" "$(now)"
}
copy >/dev/null; replay '' >/dev/null
[[ $(grep -c '^id: ' "$work/replayed") == "$events" ]] || { echo "the replay is incomplete" >&2; exit 1; }
for i in $(seq "$rounds"); do
  c=$(copy); r=$(replay ''); m=$(replay '?coalesce_ms=1'); s=$(replay '?mode=snapshot')
  echo "$c" >>"$work/c"; echo "$r" >>"$work/r"; echo "$m" >>"$work/m"; echo "$s" >>"$work/s"
  awk -v a="$r" -v b="$c" 'BEGIN{print a/b}' >>"$work/q"
  echo "round $i: COPY TO $c events/s, replay $r, merged $m, snapshot $s"
done
echo "median: COPY TO $(median <"$work/c") events/s, replay $(median <"$work/r") (ratio $(median <"$work/q")), merged $(median <"$work/m"), snapshot $(median <"$work/s")"
