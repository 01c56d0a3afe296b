#!/usr/bin/env bash
# Copies the C and C++ headers and changes them into those of a later minor version of the same major version: tables,
# views and the descriptor have new members at the end, according to sdk/POLICY.md.
# usage: newer_headers.sh INCLUDE OUT
set -euo pipefail
include=$1 out=$2
rm -rf "$out" && mkdir -p "$out"
cp -r "$include/ry" "$out/"
cd "$out/ry"

# append_member FILE TYPE MEMBER: adds MEMBER at the end of TYPE, for builds that target the later minor version.
append_member() {
  grep -q "^} $2;" "$1" || { echo "$1 has no $2" >&2; exit 1; }
  sed -i "s/^} $2;/#if RY_ABI_MINOR >= 9\n  $3;\n#endif\n} $2;/" "$1"
}
sed -i 's/^#define RY_ABI_MINOR [0-9]*u/#define RY_ABI_MINOR 9u/' abi.h
grep -q '^#define RY_ABI_MINOR 9u' abi.h
append_member abi.h ry_need 'uint64_t tomorrow'
append_member abi.h ry_module_v1 'void (*tomorrow)(void* self) RY_NOEXCEPT'
append_member if/registrar.h ry_route 'uint64_t tomorrow'
append_member if/core.h ry_core_v1 'ry_status (*tomorrow)(const ry_host* host) RY_NOEXCEPT'
append_member if/http.h ry_request_view 'ry_str tomorrow'
append_member if/http.h ry_http_v1 'ry_status (*tomorrow)(ry_request* request) RY_NOEXCEPT'
