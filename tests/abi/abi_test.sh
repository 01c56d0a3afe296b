#!/usr/bin/env bash
# Runs the host with modules of several toolchains, and with modules that it must reject.
# usage: abi_test.sh RUNYARD GOOD_DIRECTORY BAD_DIRECTORY inspect|refusals|serve|released|newer_system
#   released: GOOD_DIRECTORY contains the module binaries of a released ABI minor version, with their checksums
#   newer_system: GOOD_DIRECTORY contains modules built on a newer system (scripts/check-platform --exchange)
set -uo pipefail
shopt -s extglob
runyard=$1 good=$2 bad=$3 mode=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
chmod 755 "$work"
server=
finish() {
  if [[ -n $server ]]; then kill -KILL "$server" 2>/dev/null; fi
  rm -rf "$work"
}
trap finish EXIT
cd "$work" || exit 1
unset RUNYARD_CONFIG
# Makes sanitizer builds die from the signal as well, instead of printing a report.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0" TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}handle_segv=0"
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  sed 's/^/    /' out err 2>/dev/null
  failures=$((failures + 1))
}
in_file() { grep -qF -- "$2" "$1" || fail "$1 lacks: $2"; }
# Sets `settings` to enable the given modules, which are copied into a separate directory.
enabled() {
  local directory=$1 name
  shift
  rm -rf enabled_modules && mkdir enabled_modules
  settings=(--set modules.path=enabled_modules --set data_dir=data
            --set auth.jwt.hs256_secret=a-secret-of-at-least-32-characters)
  for name in "$@"; do
    cp "$directory/$name.so" enabled_modules/ || fail "$name was not built"
    settings+=(--set "modules.$name.enabled=true")
  done
}
languages() {
  local file
  for file in "$good"/abi_*.so; do
    file=${file##*/abi_}
    [[ $file == unguarded.so ]] || printf '%s\n' "${file%.so}"
  done
}

# `runyard check` must fail, and stderr must contain every given message.
rejected() {
  local modules=$1 got text
  shift
  # shellcheck disable=SC2086
  enabled "$bad" $modules
  "$runyard" check --config none.toml "${settings[@]}" "${extra[@]}" >out 2>err </dev/null
  got=$?
  if ((got == 0)); then fail "check of $modules exited with 0"; fi
  if ((got > 128)); then fail "check of $modules was killed by signal $((got - 128))"; fi
  for text in "$@"; do in_file err "$text"; done
  # The message must not reveal internals of the host.
  if grep -qE '/proc/|/memfd|Bad file descriptor' err; then fail "the error for $modules reveals internals of the host"; fi
  # Sanitizer builds also log messages about code that they do not unload; these lines are allowed.
  if grep -qvE '^20[0-9-]*T|[.]$' err; then fail "a line about $modules does not end with a full stop"; fi
}

: >none.toml
extra=()
case $mode in
inspect)
  for language in $(languages); do
    "$runyard" inspect "$good/abi_$language.so" --json >out 2>err || fail "inspect abi_$language"
    in_file out "\"name\":\"abi_$language\""
    in_file out '"ry.http/1"'
    in_file out '"requires":{'
  done
  # Inspection runs no code of the library, not even its constructors.
  "$runyard" inspect "$bad/abi_aborts.so" --json >out 2>err || fail 'inspect abi_aborts'
  in_file out '"name":"abi_aborts"'
  "$runyard" inspect "$bad/abi_newer_minor.so" >out 2>err
  in_file out 1.9
  head -c 3000 "$good/abi_c.so" >truncated.so
  "$runyard" inspect truncated.so >out 2>err && fail 'inspect accepted a truncated file'
  ;;

refusals)
  rejected abi_wrong_magic 'wrong magic number (7, this host expects 827937369)'
  rejected abi_newer_major 'module "abi_newer_major" 1.0.0 is built for host ABI 2.0' \
    'this host provides 1.0' 'Upgrade the host'
  rejected abi_newer_minor 'module "abi_newer_minor" 1.0.0 needs host ABI >= 1.9' \
    'this host provides 1.0' 'rebuild with -DRY_ABI_MINOR=0'
  rejected abi_too_new 'module "abi_too_new" 1.0.0 needs host ABI >= 1.9' \
    'this host provides 1.0' 'Upgrade the host or rebuild with -DRY_ABI_MINOR=0'
  # Built for a larger interface table than this host provides.
  rejected abi_newer_table 'module "abi_newer_table" needs ry.core/1 of at least 4096 bytes' \
    "this host's has" 'Upgrade the host or rebuild the module with a lower RY_ABI_MINOR'
  rejected abi_missing_need 'module "abi_missing_need" needs nowhere/1, which no available module'
  rejected 'abi_cycle_a abi_cycle_b' 'part of a cycle of needs' abi_cycle_a abi_cycle_b
  rejected 'abi_same_route_a abi_same_route_b' 'registers the route GET /abi/same' \
    abi_same_route_a abi_same_route_b
  rejected abi_fails 'abi_fails' 'the licence file is missing'
  rejected abi_unresolved 'module "abi_unresolved": the dynamic loader refuses it: undefined symbol: nobody_defines_this.'
  rejected abi_newer_glibc 'module file "abi_newer_glibc.so": it needs GLIBC_2.99 (the C library of a newer system)' \
    'and this system has glibc 2.' 'build it on this release of the system or an older one.'
  rejected abi_newer_libstdcxx 'it needs GLIBCXX_3.4.99 of libstdc++.so.6' "this system's has at most GLIBCXX_3.4."
  rejected abi_missing_library 'module "abi_missing_library": it needs the shared library libry_not_installed.so.1' \
    'not installed on this system: install the package that has it'
  # `serve` rejects it in the same way, with the module's name on stderr.
  enabled "$bad" abi_newer_glibc
  if [[ -n ${RY_TEST_DATABASE_URL:-} ]]; then settings+=(--set "database.url=$RY_TEST_DATABASE_URL"); fi
  timeout -k 5 60 "$runyard" serve --config none.toml "${settings[@]}" --set http.listen=127.0.0.1:0 >out 2>err </dev/null
  got=$?
  ((got > 0 && got < 124)) || fail "serve with abi_newer_glibc exited with $got"
  in_file err 'module file "abi_newer_glibc.so": it needs GLIBC_2.99 (the C library of a newer system)'
  in_file err 'build it on this release of the system or an older one.'
  ! grep -q 'listening on' out || fail 'serve with abi_newer_glibc listened'
  for name in abi_newer_glibc abi_newer_libstdcxx; do
    "$runyard" inspect "$bad/$name.so" >out 2>err && fail "inspect $name exited with 0"
    in_file err 'build it on this release of the system or an older one'
    "$runyard" module check "$bad/$name.so" --only file >out 2>err && fail "module check $name exited with 0"
    in_file out 'build it on this release of the system or an older one'
    # A module with required = false does not prevent the others from loading.
    extra=(--set "modules.$name.required=false")
    enabled "$bad" "$name"
    "$runyard" check --config none.toml "${settings[@]}" "${extra[@]}" >out 2>err </dev/null ||
      fail "an optional $name must not make check fail"
    in_file err 'build it on this release of the system or an older one'
    extra=()
  done
  rejected tracing "no module can be called \"tracing\": a table of the host's settings has that name."
  rejected core "no module can be called \"core\": the host's own database schema has that name."
  rejected host "no module can be called \"host\": the host's own OpenAPI components have that name."
  rejected public 'no module can be called "public": PostgreSQL reserves that name for its own schema.'

  # A failing module makes check fail, unless it is optional; then the others are still loaded.
  extra=(--set modules.abi_fails.required=false)
  enabled "$bad" abi_fails
  "$runyard" check --config none.toml "${settings[@]}" "${extra[@]}" >out 2>err </dev/null ||
    fail 'an optional module that fails must not make check fail'
  in_file err 'the licence file is missing'
  # Neither does an optional module that crashes, exits or hangs during startup: modules are probed in a separate
  # process.
  for name in abi_aborts abi_raw_exit abi_segfaults abi_calls_exit abi_create_aborts abi_create_raw_exit \
    abi_create_calls_exit abi_destroy_aborts abi_hangs abi_create_hangs; do
    extra=(--set "modules.$name.required=false")
    enabled "$bad" "$name"
    cp "$good/abi_c.so" enabled_modules/
    "$runyard" check --config none.toml "${settings[@]}" "${extra[@]}" --set modules.abi_c.enabled=true >out 2>err \
      </dev/null || fail "an optional $name must not make check fail"
    log_line=$(grep "^skipped: module \"$name\": it " err)
    case $name in
    abi_aborts) want='crashes while it is loaded (signal 6, Aborted).' ;;
    abi_raw_exit) want='terminates the process while it is loaded (exit code 3).' ;;
    abi_segfaults) want='crashes while it is loaded (signal 11, Segmentation fault).' ;;
    abi_calls_exit) want='terminates the process while it is loaded (exit code 0).' ;;
    abi_create_aborts) want='crashes in create (signal 6, Aborted).' ;;
    abi_create_raw_exit | abi_create_calls_exit) want='terminates the process in create (exit code 0).' ;;
    abi_destroy_aborts) want='crashes in destroy (signal 6, Aborted).' ;;
    abi_hangs) want='hangs while it is loaded (ten seconds).' ;;
    abi_create_hangs) want='hangs in create (ten seconds).' ;;
    esac
    # shellcheck disable=SC2053
    [[ $log_line == *": it "$want ]] || fail "message for an optional $name: $log_line"
  done

  # A required module that crashes makes check fail, and the message names it.
  for name in abi_aborts abi_segfaults abi_calls_exit abi_create_aborts abi_create_calls_exit; do
    enabled "$bad" "$name"
    cp "$good/abi_c.so" enabled_modules/
    "$runyard" check --config none.toml "${settings[@]}" --set modules.abi_c.enabled=true >out 2>err </dev/null
    got=$?
    case $name in
    abi_aborts) want='crashed (SIGABRT, Aborted) in its constructors' ;;
    abi_segfaults) want='crashed (SIGSEGV, Segmentation fault) in its constructors' ;;
    abi_calls_exit) want='terminated the process in its constructors' ;;
    abi_create_aborts) want='crashed (SIGABRT, Aborted) in create' ;;
    abi_create_calls_exit) want='terminated the process in create' ;;
    esac
    ((got != 0)) || fail "check with a required $name exited with 0"
    in_file err "runyard: module \"$name\" $want"
  done
  for name in abi_hangs abi_create_hangs; do
    enabled "$bad" "$name"
    "$runyard" check --config none.toml "${settings[@]}" >out 2>err </dev/null
    got=$?
    ((got == 1 || got == 2)) || fail "check with a required $name exited with $got"
    case $name in
    abi_hangs) in_file err 'runyard: module "abi_hangs" did not return from its constructors within 30 s' ;;
    *) in_file err 'module "abi_create_hangs" failed in create: it did not return.' ;;
    esac
  done

  for name in abi_gcc abi_unguarded abi_clang; do
    [[ -e $good/$name.so ]] || continue
    enabled "$good" "$name"
    "$runyard" check --config none.toml "${settings[@]}" --set "modules.$name.throw_in_create=true" \
      >out 2>err </dev/null && fail "check of $name that throws in create exited with 0"
    in_file err "$name"
  done
  ;;

serve)
  mapfile -t names < <(languages)
  files=("${names[@]/#/abi_}")
  [[ -e $good/abi_unguarded.so ]] && files+=(abi_unguarded)
  enabled "$good" "${files[@]}"
  if [[ -n ${RY_TEST_DATABASE_URL:-} ]]; then
    settings+=(--set "database.url=$RY_TEST_DATABASE_URL")
  fi
  "$runyard" check --config none.toml "${settings[@]}" >out 2>err </dev/null ||
    fail 'check must accept modules of all toolchains together'
  "$runyard" serve --config none.toml "${settings[@]}" --set http.listen=127.0.0.1:0 >out 2>err \
    </dev/null &
  server=$!
  for _ in $(seq 600); do
    grep -q 'listening on' out && break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  url=$(sed -n 's/.*listening on \(http:[^ ]*\).*/\1/p' out | head -n 1)
  if [[ -z $url ]]; then
    fail 'the server did not start'
    exit 1
  fi
  for round in 1 2 3; do
    for language in "${names[@]}"; do
      answer=$(curl -sS -m 10 "$url/abi/$language")
      case $language in
      gcc | clang | cpp_*) want="{\"lang\":\"$language\",\"n\":36,\"on_exec\":true}" ;;
      c | c_*) want="{\"lang\":\"abi_$language\"}" ;;
      *) want="{\"lang\":\"$language\"}" ;;
      esac
      [[ $answer == "$want" ]] || fail "round $round: $language responded: $answer"
    done
  done
  for language in "${names[@]}"; do
    [[ $language =~ ^(gcc|clang|cpp_.*)$ ]] || continue
    code=$(curl -s -m 10 -o body -w '%{http_code}' "$url/abi/$language/throws")
    [[ $code == 500 ]] || fail "$language: a handler that throws returned $code"
    grep -q 'on purpose' body && fail "$language: the exception's text reached the client"
    stream=$(curl -sS -N -m 10 "$url/abi/$language/stream" | tr '\n' '|')
    [[ $stream == 'data: 1||data: 2||data: 3||' ]] || fail "$language streamed: $stream"
  done
  if [[ -e $good/abi_unguarded.so ]]; then
    code=$(curl -s -m 10 -o body -w '%{http_code}' "$url/abi/unguarded")
    [[ $code == 500 ]] || fail "a handler that throws through the ABI returned $code"
    code=$(curl -s -m 10 -o body -w '%{http_code}' "$url/abi/c")
    [[ $code == 200 ]] || fail "after an exception the server returns $code"
  fi
  kill -TERM "$server"
  wait "$server"
  got=$?
  server=
  ((got == 0)) || fail "the server exited with $got"
  ;;
released)
  (cd "$good" && sha256sum --check --strict --quiet SHA256SUMS) >out 2>err || fail 'a stored module differs from the released one'
  stored=$(find "$good" -name '*.so' | wc -l)
  [[ $stored == "$(wc -l <"$good/SHA256SUMS")" && $stored -gt 0 ]] || fail "$stored stored modules, but a different number of checksums"
  for language in $(languages); do
    "$runyard" inspect "$good/abi_$language.so" >out 2>err || fail "inspect abi_$language"
    ! grep -q warning out err || fail "inspect prints a warning for abi_$language"
    # Built on the oldest supported system; every newer system must load it.
    grep -q '^requires   GLIBC_2' out || fail "inspect does not list the requirements of abi_$language"
  done
  if ((failures == 0)); then exec bash "$here/abi_test.sh" "$runyard" "$good" "$bad" serve; fi
  ;;
newer_system)
  # Some of the modules load here. Each of the others must be rejected with its name, the missing version and a remedy.
  rejected_count=0
  for file in "$good"/*.so; do
    name=$(basename "$file" .so)
    "$runyard" inspect "$file" >out 2>err && continue
    rejected_count=$((rejected_count + 1))
    in_file err 'build it on this release of the system or an older one'
    grep -qE 'it needs (GLIBC|GLIBCXX|CXXABI)_[0-9.]+ ' err || fail "the error for $name does not name the version"
    enabled "$good" "$name"
    "$runyard" check --config none.toml "${settings[@]}" >out 2>err </dev/null && fail "check of $name exited with 0"
    in_file err "$name"
    in_file err 'build it on this release of the system or an older one'
  done
  ((rejected_count > 0)) || fail 'no module of the newer system needs a newer library: the test proves nothing'
  echo "$rejected_count modules of the newer system are rejected"
  ;;
*)
  echo "unknown mode: $mode"
  exit 1
  ;;
esac
((failures == 0)) && echo "$mode: passed"
exit $((failures > 0))
