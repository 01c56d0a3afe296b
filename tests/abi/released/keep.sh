#!/usr/bin/env bash
# Builds the reference modules for one minor version of the ABI, from this tree's SDK and with the system's gcc and g++,
# into a directory next to this script, and records their SHA-256 checksums.
#
# While a minor version is in development, rebuild its directory whenever the ABI changes. After its release, never
# rebuild it: from then on the binaries prove that modules built against it still load and run.
# usage: keep.sh 1.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
version=${1:?usage: keep.sh MAJOR.MINOR}
# Build on the oldest supported system, so that the binaries load on every newer one.
# shellcheck source=scripts/common.sh
source "$root/scripts/common.sh"
detect_platform
[[ -z $(predecessor "$platform_codename") && $platform_name == Debian* ]] ||
  die "Build the released ABI modules on the oldest supported release, not on $platform_name."
[[ $version =~ ^1\.([0-9]+)$ ]] || { echo "$version is not a version of this ABI" >&2; exit 2; }
minor=${BASH_REMATCH[1]}
out=$here/$version
mkdir -p "$out"

# Reproducible build: the output must not depend on the machine or the source directory.
common=(-Os -fPIC -shared -fvisibility=hidden -ffile-prefix-map="$root"=. -I "$root/sdk/include" -DRY_ABI_MINOR="${minor}u"
        -Wl,--version-script="$root/sdk/cmake/module.map" -Wl,-z,defs -Wl,-z,now -Wl,--build-id=none -s)
gcc -std=c99 "${common[@]}" -DABI_NAME='"abi_c"' -DABI_ROUTE='"/abi/c"' "$root/tests/abi/modules/hello.c" -o "$out/abi_c.so"
g++ -std=c++20 -fvisibility-inlines-hidden "${common[@]}" -DABI_NAME='"abi_gcc"' -DABI_LANG='"gcc"' \
  "$root/tests/abi/modules/hello.cpp" -o "$out/abi_gcc.so"
g++ -std=c++20 -fvisibility-inlines-hidden "${common[@]}" "$root/tests/abi/modules/wide.cpp" -o "$out/abi_wide.so"
g++ -std=c++20 -fvisibility-inlines-hidden "${common[@]}" -DABI_NAME='"abi_unguarded"' \
  "$root/tests/abi/modules/unguarded.cpp" -o "$out/abi_unguarded.so"

(cd "$out" && sha256sum ./*.so >SHA256SUMS)
for file in "$out"/*.so; do
  size=$(stat -c %s "$file")
  ((size <= 200000)) || { echo "$file is $size bytes; the limit for checked-in binaries is 200000" >&2; exit 1; }
done
ls -l "$out"
