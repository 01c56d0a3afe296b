#!/usr/bin/env bash
# Builds the modules that stand for one minor of the ABI, from this tree's SDK and with the machine's gcc and g++,
# into a folder beside this script, and notes their sums.
#
# While a minor is being made its folder is written anew whenever the ABI changes. Once it is released, never
# again: the binaries prove from then on that whoever built against it goes on running.
# usage: keep.sh 1.0
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
version=${1:?usage: keep.sh MAJOR.MINOR}
# Built on the oldest supported system, the binaries have to load on every other one.
# shellcheck source=scripts/common.sh
source "$root/scripts/common.sh"
detect_platform
[[ -z $(predecessor "$platform_codename") && $platform_name == Debian* ]] ||
  die "Build the kept modules on the oldest supported release, not on $platform_name."
[[ $version =~ ^1\.([0-9]+)$ ]] || { echo "$version is no version of this ABI" >&2; exit 2; }
minor=${BASH_REMATCH[1]}
out=$here/$version
mkdir -p "$out"

# Nothing of the machine or the place: the same compiler gives the same bytes.
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
  ((size <= 200000)) || { echo "$file has $size bytes, too many to keep" >&2; exit 1; }
done
ls -l "$out"
