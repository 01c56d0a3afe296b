#!/usr/bin/env bash
# Copies the C and C++ headers as a later minor of the same major may look: tables, views and the descriptor have
# grown at their end, by the rules of sdk/POLICY.md.
# usage: newer_headers.sh INCLUDE OUT
set -euo pipefail
include=$1 out=$2
rm -rf "$out" && mkdir -p "$out"
cp -r "$include/ry" "$out/"
cd "$out/ry"

# grown FILE TYPE MEMBER: MEMBER; becomes the last of TYPE, for builds that target the later minor.
grown() {
  grep -q "^} $2;" "$1" || { echo "$1 has no $2" >&2; exit 1; }
  sed -i "s/^} $2;/#if RY_ABI_MINOR >= 9\n  $3;\n#endif\n} $2;/" "$1"
}
sed -i 's/^#define RY_ABI_MINOR [0-9]*u/#define RY_ABI_MINOR 9u/' abi.h
grep -q '^#define RY_ABI_MINOR 9u' abi.h
grown abi.h ry_need 'uint64_t tomorrow'
grown abi.h ry_module_v1 'void (*tomorrow)(void* self) RY_NOEXCEPT'
grown if/registrar.h ry_route 'uint64_t tomorrow'
grown if/core.h ry_core_v1 'ry_status (*tomorrow)(const ry_host* host) RY_NOEXCEPT'
grown if/http.h ry_request_view 'ry_str tomorrow'
grown if/http.h ry_http_v1 'ry_status (*tomorrow)(ry_request* request) RY_NOEXCEPT'
