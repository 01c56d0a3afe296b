# Sourced by the benchmarks that measure one server of this build with its own embedded database.
# serve_bench PORT [TOML_TEXT [COMMAND...]]: starts the server with the modules that runs need, through COMMAND if given
# (for example taskset -c 0), and waits until it listens; the server is stopped when the script exits. Sets work (a
# temporary directory), options (for other runyard commands), base (the server's URL) and url (its database).
# RY_MODULES: a different directory of modules than that of the build.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${RY_BUILD_DIR:-$root/build}
work=$(mktemp -d) pid=''
chmod 755 "$work"
cleanup() { if [[ -n $pid ]]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi; rm -rf "$work"; }
trap cleanup EXIT
# Prints TOML settings: the model is peers/llm.mjs at PORT, and no account reaches a limit.
model_settings() { # PORT
  cat <<TEXT
[accounts.tiers.free]
concurrent_runs = 1000000
threads = 100000000
[runs.providers.model]
kind = "openai"
base_url = "http://127.0.0.1:$1/v1"
api_key = "none"
[runs.models]
"runyard/basic" = "model/mock"
TEXT
}
# Prints tokens of N accounts, one per line.
tokens_of() { for _ in $(seq "$1"); do "$build/bin/runyard" token "${options[@]}" --subject "$(cat /proc/sys/kernel/random/uuid)"; done; }
median() { sort -n | awk '{v[NR]=$1} END{print v[int((NR+1)/2)]}'; }

serve_bench() {
  local port=$1 settings=${2:-}
  shift $(($# < 2 ? $# : 2))
  cat >"$work/runyard.toml" <<TEXT
[http]
listen = "127.0.0.1:$port"
[log]
level = "error"
[modules]
path = "${RY_MODULES:-$build/modules}"
accounts = { enabled = true }
agents = { enabled = true }
runs = { enabled = true }
llm_offline = { enabled = true }
$settings
TEXT
  # All clients of a measurement come from one address.
  options=(--config "$work/runyard.toml" --set "data_dir=$work/data" --set http.limits.address_connections=0)
  : >"$work/out"
  "$@" "$build/bin/runyard" serve "${options[@]}" >"$work/out" 2>"$work/err" & pid=$!
  local line
  for _ in $(seq 6000); do
    while read -r line; do if [[ $line == listening* ]]; then break 2; fi; done <"$work/out"
    sleep 0.005
  done
  grep -q '^listening' "$work/out" || { cat "$work/err" >&2; exit 1; }
  base=http://127.0.0.1:$port
  url="postgresql://runyard@/runyard?host=$work/data/pg-socket"
}
