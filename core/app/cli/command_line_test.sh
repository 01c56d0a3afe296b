#!/usr/bin/env bash
# Black-box test of the executable: help, exit codes, errors in the configuration and in modules.
# usage: command_line_test.sh path/to/runyard
set -uo pipefail
runyard=$1
[[ -x $runyard ]] || { echo "$runyard cannot be run"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset RUNYARD_CONFIG RUNYARD_TOKEN RUNYARD_URL
failures=0
mkdir -p none conf

fail() { printf 'FAILED: %s\n' "$*"; tail -n 20 out err; failures=$((failures + 1)); }
# expect CODE ARGS...: runs it; standard output and error are kept in out and err.
expect() {
  local want=$1 got
  shift
  "$runyard" "$@" >out 2>err </dev/null
  got=$?
  [[ $got == "$want" ]] || fail "runyard $* exited with $got instead of $want"
}
in_out() { grep -qF -- "$1" out || fail "standard output lacks: $1"; }
in_err() { grep -qF -- "$1" err || fail "standard error lacks: $1"; }
not_anywhere() { ! grep -qF -- "$1" out err || fail "the output contains: $1"; }

# help, version, wrong usage
expect 0 --version; in_out 'runyard 0.'
expect 0 --help; in_out 'Exit codes'
for command in serve check modules 'modules list' settings inspect migrate 'migrate status' token run module 'module new' 'module check' model 'model check'; do
  # shellcheck disable=SC2086
  expect 0 $command --help; in_out 'Example:'; in_out "runyard ${command%% *}"; in_out 'Exit codes'
done
while read -r lang name message; do
  expect 2 module new --lang "$lang" "$name"; in_err "$message"
  [[ ! -e $name ]] || fail "module new did not remove $name"
done <<'NAMES'
cpp class class is a keyword of C++; choose another name
cpp namespace namespace is a keyword of C++; choose another name
c switch switch is a keyword of C; choose another name
rust fn fn is a keyword of Rust; choose another name
rust test test is a target of every CMake project; choose another name
c tracing no module can be called tracing: a table of the host's settings has that name
rust core no module can be called core: the host's own database schema has that name
NAMES
expect 2; expect 2 nonsense; expect 2 serve --nonsense; expect 2 inspect; expect 2 token; expect 2 run
expect 2 modules reload; expect 2 migrate sideways

# the reference of settings
expect 0 settings --set modules.path=none
in_out '| `http.listen` | text | `"127.0.0.1:8080"` | at least 1 character | Address and port'
in_out '| `database.url` | text, secret | `""` |'; in_out '| `log.level` | text | `"info"` | `trace`, `debug`, '
! grep -E '^\| `.*\| +\|$' out || fail 'a setting of the host has no description'
in_out '| `data_dir` | text | `"/var/lib/runyard"` |'; in_out '| `modules.NAME.enabled` | true or false | `false` |'

# an unknown command is reported with a suggestion
expect 2 chek; in_err 'there is no command "chek"; did you mean "check"?'
expect 2 modles list; in_err 'did you mean "modules"?'
expect 2 migrate sttus; in_err 'there is no command "migrate sttus"; did you mean "migrate status"?'
expect 2 zzzzzzzzz; in_err 'there is no command "zzzzzzzzz" (commands: serve, check'

# check reports that there is no configuration file
(mkdir -p bare && cd bare && "$runyard" check --set modules.path=none >../out 2>../err </dev/null)
[[ $? == 0 ]] || fail 'check fails without a file'
in_out 'no configuration file: neither --config nor RUNYARD_CONFIG names one'
in_out '  http.listen = "127.0.0.1:8080"'; in_out 'a private PostgreSQL'; in_out '  modules.path = "none"'

# configuration faults: all are reported, with positions, exit code 2
cat >bad.toml <<'T'
[http]
lsiten = "127.0.0.1:0"
max_connections = "many"
[deployment]
mode = "prod"
T
for command in serve check modules migrate; do
  expect 2 "$command" --config bad.toml --set modules.path=none
  in_err 'bad.toml:2:1: http.lsiten: unknown key; did you mean "listen"?'
  in_err 'bad.toml:3:1: http.max_connections: must be an integer, not a string'
  in_err 'bad.toml:5:1: deployment.mode: must be one of "local", "staging", "production"'
  in_err 'the configuration has 3 errors'
done
expect 2 check --config nowhere.toml; in_err 'nowhere.toml: cannot be read'
printf '[http\n' >syntax.toml
expect 2 check --config syntax.toml; in_err 'syntax.toml:1:'

# check without any module
cat >empty.toml <<'T'
modules.path = "none"
data_dir = "data"
[auth.jwt]
hs256_secret = "${TEST_SECRET:-a-secret-of-at-least-32-characters}"
T
expect 0 check --config empty.toml; in_out '0 modules: ok'
[[ ! -e data ]] || fail 'check created a data directory'
expect 0 check --config empty.toml --show --set http.listen=127.0.0.1:7
in_out 'http.listen = "127.0.0.1:7"  # --set'
in_out 'auth.jwt.hs256_secret = "********"  # empty.toml:4:1'
not_anywhere a-secret-of
RUNYARD_HTTP__LISTEN=127.0.0.1:9 expect 0 check --config empty.toml --show
in_out 'http.listen = "127.0.0.1:9"  # environment RUNYARD_HTTP__LISTEN'
# Variables that match no setting may belong to another program: they are reported as warnings only.
RUNYARD_HTTP_LISTEN=127.0.0.1:9 expect 0 check --config empty.toml
in_out 'warning: environment RUNYARD_HTTP_LISTEN: does not name a setting; did you mean RUNYARD_HTTP__LISTEN? (ignored)'
RUNYARD_DATABASE_URL=postgresql://x expect 0 check --config empty.toml
in_out 'did you mean RUNYARD_DATABASE__URL?'
RUNYARD_BUILD=7 RUNYARD_BUILD__NUMBER=7 RUNYARD_MODULES__CART__ENABLED=true RUNYARD_DATABASE=x expect 0 check --config empty.toml
in_out 'warning: environment RUNYARD_BUILD: does not name a setting'
in_out 'warning: environment RUNYARD_BUILD__NUMBER: build: unknown key'
in_out 'warning: environment RUNYARD_MODULES__CART__ENABLED: modules.cart: there is no module "cart"'
in_out 'warning: environment RUNYARD_DATABASE: does not name a setting'
RUNYARD_HTTP__LISTNE=1 expect 0 check --config empty.toml
in_out 'warning: environment RUNYARD_HTTP__LISTNE: http.listne: unknown key; did you mean "listen"? (ignored)'
RUNYARD_MODULES__FOO=1 RUNYARD_AUTH__ISSUERS__A=1 RUNYARD_LOG__LEVEL__X=1 RUNYARD_HTTP__LISTEN__0=a RUNYARD_HTTP__TRUSTED_PROXIES__1=1 \
  expect 0 check --config empty.toml
in_out 'warning: environment RUNYARD_MODULES__FOO: modules.foo: is a table; no setting has this name (ignored)'
in_out 'warning: environment RUNYARD_LOG__LEVEL__X: log.level: is not a table; no setting has this name (ignored)'
RUNYARD_HTTP__MAX_CONNECTIONS=many expect 2 check --config empty.toml
in_err 'environment RUNYARD_HTTP__MAX_CONNECTIONS: http.max_connections: must be'
expect 2 check --config empty.toml --set http.listen=nowhere; in_err '--set: http.listen: must be ADDRESS:PORT'
expect 2 check --config empty.toml --set modules.runs.enabled=true
in_err '--set: modules.runs: there is no module "runs" in modules.path'
expect 2 check --config empty.toml --set runz.a=1; in_err '--set: runz: unknown key'
expect 2 check --config empty.toml --set novalue; in_err 'must be key=value'

# texts that are not UTF-8 are refused, and JSON output is always UTF-8
utf8_json() { iconv -f UTF-8 -t UTF-8 out >/dev/null 2>&1 || fail 'the JSON on standard output is not UTF-8'; in_out '{"'; }
expect 2 check --config empty.toml --set brand.name=$'A\xff'; in_err '--set: brand.name: must be UTF-8'
RUNYARD_BRAND__NAME=$'A\xff' expect 2 check --config empty.toml
in_err 'environment RUNYARD_BRAND__NAME: brand.name: must be UTF-8'
expect 2 check --config empty.toml --set $'brand.name\xff=AB' --json; utf8_json
in_err '--set: brand."name\xff": the name of a setting must be UTF-8'
expect 1 inspect --json $'b\xff.so'; utf8_json
expect 1 module check --json nowhere.so; utf8_json; in_out '"tests":[]'; in_out '"problems":["'; in_err 'nowhere.so: '
# control characters in a name are escaped
printf 'modules.path = "none"\n[http]\n"a\\u0000b\\u001B" = 1\n' >nul.toml
expect 2 check --config nul.toml; in_err 'http."a\x00b\x1b": unknown key'

printf 'data_dir = "data"\nmodules.path = "none"\n[database]\nurl = "banana"\n' >banana.toml
for command in serve check migrate; do
  expect 2 $command --config banana.toml
  in_err 'banana.toml:4:1: database.url: must be the URL of a PostgreSQL database'
done
expect 2 check --config empty.toml --set database.url=mysql://ann:hunter22@host/x
in_err '--set: database.url: must be'; not_anywhere hunter22

# well-formed but unusable values are reported before anything starts
cat >hopeless.toml <<'T'
modules.path = "none"
data_dir = "data"
[secrets]
key = "banana"
old_keys = ["0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "apple"]
[auth.jwt]
hs256_secret = "too-tiny"
[http.cors]
origins = ["*"]
allow_credentials = true
T
for command in serve check migrate; do
  expect 2 $command --config hopeless.toml
  in_err 'hopeless.toml:4:1: secrets.key: must be 32 bytes, as 64 hex digits or as base64'
  in_err 'hopeless.toml:5:1: secrets.old_keys: key 2 must be 32 bytes'
  in_err 'hopeless.toml:7:1: auth.jwt.hs256_secret: must have at least 32 characters'
  in_err 'hopeless.toml:10:1: http.cors.allow_credentials: cannot be true if http.cors.origins contains "*"'
  not_anywhere banana; not_anywhere too-tiny
done
printf '# keys\nnone of these\n' >keys
expect 2 check --config empty.toml --set secrets.key_file=keys
in_err '--set: secrets.key_file: the key in line 2 of keys must be 32 bytes'; not_anywhere 'none of these'

# a missing variable is reported once, however often it is used
cat >env.toml <<'T'
modules.path = "none"
data_dir = "${NOWHERE_SET}"
[http]
max_connections = "${NOWHERE_SET}"
public_url = "https://${NOWHERE_SET}"
T
expect 2 check --config env.toml
in_err 'env.toml:2:12: data_dir: the environment variable NOWHERE_SET is not set'
in_err 'also at env.toml:4:19; also at env.toml:5:14'
in_err 'the configuration has 1 error'
[[ $(grep -c NOWHERE_SET err) == 1 ]] || fail 'one missing variable is reported more than once'

# migrate status does not create a database
expect 0 migrate status --config empty.toml --set data_dir=unmade
in_err 'there is no database in unmade yet'; in_out ' pending'
[[ ! -e unmade ]] || fail 'migrate status created a data directory'

# files that are not modules
mkdir -p broken && printf 'not an ELF file' >broken/odd.so && printf '\177ELF' >broken/cut.so
expect 2 check --config empty.toml --set modules.path=broken --set modules.odd.enabled=true --set modules.cut.enabled=true
in_err 'odd.so'; in_err 'cut.so'
expect 0 check --config empty.toml --set modules.path=broken --set modules.odd.enabled=true --set modules.odd.required=false
in_err 'odd.so'
expect 0 modules --config empty.toml --set modules.path=broken --configured --json; in_out '"disabled"'
in_err 'the configuration would load'
# without a server, modules lists what the configuration would load
expect 0 modules list --config empty.toml --set modules.path=broken --set http.listen=127.0.0.1:1; in_out 'no server responds at http://127.0.0.1:1; modules that the configuration would load:'
in_out 'odd.so   disabled'
# a server given with --url must respond
expect 1 modules --config empty.toml --url http://127.0.0.1:1 --token t; in_err 'http://127.0.0.1:1 did not return its modules'
expect 1 inspect broken/odd.so; in_err 'broken/odd.so: '
expect 1 inspect broken/nowhere.so
expect 1 inspect broken/cut.so --json; in_out '"problems":['

# errors in the settings of several modules are all reported, but not their consequences
modules=$(cd "$(dirname "$runyard")/.." && pwd)/modules
if [[ -e $modules/accounts.so && -e $modules/agents.so && -e $modules/runs.so ]]; then
  cat >several.toml <<T
modules.path = "$modules"
data_dir = "data"
modules.accounts.enabled = true
modules.agents.enabled = true
modules.runs.enabled = true
accounts.defaultier = "free"
runs.max_step = 3
T
  expect 2 check --config several.toml
  in_err 'several.toml:6:10: accounts.defaultier: unknown key; did you mean "default_tier"?'
  in_err 'several.toml:7:6: runs.max_step: unknown key; did you mean "max_steps"?'
  in_err 'skipped because of the above: agents'
  # In sanitizer builds, lines about code that stays mapped may precede it.
  [[ $(grep -v 'stays mapped' err | head -n 1) == several.toml:6:* ]] || fail 'the reason is not reported first'
  not_anywhere 'needs accounts/1'
  sed -i '/defaultier\|max_step/d; s/modules.accounts/modules.acounts/' several.toml
  expect 2 check --config several.toml
  in_err 'there is no module "acounts" in modules.path; did you mean "accounts"?'
  in_err 'the configuration has 1 error'
  [[ $(wc -l <err) == 2 ]] || fail 'the wrong name is not the only error'

  cat >providers.toml <<T
modules.path = "$modules"
data_dir = "data"
modules.accounts.enabled = true
modules.agents.enabled = true
modules.runs.enabled = true
modules.llm_offline.enabled = true
modules.mcp.enabled = true
modules.mcp_prebuilt.enabled = true
[runs.providers.mine]
kind = "ofline"
[runs.webhooks.hook]
url = "https://ann:hunter22@hooks.example/x"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
[mcp_prebuilt.integrations.tracker]
url = "https://tracker.example/mcp"
headers = {Authorization = "Bearer verysecret"}
oauth = {client_id = "ours", client_secret = "notvisible", issuer = "https://login.tracker.example"}
T
  expect 2 check --config providers.toml
  in_err 'providers.toml:10:1: runs.providers.mine.kind: no driver "ofline" of llm.provider/1 is loaded (loaded: offline); did you mean "offline"?'
  expect 2 check --config empty.toml --set "modules.path=$modules" --set modules.accounts.enabled=true --set modules.mail.enabled=true \
    --set modules.notifications.enabled=true --set modules.notify_builtin.enabled=true --set notifications.orchestrator=builtni
  in_err 'notifications.orchestrator: no driver "builtni" of notify.orchestrator/1 is loaded'
  sed -i 's/ofline"/offline"\nbase_url = "nowhere"/' providers.toml
  expect 2 check --config providers.toml
  in_err 'providers.toml:11:1: runs.providers.mine.base_url: must be a URL such as https://api.openai.com/v1, or empty'
  sed -i '/base_url/d' providers.toml
  # the fault itself comes before those that follow from it
  expect 2 check --config providers.toml --set runs.max_steps=0 --json; in_out '"faults":["--set: runs.max_steps: must'
  expect 0 check --config providers.toml --show
  in_out 'mcp_prebuilt.integrations.tracker.headers.Authorization = "********"'
  in_out 'https://********@hooks.example/x'
  not_anywhere hunter22; not_anywhere verysecret; not_anywhere notvisible
else
  fail "no modules found in $modules"
fi

# token
subject=7d444840-9dc0-11d1-b245-5ffdce74fad2
expect 0 token --config empty.toml --subject $subject --email ann@example.org --role admin --ttl 60
grep -qE '^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$' out || fail 'the output is not a JWT'
payload=$(cut -d. -f2 out | tr '_-' '/+')
while ((${#payload} % 4)); do payload+='='; done
claims=$(base64 -d <<<"$payload")
[[ $claims == *"\"sub\":\"$subject\""* && $claims == *'"email":"ann@example.org"'* && $claims == *admin* ]] ||
  fail "claims are $claims"
[[ ! -e data ]] || fail 'a data directory was created although the secret is configured'
expect 0 token --config empty.toml --subject $subject --ttl 60 --json
grep -qE '^\{"token":"[A-Za-z0-9_.-]+","subject":"'$subject'","role":"user","expires_in":60\}$' out || fail 'token --json'
expect 2 token --config empty.toml --subject $subject --email $'\xff@x.y'; in_err '--email must be UTF-8'
expect 2 token --config empty.toml --subject ann; in_err '--subject must be a UUID'
expect 2 token --config empty.toml --subject $subject --role king; in_err '--role must be'
expect 2 token --config empty.toml --subject $subject --ttl 0; in_err '--ttl must be'
expect 0 token --config empty.toml --set auth.jwt.hs256_secret= --subject $subject
[[ $(stat -c %a data/auth.key 2>/dev/null) == 600 ]] || fail 'the created signing key is not private'

# a server that cannot start prints a readable error message
expect 1 serve --config empty.toml --set http.listen=127.0.0.1:0 --set database.wait_seconds=0 \
  --set database.url=postgresql://nobody:hunter22@127.0.0.1:1/none
in_err 'runyard: '; not_anywhere hunter22; not_anywhere 'listening on'
printf 'x' >file
expect 1 serve --config empty.toml --set data_dir=file; in_err 'data_dir'

(cd bare && "$runyard" serve --set modules.path=none --set data_dir=../file >../out 2>../err </dev/null)
in_err 'no configuration file'

# run: errors that are reported before anything is sent
expect 2 run hello; in_err 'a token is required'
expect 2 run hello --token t --file nowhere.txt; in_err 'nowhere.txt cannot be read'
expect 1 run hello --token t --url http://127.0.0.1:1; in_err 'no answer from http://127.0.0.1:1'

((failures == 0)) && echo 'passed'
exit $((failures > 0))
