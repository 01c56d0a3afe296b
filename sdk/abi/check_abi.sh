#!/usr/bin/env bash
# The C ABI against the goldens: for each released minor N, the headers as they were for it (RY_ABI_MINOR=N) give
# what golden-1.N.abi holds, signatures of function pointers included, with no suppression.
# abidiff passes over changes it holds harmless (a const that goes); the tokens' golden does not.
# usage: check_abi.sh COMPILER INCLUDE GOLDENS [update N]
#   INCLUDE: the folder that holds ry/;  GOLDENS: where golden-1.N.abi are;  update N: write that of minor N anew
set -uo pipefail
compiler=$1 include=$2 goldens=$3 update=${5-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/ry-abi-XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0

library() {  # of minor $1
  $compiler -std=c11 -g -fPIC -shared -DRY_ABI_MINOR="$1u" -I"$include" "$here/witness.c" -o "$work/witness.so"
}

if [[ -n $update ]]; then
  library "$update" || exit 1
  # Nothing of the machine that wrote it.
  abidw --no-comp-dir-path --no-show-locs --no-corpus-path --no-architecture --no-elf-needed \
        --no-parameter-names --type-id-style hash "$work/witness.so" |
    sed -E "s#path='[^']*/witness\.c'#path='witness.c'#" >"$goldens/golden-1.$update.abi"
  exit
fi

for golden in "$goldens"/golden-1.*.abi; do
  minor=${golden##*golden-1.} minor=${minor%.abi}
  library "$minor" || { failures=1; continue; }
  if ! abidiff --no-architecture "$golden" "$work/witness.so"; then
    printf 'FAILED: what was released as ABI 1.%s is another now. See sdk/POLICY.md; additions stand between\n' "$minor"
    printf '        #if RY_ABI_MINOR >= n and #endif.\n'
    failures=1
  fi
done
exit "$failures"
