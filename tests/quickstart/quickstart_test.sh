#!/usr/bin/env bash
# Tests ./quickstart like a user at a terminal: the demonstration, Ctrl-C, a second start.
# usage: quickstart_test.sh PROJECT_DIR BUILD_DIR
set -uo pipefail
project=$1
export QUICKSTART_BUILD_DIR=$2
unset OPENAI_API_KEY ANTHROPIC_API_KEY RUNYARD_CONFIG RUNYARD_TOKEN RUNYARD_URL
work=$(mktemp -d /tmp/ry-quickstart-XXXXXX)
# If started as root, PostgreSQL runs as another user, which must be able to reach its cluster.
chmod 755 "$work"
terminal=''
cleanup() {
  [[ -z $terminal ]] || { kill -TERM "$terminal" 2>/dev/null; wait "$terminal" 2>/dev/null; }
  rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 1
failures=0
fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
shows() { grep -qE -- "$1" output || { fail "the output lacks: $1"; cat output; }; }
# After a graceful shutdown the last log line is "stopped", and PostgreSQL does not run.
stopped_clean() {
  grep -q 'second signal' data/server.log && fail 'the shutdown was not graceful'
  tail -n 1 data/server.log | grep -q 'stopped' || { fail 'the log does not end with "stopped"'; tail -n 5 data/server.log; }
  [[ ! -e data/postgres/postmaster.pid ]] || fail 'PostgreSQL is still running'
  [[ -z $(pgrep -f "$work/data" || true) ]] || fail 'a process is still running'
}

# the demonstration
"$project/quickstart" --once --port 0 --data "$work/data" >output 2>&1 </dev/null || fail "--once exited with $?"
shows '^listening on http://127\.0\.0\.1:[0-9]+'
shows '310'              # content of the file that the agent read through its tool
shows '^id: [0-9]+'      # the raw event stream
shows '^data: .*"status": *"completed"'
shows '^Done\.'
stopped_clean
account=$(cat data/quickstart-account)

# again, at a terminal, until Ctrl-C; existing data is reused
mkfifo keys
exec 8<>keys
: >output
# The shell starts background jobs with SIGINT ignored.
env --default-signal=INT,QUIT script -qefc "'$project/quickstart' --port 0 --data '$work/data'" output <keys >/dev/null 2>&1 &
terminal=$!
for _ in $(seq 600); do
  grep -q 'until Ctrl-C' output && break
  kill -0 "$terminal" 2>/dev/null || break
  sleep 0.1
done
shows 'TOKEN=[A-Za-z0-9_.-]+'
url=$(sed -n 's/^listening on \(http[^[:space:]]*\).*$/\1/p' output | head -n 1)
[[ $(curl -s -m 10 -o /dev/null -w '%{http_code}' "$url/readyz") == 200 ]] || fail "the server at '$url' is not ready"
# the first account needs the setup code on the terminal and becomes administrator
code=$(sed -n 's/^Setup code for the first sign-up.*: \([A-Z2-7=]*\).*$/\1/p' output | head -n 1)
[[ ${#code} -ge 20 ]] || fail "no setup code on the terminal"
sign_up() {
  curl -s -m 20 -w '%{http_code}' -H 'Content-Type: application/json' "$url/auth/sign-up" \
    -d "{\"email\":\"$1@example.org\",\"password\":\"correct horse battery\",\"setup_code\":\"$2\"}"
}
[[ $(sign_up eve '') == *SETUP_CODE_REQUIRED*403 ]] || fail 'a first account is created without the code'
[[ $(sign_up eve AAAAAAAAAAAAAAAAAAAAAAAA) == *SETUP_CODE_WRONG*403 ]] || fail 'a first account is created with a wrong code'
first=$(sign_up ann "$code")
[[ $first == *access_token*201 ]] || fail "the first account: $first"
access=$(sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p' <<<"$first")
[[ $(curl -s -m 10 -H "Authorization: Bearer $access" "$url/account") == *super_admin* ]] || fail 'the first account is not an administrator'
[[ $(curl -s -m 10 -w '%{http_code}' -H "Authorization: Bearer $access" "$url/notifications/settings") == *'"settings"'*200 ]] || fail 'there are no notifications'
second=$(sign_up bob '')
[[ $second == *access_token*201 ]] || fail "the second account: $second"
access=$(sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p' <<<"$second")
[[ $(curl -s -m 10 -H "Authorization: Bearer $access" "$url/account") == *super_admin* ]] && fail 'the second account is an administrator'
# a request with a foreign host name is rejected
[[ $(curl -s -m 10 -o /dev/null -w '%{http_code}' -H 'Host: evil.example' "$url/auth/config") == 403 ]] || fail 'a foreign Host is accepted'
printf '\003' >&8
for _ in $(seq 300); do kill -0 "$terminal" 2>/dev/null || break; sleep 0.1; done
kill -0 "$terminal" 2>/dev/null && fail 'Ctrl-C does not stop it'
wait "$terminal"
code=$?
terminal=''
[[ $code == 130 ]] || fail "Ctrl-C: it exited with $code instead of 130"
stopped_clean
[[ $(cat data/quickstart-account) == "$account" ]] || fail 'the second start created another account'

# repeated runs do not reach a limit of the tier
for _ in 3 4 5 6; do
  "$project/quickstart" --once --port 0 --data "$work/data" >output 2>&1 </dev/null || { fail "a further --once exited with $?"; cat output; }
done

((failures == 0)) && echo 'passed'
exit $((failures > 0))
