#!/usr/bin/env bash
# Requests per second of a trivial module route compared with nginx, which returns the same payload from its
# configuration, both on core 0, the load from core 1, alternately. Needs nginx, wrk and taskset. The cost of the call
# into the module is the additional time of a request to the module compared with one to a route of the host (/healthz),
# with the server's core saturated by either.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${RY_BUILD_DIR:-$root/build} rounds=${ROUNDS:-5} seconds=${SECONDS_PER_ROUND:-3} connections=${CONNECTIONS:-64}
work=$(mktemp -d); pids=()
chmod 755 "$work"
cleanup() { for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; wait "$p" 2>/dev/null || true; done; rm -rf "$work"; }
trap cleanup EXIT

cat >"$work/nginx.conf" <<TEXT
daemon off; worker_processes 1; pid $work/nginx.pid; error_log $work/nginx.log;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 100000000;
  server { listen 127.0.0.1:18191; location / { default_type application/json; return 200 '{"hello":"world"}'; } }
}
TEXT
taskset -c 0 nginx -c "$work/nginx.conf" & pids+=($!)
cat >"$work/runyard.toml" <<TEXT
[http]
listen = "127.0.0.1:18192"
threads = 1
[log]
level = "warn"
[modules]
path = "$build/bench"
bench_hello = { enabled = true }
TEXT
taskset -c 0 "$build/bin/runyard" serve --config "$work/runyard.toml" --set "data_dir=$work/data" >"$work/out" 2>"$work/err" & pids+=($!)
for _ in $(seq 300); do if grep -q '^listening' "$work/out"; then break; fi; sleep 0.1; done
grep -q '^listening' "$work/out" || { cat "$work/err" >&2; exit 1; }

rate() { taskset -c 1 wrk -t1 -c"$connections" -d"${seconds}s" "$1" | awk '/Requests\/sec/{print $2}'; }
median() { sort -n | awk '{v[NR]=$1} END{print v[int((NR+1)/2)]}'; }
rate http://127.0.0.1:18191/bench/hello >/dev/null; rate http://127.0.0.1:18192/bench/hello >/dev/null
for i in $(seq "$rounds"); do
  n=$(rate http://127.0.0.1:18191/bench/hello); r=$(rate http://127.0.0.1:18192/bench/hello)
  h=$(rate http://127.0.0.1:18192/healthz)
  echo "$n" >>"$work/n"; echo "$r" >>"$work/r"; awk -v a="$r" -v b="$n" 'BEGIN{print a/b}' >>"$work/q"
  awk -v a="$r" -v b="$h" 'BEGIN{printf "%d\n", 1e9/a - 1e9/b}' >>"$work/x"
  echo "round $i: nginx $n/s, runyard $r/s, host route $h/s"
done
echo "median: nginx $(median <"$work/n")/s, runyard $(median <"$work/r")/s, ratio $(median <"$work/q"), call into the module $(median <"$work/x") ns"
