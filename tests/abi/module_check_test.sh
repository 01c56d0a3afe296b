#!/usr/bin/env bash
# `runyard module check` accepts a correct transport and finds the fault of each faulty one.
# usage: module_check_test.sh RUNYARD LOOPBACK_DIRECTORY THIRD_PARTY_DIRECTORY BAD_DIRECTORY
set -uo pipefail
runyard=$1 dir=$2 third=$3 bad=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
# Makes sanitizer builds die from the signal as well, instead of printing a report.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0" TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}handle_segv=0"
failures=0
fail() { printf 'FAILED: %s\n' "$*"; sed 's/^/    /' out err; failures=$((failures + 1)); }
server='{"url":"inside:"}'

"$runyard" module check "$dir/loopback_good.so" --server "$server" >out 2>err || fail 'a correct transport fails the check'
grep -qx '15 passed, 0 failed, 1 skipped' out || fail 'not all tests were run on a correct transport'
grep -qx 'skipped  routes' out || fail 'the test of routes was not skipped for a module without routes'

# fault NAME TEST MESSAGE: the test fails with this message.
fault() {
  "$runyard" module check "$dir/loopback_$1.so" --server "$server" --only "$2" >out 2>err
  [[ $? == 1 ]] || fail "$1: the exit code is not 1"
  grep -qx "FAILED   $2" out || fail "$1: $2 did not fail"
  grep -qF -- "$3" out || fail "$1: the output lacks: $3"
}
fault facts create 'section'
fault exports file 'ry_module_entry'
fault null transport.table 'a slot of the table is NULL'
fault dumb transport.nonsense 'without a message in err'
fault trusts needs 'terminated by signal 11'
fault crash transport.exchange 'terminated by signal 6'
fault twice transport.exchange 'on_sent() came twice for one message'
fault inline transport.exchange 'on_sent() came inside a call of the driver'
fault never transport.exchange 'on_sent() was not called for a message that was answered'
fault thread transport.exchange 'came on a thread other than'
fault finish transport.cancel 'on_sent() came for a message after finish()'
fault late transport.close 'after close() had returned'
fault pressure transport.back_pressure 'before resume()'
fault large transport.too_large 'RY_RESOURCE_EXHAUSTED'
fault leak transport.many 'descriptors open'
fault open thrice 'descriptors open'
fault stays life 'did not stop before the deadline'
fault undeclared life 'does not list in `needs` in get_interface: ry.metrics/1'

# The report as one JSON object.
"$runyard" module check "$dir/loopback_late.so" --server "$server" --only transport.close --only file --json >out 2>err
[[ $? == 1 ]] || fail 'json: the exit code is not 1'
node -e 'const r = JSON.parse(require("fs").readFileSync("out")); const [file, close] = r.tests;
  if (r.passed !== 1 || r.failed !== 1 || r.skipped !== 0 || r.problems.length || file.name !== "file" || file.result !== "passed" || "detail" in file ||
      close.name !== "transport.close" || close.result !== "failed" || !/after close\(\) had returned/.test(close.detail)) process.exit(1)' ||
  fail 'json: unexpected report'

# A module that calls exit() makes the test fail, whatever the exit code.
for code in 0 3 4; do
  name=abi_raw_exit_$code
  [[ $code != 3 ]] || name=abi_raw_exit
  "$runyard" module check "$bad/$name.so" --only create >out 2>err
  [[ $? == 1 ]] || fail "$name: the exit code is not 1"
  grep -qF "the module terminated the process (exit code $code)" out || fail "$name: not reported"
done

# Without a server, tests that need one are skipped, not passed.
"$runyard" module check "$dir/loopback_good.so" >out 2>err || fail 'without a server'
grep -qx '7 passed, 0 failed, 9 skipped' out || fail 'without a server the wrong tests were skipped'
"$runyard" module check "$dir/loopback_good.so" --server nonsense >out 2>err; [[ $? == 2 ]] || fail 'a server that is not JSON was accepted'
"$runyard" module check "$dir/loopback_good.so" --only nonsense >out 2>err; [[ $? == 2 ]] || fail 'an unknown test was accepted'
"$runyard" module check nowhere.so --json >out 2>err
node -e 'const r = JSON.parse(require("fs").readFileSync("out"));
  if (r.tests.length || r.failed !== 0 || r.problems.length !== 1) process.exit(1)' || fail 'json: a missing file is not reported'
"$runyard" module check nowhere.so >out 2>err; [[ $? == 1 ]] || fail 'a missing file was accepted'

# Modules with routes, of each language.
for name in greeter_c greeter_cpp greeter_rust; do
  "$runyard" module check "$third/$name.so" >out 2>err || fail "$name fails the check"
  grep -qx '6 passed, 0 failed, 0 skipped' out || fail "not all tests were run on $name"
done

# Modules that use services of other modules. Without a database the providers of these services do not start.
modules=$third/../modules
for name in relay_cpp relay_rust; do
  "$runyard" module check "$third/$name.so" >out 2>err
  [[ $? == 1 ]] || fail "$name: the exit code is not 1 without the modules that it needs"
  grep -qx '2 passed, 4 failed, 0 skipped' out || fail "$name: not the expected tests failed"
  grep -qF "module \"$name\" needs accounts/1, which no available module provides" out || fail "$name: the missing service is not named"
  "$runyard" module check "$third/$name.so" --only create --with "$modules/accounts.so" --with "$modules/agents.so" \
    --with "$modules/mail.so" >out 2>err && fail "$name: runs/1 is not required"
  grep -qF "module \"$name\" needs runs/1, which no available module provides" out || fail "$name: runs/1 is not named"
  "$runyard" module check "$third/$name.so" --only file --only create --only needs --with "$modules/accounts.so" \
    --with "$modules/agents.so" --with "$modules/mail.so" --with "$modules/runs.so" >out 2>err || fail "$name fails the check"
  grep -qx '3 passed, 0 failed, 0 skipped' out || fail "not all tests were run on $name"
done

# No files are left behind, even by modules that end the process.
[[ -z $(ls -A "$TMPDIR") ]] || { find "$TMPDIR" >out; fail 'files were left behind'; }

((failures == 0)) && echo 'passed'
exit $((failures > 0))
