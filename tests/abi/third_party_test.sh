#!/usr/bin/env bash
# Works like a third party: installs the SDK into a separate prefix, creates a project for every language and kind with
# `runyard module new`, builds each against this prefix only, and stores the results in OUT for other tests.
# usage: third_party_test.sh RUNYARD BUILD_DIRECTORY OUT
set -uo pipefail
runyard=$1 build=$2 out_dir=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { printf 'FAILED: %s\n' "$*"; tail -n 30 out err 2>/dev/null; failures=$((failures + 1)); }
rm -rf "$out_dir" && mkdir -p "$out_dir"

cmake --install "$build" --component sdk --prefix "$work/prefix" >out 2>err || fail 'the SDK cannot be installed'
[[ -e $work/prefix/include/ry/abi.h ]] || fail 'the headers are not installed'
cached=()
if command -v ccache >/dev/null; then
  export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
  cached=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

# module NAME LANG KIND: creates, builds and checks a module in the way an author would.
module() {
  local name=$1
  "$runyard" module new "$name" --lang "$2" --kind "$3" --templates "$work/prefix/share/runyard/sdk/templates" \
    >out 2>err || { fail "module new $*"; return; }
  if grep -rn ry_sample "$name"; then fail "$name still contains the name of the template"; fi
  built "$name"
}
# built NAME: builds the project and checks its module.
built() {
  local name=$1
  cmake -S "$name" -B "$name/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" "${cached[@]}" >out 2>err ||
    { fail "$name cannot be configured"; return; }
  cmake --build "$name/build" >out 2>err || { fail "$name cannot be built"; return; }
  if grep -nE 'warning' out err; then fail "$name builds with warnings"; fi
  local library=$name/build/modules/$name.so
  [[ $(nm -D --defined-only "$library" | awk '{print $3}') == ry_module_entry ]] || fail "$name exports too many symbols"
  "$runyard" inspect "$library" >out 2>err || fail "inspect $library"
  grep -q "^module *$name 0.1.0" out || fail "$library has the wrong name or version"
  ! grep -q warning out || fail "inspect prints a warning for $name"
  cp "$library" "$out_dir/"
}
# client NAME LANG SOURCE: a module that uses services of other modules, in a project of the template.
client() {
  local name=$1 file=$1/$1.${3##*.}
  "$runyard" module new "$name" --lang "$2" --kind module --templates "$work/prefix/share/runyard/sdk/templates" \
    >out 2>err || { fail "module new $*"; return; }
  cp "$here/modules/$3" "$file"
  built "$name"
}
module greeter_c c module
module greeter_cpp cpp module
module greeter_rust rust module
module unix_c c transport
module websocket cpp transport
module unix_rust rust transport
client relay_cpp cpp run_relay.cpp
client relay_rust rust run_relay.rs

if command -v cargo >/dev/null; then
  (cd unix_rust && cargo build --release --offline --target-dir "$work/cargo") >out 2>err || fail 'cargo build of unix_rust'
  "$runyard" inspect "$work/cargo/release/libunix_rust.so" >out 2>err || fail 'inspect of the library built by cargo'
fi

# Rejected calls leave no files behind.
"$runyard" module new greeter_c --lang c >out 2>err && fail 'an existing directory was overwritten'
grep -q 'already exists' err || fail 'no message about the existing directory'
"$runyard" module new Bad-Name --lang c >out 2>err; [[ $? == 2 && ! -e Bad-Name ]] || fail 'an invalid name was accepted'
"$runyard" module new fine --lang cobol >out 2>err; [[ $? == 2 && ! -e fine ]] || fail 'an unknown language was accepted'
"$runyard" module new fine --lang c --kind boat >out 2>err; [[ $? == 2 && ! -e fine ]] || fail 'an unknown kind was accepted'
"$runyard" module new fine --lang c --templates nowhere >out 2>err; [[ $? == 1 && ! -e fine ]] || fail 'a missing templates directory was accepted'
# The templates of this build are found without --templates.
"$runyard" module new found --lang rust >out 2>err || fail 'the templates of this build were not found'
[[ -f found/ry_sys.rs && ! -L found/ry_sys.rs ]] || fail 'the mirror of the headers was not copied'

# pkg-config also finds the SDK.
export PKG_CONFIG_PATH=$work/prefix/share/pkgconfig
[[ $(pkg-config --modversion ry-sdk) == 1.0.* ]] || fail 'pkg-config does not find ry-sdk'
# shellcheck disable=SC2046
gcc -std=c99 -fPIC $(pkg-config --cflags ry-sdk) $(pkg-config --variable=module_ldflags ry-sdk) \
  -o by_pkg_config.so greeter_c/greeter_c.c >out 2>err || fail 'gcc with the flags of pkg-config'
"$runyard" inspect by_pkg_config.so >out 2>err || fail 'inspect of the library built by gcc'
[[ $(nm -D --defined-only by_pkg_config.so | wc -l) == 1 ]] || fail 'by_pkg_config.so exports too many symbols'
# find_package rejects a request for a newer SDK.
cat >CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.16)
project(newer NONE)
find_package(ry-sdk ${WANTED} REQUIRED)
TEXT
cmake -S . -B newer -G Ninja -DWANTED=1.0 -DCMAKE_PREFIX_PATH="$work/prefix" >out 2>err || fail 'find_package(ry-sdk 1.0)'
cmake -S . -B newest -G Ninja -DWANTED=2.0 -DCMAKE_PREFIX_PATH="$work/prefix" >out 2>err && fail 'find_package(ry-sdk 2.0) found 1.x'

((failures == 0)) && echo 'passed'
exit $((failures > 0))
