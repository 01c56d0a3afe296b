#!/usr/bin/env bash
# Drives the host with modules of several toolchains, and with modules that it must refuse.
# usage: abi_test.sh RUNYARD GOOD_DIRECTORY BAD_DIRECTORY inspect|refusals|serve|released|newer_system
#   released: GOOD_DIRECTORY holds modules as they were built for a minor that was released, and their sums
#   newer_system: GOOD_DIRECTORY holds modules that were built on a newer system (scripts/check-platform --exchange)
set -uo pipefail
shopt -s extglob
runyard=$1 good=$2 bad=$3 what=$4
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
# A sanitizer's build ends by the signal, too, instead of by its own report.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0" TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}handle_segv=0"
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  sed 's/^/    /' out err 2>/dev/null
  failures=$((failures + 1))
}
in_file() { grep -qF -- "$2" "$1" || fail "$1 lacks: $2"; }
# Settings that enable the modules given and look for them in a directory of their own.
enabled() {
  local directory=$1 name
  shift
  rm -rf chosen && mkdir chosen
  settings=(--set modules.path=chosen --set data_dir=data
            --set auth.jwt.hs256_secret=a-secret-of-at-least-32-characters)
  for name in "$@"; do
    cp "$directory/$name.so" chosen/ || fail "$name was not built"
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

# check must end with an error, and say every sentence given.
refused() {
  local modules=$1 got sentence
  shift
  # shellcheck disable=SC2086
  enabled "$bad" $modules
  "$runyard" check --config none.toml "${settings[@]}" "${extra[@]}" >out 2>err </dev/null
  got=$?
  if ((got == 0)); then fail "check of $modules ended with 0"; fi
  if ((got > 128)); then fail "check of $modules was killed by signal $((got - 128))"; fi
  for sentence in "$@"; do in_file err "$sentence"; done
  # Nothing of how the host works shows.
  if grep -qE '/proc/|/memfd|Bad file descriptor' err; then fail "the refusal of $modules tells of more than the module"; fi
  # Beside it stands what a sanitizer's build logs of code that it keeps.
  if grep -qvE '^20[0-9-]*T|[.]$' err; then fail "a line about $modules does not end with a full stop"; fi
}

: >none.toml
extra=()
case $what in
inspect)
  for language in $(languages); do
    "$runyard" inspect "$good/abi_$language.so" --json >out 2>err || fail "inspect abi_$language"
    in_file out "\"name\":\"abi_$language\""
    in_file out '"ry.http/1"'
    in_file out '"requires":{'
  done
  # Inspection runs no code of the library, also not its constructors.
  "$runyard" inspect "$bad/abi_aborts.so" --json >out 2>err || fail 'inspect abi_aborts'
  in_file out '"name":"abi_aborts"'
  "$runyard" inspect "$bad/abi_newer_minor.so" >out 2>err
  in_file out 1.9
  head -c 3000 "$good/abi_c.so" >cut.so
  "$runyard" inspect cut.so >out 2>err && fail 'a file that was cut is no module'
  ;;

refusals)
  refused abi_wrong_magic 'wrong magic number (7, this host expects 827937369)'
  refused abi_newer_major 'module "abi_newer_major" 1.0.0 is built for host ABI 2.0' \
    'this host provides 1.0' 'Upgrade the host'
  refused abi_newer_minor 'module "abi_newer_minor" 1.0.0 needs host ABI >= 1.9' \
    'this host provides 1.0' 'rebuild with -DRY_ABI_MINOR=0'
  refused abi_too_new 'module "abi_too_new" 1.0.0 needs host ABI >= 1.9' \
    'this host provides 1.0' 'Upgrade the host or rebuild with -DRY_ABI_MINOR=0'
  # Built for a longer table of an interface than this host has.
  refused abi_newer_table 'module "abi_newer_table" needs ry.core/1 of at least 4096 bytes' \
    "this host's has" 'Upgrade the host or rebuild the module with a lower RY_ABI_MINOR'
  refused abi_missing_need 'module "abi_missing_need" needs nowhere/1, which no available module'
  refused 'abi_cycle_a abi_cycle_b' 'part of a cycle of needs' abi_cycle_a abi_cycle_b
  refused 'abi_same_route_a abi_same_route_b' 'registers the route GET /abi/same' \
    abi_same_route_a abi_same_route_b
  refused abi_fails 'abi_fails' 'the licence file is missing'
  refused abi_unresolved 'module "abi_unresolved": the dynamic loader refuses it: undefined symbol: nobody_defines_this.'
  refused abi_newer_glibc 'module file "abi_newer_glibc.so": it needs GLIBC_2.99 (the C library of a newer system)' \
    'and this system has glibc 2.' 'build it on this release of the system or an older one.'
  refused abi_newer_libstdcxx 'it needs GLIBCXX_3.4.99 of libstdc++.so.6' "this system's has at most GLIBCXX_3.4."
  refused abi_missing_library 'module "abi_missing_library": it needs the shared library libry_not_installed.so.1' \
    'not installed on this system: install the package that has it'
  # The start refuses it as check does, and names the module on standard error.
  enabled "$bad" abi_newer_glibc
  if [[ -n ${RY_TEST_DATABASE_URL:-} ]]; then settings+=(--set "database.url=$RY_TEST_DATABASE_URL"); fi
  timeout -k 5 60 "$runyard" serve --config none.toml "${settings[@]}" --set http.listen=127.0.0.1:0 >out 2>err </dev/null
  got=$?
  ((got > 0 && got < 124)) || fail "serve with abi_newer_glibc ended with $got"
  in_file err 'module file "abi_newer_glibc.so": it needs GLIBC_2.99 (the C library of a newer system)'
  in_file err 'build it on this release of the system or an older one.'
  ! grep -q 'listening on' out || fail 'serve with abi_newer_glibc listened'
  for name in abi_newer_glibc abi_newer_libstdcxx; do
    "$runyard" inspect "$bad/$name.so" >out 2>err && fail "inspect $name ended with 0"
    in_file err 'build it on this release of the system or an older one'
    "$runyard" module check "$bad/$name.so" --only file >out 2>err && fail "module check $name ended with 0"
    in_file out 'build it on this release of the system or an older one'
    # One that is not required does not stop the others.
    extra=(--set "modules.$name.required=false")
    enabled "$bad" "$name"
    "$runyard" check --config none.toml "${settings[@]}" "${extra[@]}" >out 2>err </dev/null ||
      fail "an optional $name must not end check with an error"
    in_file err 'build it on this release of the system or an older one'
    extra=()
  done
  refused tracing "no module can be called \"tracing\": the host's own settings have that name."
  refused core "no module can be called \"core\": the host's own tables stand in the database under that name."
  refused host "no module can be called \"host\": the host's own routes are described under that name."
  refused public 'no module can be called "public": PostgreSQL keeps that name for a schema of its own.'

  # The others of the set do not save it, and an optional module that is refused does not stop them.
  extra=(--set modules.abi_fails.required=false)
  enabled "$bad" abi_fails
  "$runyard" check --config none.toml "${settings[@]}" "${extra[@]}" >out 2>err </dev/null ||
    fail 'an optional module that fails must not end check with an error'
  in_file err 'the licence file is missing'
  # Nor does one that crashes, ends the process or hangs where it begins: it does so in another process.
  for name in abi_aborts abi_exits abi_segfaults abi_ends abi_create_aborts abi_create_exits abi_create_ends \
    abi_destroy_aborts abi_hangs abi_create_hangs; do
    extra=(--set "modules.$name.required=false")
    enabled "$bad" "$name"
    cp "$good/abi_c.so" chosen/
    "$runyard" check --config none.toml "${settings[@]}" "${extra[@]}" --set modules.abi_c.enabled=true >out 2>err \
      </dev/null || fail "an optional $name must not end check with an error"
    said=$(grep "^left out: module \"$name\": it " err)
    case $name in
    abi_aborts) want='crashes while it is loaded (signal 6, Aborted).' ;;
    abi_exits) want='ends the process while it is loaded (exit code 3).' ;;
    abi_segfaults) want='crashes while it is loaded (signal 11, Segmentation fault).' ;;
    abi_ends) want='ends the process while it is loaded (exit code 0).' ;;
    abi_create_aborts) want='crashes in create (signal 6, Aborted).' ;;
    abi_create_exits | abi_create_ends) want='ends the process in create (exit code 0).' ;;
    abi_destroy_aborts) want='crashes in destroy (signal 6, Aborted).' ;;
    abi_hangs) want='hangs while it is loaded (ten seconds).' ;;
    abi_create_hangs) want='hangs in create (ten seconds).' ;;
    esac
    # shellcheck disable=SC2053
    [[ $said == *": it "$want ]] || fail "of an optional $name is said: $said"
  done

  # One that is required takes the check with it, and is named.
  for name in abi_aborts abi_segfaults abi_ends abi_create_aborts abi_create_ends; do
    enabled "$bad" "$name"
    cp "$good/abi_c.so" chosen/
    "$runyard" check --config none.toml "${settings[@]}" --set modules.abi_c.enabled=true >out 2>err </dev/null
    got=$?
    case $name in
    abi_aborts) want='crashed (SIGABRT, Aborted) in its constructors' ;;
    abi_segfaults) want='crashed (SIGSEGV, Segmentation fault) in its constructors' ;;
    abi_ends) want='ended the process in its constructors' ;;
    abi_create_aborts) want='crashed (SIGABRT, Aborted) in create' ;;
    abi_create_ends) want='ended the process in create' ;;
    esac
    ((got != 0)) || fail "check with a required $name ended with 0"
    in_file err "runyard: module \"$name\" $want"
  done
  for name in abi_hangs abi_create_hangs; do
    enabled "$bad" "$name"
    "$runyard" check --config none.toml "${settings[@]}" >out 2>err </dev/null
    got=$?
    ((got == 1 || got == 2)) || fail "check with a required $name ended with $got"
    case $name in
    abi_hangs) in_file err 'runyard: module "abi_hangs" does not come back from its constructors within thirty seconds' ;;
    *) in_file err 'module "abi_create_hangs" failed in create: it did not come back.' ;;
    esac
  done

  for name in abi_gcc abi_unguarded abi_clang; do
    [[ -e $good/$name.so ]] || continue
    enabled "$good" "$name"
    "$runyard" check --config none.toml "${settings[@]}" --set "modules.$name.throw_in_create=true" \
      >out 2>err </dev/null && fail "check of $name that throws in create ended with 0"
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
    fail 'modules of all toolchains must pass the check together'
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
    fail 'the server did not come up'
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
      [[ $answer == "$want" ]] || fail "round $round: $language answered: $answer"
    done
  done
  for language in "${names[@]}"; do
    [[ $language =~ ^(gcc|clang|cpp_.*)$ ]] || continue
    code=$(curl -s -m 10 -o body -w '%{http_code}' "$url/abi/$language/throws")
    [[ $code == 500 ]] || fail "$language: a handler that throws answered $code"
    grep -q 'on purpose' body && fail "$language: the exception's text reached the client"
    stream=$(curl -sS -N -m 10 "$url/abi/$language/stream" | tr '\n' '|')
    [[ $stream == 'data: 1||data: 2||data: 3||' ]] || fail "$language streamed: $stream"
  done
  if [[ -e $good/abi_unguarded.so ]]; then
    code=$(curl -s -m 10 -o body -w '%{http_code}' "$url/abi/unguarded")
    [[ $code == 500 ]] || fail "an exception out of a handler answered $code"
    code=$(curl -s -m 10 -o body -w '%{http_code}' "$url/abi/c")
    [[ $code == 200 ]] || fail "after an exception the server answers $code"
  fi
  kill -TERM "$server"
  wait "$server"
  got=$?
  server=
  ((got == 0)) || fail "the server ended with $got"
  ;;
released)
  (cd "$good" && sha256sum --check --strict --quiet SHA256SUMS) >out 2>err || fail 'a kept module is not what was released'
  kept=$(find "$good" -name '*.so' | wc -l)
  [[ $kept == "$(wc -l <"$good/SHA256SUMS")" && $kept -gt 0 ]] || fail "$kept kept modules, but not as many sums"
  for language in $(languages); do
    "$runyard" inspect "$good/abi_$language.so" >out 2>err || fail "inspect abi_$language"
    ! grep -q warning out err || fail "inspect warns of abi_$language"
    # Built on the oldest system that is supported. Every newer system must load it.
    grep -q '^requires   GLIBC_2' out || fail "inspect does not tell what abi_$language requires"
  done
  if ((failures == 0)); then exec bash "$here/abi_test.sh" "$runyard" "$good" "$bad" serve; fi
  ;;
newer_system)
  # Some need nothing that this system lacks. Each of the others is refused by name, with the version and the remedy.
  refused_ones=0
  for file in "$good"/*.so; do
    name=$(basename "$file" .so)
    "$runyard" inspect "$file" >out 2>err && continue
    refused_ones=$((refused_ones + 1))
    in_file err 'build it on this release of the system or an older one'
    grep -qE 'it needs (GLIBC|GLIBCXX|CXXABI)_[0-9.]+ ' err || fail "the refusal of $name does not name the version"
    enabled "$good" "$name"
    "$runyard" check --config none.toml "${settings[@]}" >out 2>err </dev/null && fail "check of $name ended with 0"
    in_file err "$name"
    in_file err 'build it on this release of the system or an older one'
  done
  ((refused_ones > 0)) || fail 'no module of the newer system needs a newer library: nothing is shown'
  echo "$refused_ones modules of the newer system are refused"
  ;;
*)
  echo "unknown: $what"
  exit 1
  ;;
esac
((failures == 0)) && echo "$what: all well"
exit $((failures > 0))
