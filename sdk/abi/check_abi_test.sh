#!/usr/bin/env bash
# Tests that check_abi.sh rejects changes that break modules and accepts those that POLICY.md allows.
# usage: check_abi_test.sh COMPILER INCLUDE GOLDENS
set -uo pipefail
compiler=$1 include=$2 goldens=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/ry-abi-XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0

# change NAME EXPECTED FILE SED: checks a copy of the headers with one change
change() {
  rm -rf "$work/include"
  cp -r "$include" "$work/include"
  sed -E -i "$4" "$work/include/ry/$3"
  if cmp -s "$include/ry/$3" "$work/include/ry/$3"; then
    printf 'FAILED: %s: %s has no matching line\n' "$1" "$3"; failures=1; return
  fi
  # Static assertions check sizes and offsets; this test covers what only abidiff detects.
  bash "$here/check_abi.sh" "$compiler -D_Static_assert(...)=" "$work/include" "$goldens" >"$work/out" 2>&1
  local rc=$?
  if [[ $rc != "$2" ]]; then
    printf 'FAILED: %s exited with %s, not %s\n' "$1" "$rc" "$2"; tail -n 20 "$work/out"; failures=1
  fi
}

route='ry_status \(\*route\)\(ry_registrar\* r, const ry_route\* route\)'
change 'a changed signature' 1 if/registrar.h "s/$route/ry_status (*route)(ry_registrar* r, const ry_route* route, int more)/"
change 'a different type of the same size' 1 abi.h 's/^( *)uint32_t min_host_minor;/\1int32_t min_host_minor;/'
change 'a member in the middle' 1 abi.h 's/^( *uint32_t min_host_minor;)/uint64_t added; \1/'
change 'a member at the end without its minor' 1 abi.h 's/^\} ry_module_v1;/  void* added; } ry_module_v1;/'
change 'a member at the end with its minor' 0 abi.h 's/^\} ry_module_v1;/\n#if RY_ABI_MINOR >= 1\n  void* added;\n#endif\n} ry_module_v1;/'
((failures == 0)) && echo 'passed'
exit "$failures"
