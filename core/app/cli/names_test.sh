#!/usr/bin/env bash
# Tests the names that other programs depend on: commands, configuration keys, environment variables and the readiness
# line. usage: names_test.sh path/to/runyard path/to/build
set -uo pipefail
runyard=$1 build=$2
work=$(mktemp -d /tmp/ry-names-XXXXXX)
# If started as root, PostgreSQL runs as another user, which must be able to reach its cluster.
chmod 755 "$work"
server=''
cleanup() {
  [[ -z $server ]] || { kill -TERM "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
  rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 1
unset RUNYARD_CONFIG RUNYARD_TOKEN RUNYARD_URL
failures=0
fail() { printf 'FAILED: %s\n' "$*"; tail -n 10 out err; failures=$((failures + 1)); }

# build output
[[ $runyard == "$build/bin/runyard" ]] || fail "the executable is $runyard"
for module in accounts agents runs mcp referrals console; do
  [[ -e $build/modules/$module.so ]] || fail "there is no $build/modules/$module.so"
done

# commands: each has --help with an example and its options
while read -r command; do
  name=${command%% --*}
  # shellcheck disable=SC2086
  "$runyard" $name --help >out 2>err </dev/null || fail "runyard $name --help exited with $?"
  grep -q 'Example:' out || fail "runyard $name --help shows no example"
  for option in ${command#"$name"}; do
    grep -qE -- "(^|[^-[:alnum:]])$option([^-[:alnum:]]|$)" out || fail "runyard $name --help does not list $option"
  done
done <<'T'
serve --config --set
check --config --set --json
modules --config
modules list --config --configured --url --token --ca-file --json
modules reload --config
modules enable --config
modules disable --config
inspect
migrate --config --json
migrate forget --config --yes
completion
manual
token --subject --email --role --ttl
run --file
mcp tools
mcp call
module new
module check
T

# keys, from a file and from the environment
mkdir data
cat >keys.toml <<T
data_dir = "$work/data"
[deployment]
mode = "local"
[http]
listen = "127.0.0.1:8080"
base_path = "/api"
[database]
url = "postgresql://somebody@localhost/db"
[auth.jwt]
hs256_secret = "a-secret-of-at-least-32-characters"
jwks_url = "https://id.example/jwks.json"
[modules]
path = "$build/modules"
accounts.enabled = true
agents.enabled = true
runs.enabled = true
llm_offline.enabled = true
mcp.enabled = true
mail.enabled = true
referrals.enabled = true
console.enabled = true
[runs]
timeout_seconds = 60
[runs.providers.mine]
kind = "offline"
base_url = "http://127.0.0.1:1/v1"
api_key = "k"
[runs.models]
"runyard/basic" = "mine/basic"
[accounts]
default_tier = "free"
[mcp]
[referrals]
[console]
T
"$runyard" check --config keys.toml >out 2>err </dev/null || fail "check of all keys exited with $?"
for key in DEPLOYMENT__MODE=local HTTP__LISTEN=127.0.0.1:7 HTTP__BASE_PATH=/x DATA_DIR="$work/data" \
  DATABASE__URL=postgresql://h/d AUTH__JWT__HS256_SECRET=another-secret-of-32-characters-or-more \
  AUTH__JWT__JWKS_URL=https://id.example/j MODULES__PATH="$build/modules" MODULES__MCP__ENABLED=false \
  RUNS__PROVIDERS__MINE__KIND=offline RUNS__PROVIDERS__MINE__BASE_URL=http://h/v1 \
  RUNS__PROVIDERS__MINE__API_KEY=k2 RUNS__TIMEOUT_SECONDS=61; do
  env "RUNYARD_$key" "$runyard" check --config keys.toml --show >out 2>err </dev/null ||
    fail "check with RUNYARD_${key%%=*} exited with $?"
  grep -qF "# environment RUNYARD_${key%%=*}" out || fail "RUNYARD_${key%%=*} has no effect"
done

# readiness
printf '[deployment]\nmode = "local"\n[auth.jwt]\nhs256_secret = "a-secret-of-at-least-32-characters"\n' >served.toml
"$runyard" serve --config served.toml --set http.listen=127.0.0.1:0 --set modules.path="$build/modules" \
  --set data_dir="$work/served" --set modules.accounts.enabled=true >out 2>err </dev/null &
server=$!
url=''
for _ in $(seq 900); do
  url=$(sed -nE 's#^listening on (http://127\.0\.0\.1:[0-9]+)$#\1#p' out)
  [[ -n $url ]] && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
[[ -n $url ]] || fail 'no line "listening on http://HOST:PORT"'
[[ $(curl -s -m 10 -o body -w '%{http_code}' "$url/readyz") == 200 ]] || fail '/readyz is not 200'
kill -TERM "$server"
wait "$server" || fail "the server exited with $?"
server=''

((failures == 0)) && echo 'passed'
exit $((failures > 0))
