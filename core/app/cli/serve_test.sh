#!/usr/bin/env bash
# Black-box test of a server without modules: readiness, probes, data directory, TLS, signals, and loss and recovery of
# the embedded PostgreSQL. usage: serve_test.sh path/to/runyard
set -uo pipefail
runyard=$1
[[ -x $runyard ]] || { echo "$runyard cannot be run"; exit 1; }
work=$(mktemp -d /tmp/ry-serve-XXXXXX)
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
fail() { printf 'FAILED: %s\n' "$*"; tail -n 20 out err; failures=$((failures + 1)); }
mkdir none
cat >c.toml <<'T'
data_dir = "data"
modules.path = "none"
http.listen = "127.0.0.1:0"
http.access_log = false
T

# start ARGS...: starts a server and sets server and url, or exits.
start() {
  url=''
  : >out
  "$runyard" serve --config c.toml "$@" >out 2>err </dev/null &
  server=$!
  for _ in $(seq 600); do
    url=$(sed -n 's/^listening on \(https\{0,1\}:.*\)$/\1/p' out)
    [[ -z $url ]] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  fail 'the server did not become ready'
  exit 1
}
# ended CODE: expects the server to exit with CODE within 30 s.
ended() {
  local got
  for _ in $(seq 300); do kill -0 "$server" 2>/dev/null || break; sleep 0.1; done
  kill -0 "$server" 2>/dev/null && { fail 'the server does not exit'; kill -9 "$server"; }
  wait "$server"; got=$?
  server=''
  [[ $got == "$1" ]] || fail "the server exited with $got instead of $1"
}
status() { curl -sk -m 10 -o body -w '%{http_code}' "$1"; }
becomes() {  # CODE URL: waits up to 30 s for this status
  for _ in $(seq 300); do [[ $(status "$2") == "$1" ]] && return; sleep 0.1; done
  fail "$2 did not become $1"
}

# first start: creates the data directory, the cluster and the schema
start
[[ $(cat out) == "listening on $url" ]] || fail 'stdout contains more than one line'
[[ $(status "$url/healthz") == 200 ]] || fail 'healthz'
[[ $(status "$url/readyz") == 200 ]] || fail "readyz: $(cat body)"
grep -q '"ready"' body || fail "unexpected body of readyz: $(cat body)"
[[ $(status "$url/metrics") == 200 ]] || fail 'metrics'
grep -q '^runyard_http_requests_total{method="GET",route="/healthz",status="200"} 1$' body || fail 'metrics lack the request'
[[ $(status "$url/nothing") == 404 ]] || fail 'an unknown route'
[[ $(stat -c %a data) == 7?? && $(stat -c %a data/secrets.key) == 600 ]] || fail 'permissions of the data directory'
first_node=$(cat data/node_id)
grep -q 'creating a private PostgreSQL cluster' err && grep -q 'migration applied' err || fail 'the log of the first start lacks the created cluster or the migrations'

# one data directory, one server
"$runyard" serve --config c.toml >out2 2>err2 </dev/null
[[ $? == 1 ]] && grep -q 'another server uses it' err2 || fail "a second server: $(cat err2)"
[[ $(status "$url/readyz") == 200 ]] || fail 'the second server disturbed the first'

# loss and recovery of the database
mv data/postgres/global/pg_control data/pg_control  # prevents PostgreSQL from restarting until the file is restored
kill -9 "$(head -n 1 data/postgres/postmaster.pid)"
becomes 503 "$url/readyz"
grep -q '"component":"db"' body || fail "readyz does not name the component: $(cat body)"
[[ $(status "$url/healthz") == 200 ]] || fail 'healthz fails while the database is down'
mv data/pg_control data/postgres/global/pg_control
becomes 200 "$url/readyz"

# graceful shutdown
kill -TERM "$server"; ended 0
[[ ! -e data/postgres/postmaster.pid ]] || fail 'PostgreSQL was left running'
grep -q 'stopped' err || fail 'the log lacks "stopped"'

# second start, with TLS and a base path; existing data is reused
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
  -keyout key.pem -out cert.pem 2>/dev/null
start --set http.tls.cert=cert.pem --set http.tls.key=key.pem --set http.base_path=/api
[[ $url == https://127.0.0.1:* ]] || fail "url is $url"
[[ $(status "$url/readyz") == 200 ]] || fail 'readyz over TLS'
grep -q 'creating a private PostgreSQL cluster\|migration applied' err && fail 'the second start recreated existing data'
[[ $(cat data/node_id) != "$first_node" ]] || fail 'the node id did not change at the second start'
kill -INT "$server"; ended 0

# an address in use
start
port=${url##*:}
"$runyard" serve --config c.toml --set data_dir=other --set "http.listen=127.0.0.1:$port" >out2 2>err2 </dev/null
[[ $? == 1 ]] && grep -q "cannot listen on 127.0.0.1:$port" err2 || fail "a taken port: $(cat err2)"
[[ ! -e other/postgres ]] || fail 'PostgreSQL was started although the port is taken'
grep -qi 'postgres\|migrat\|module' err2 && fail "something was started although the port is taken: $(cat err2)"
grep -qi 'terminate\|what()' err2 && fail "not a readable error message: $(cat err2)"

# a second signal right after the first belongs to the same request to stop; a later one terminates the server
# immediately, even while a request is in progress
exec 9<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow' >&9
sleep 0.3
kill -INT "$server"; kill -TERM "$server"; sleep 0.2; kill -TERM "$server"; sleep 1.5
kill -0 "$server" 2>/dev/null || fail 'the server did not wait for the request'
grep -q 'second signal' err && fail 'one request to stop counted as two'
kill -TERM "$server"; ended 1
exec 9>&-
grep -q 'second signal' err || fail 'the log lacks the second signal'

((failures == 0)) && echo 'passed'
exit $((failures > 0))
