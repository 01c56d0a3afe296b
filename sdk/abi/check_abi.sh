#!/usr/bin/env bash
# Compares the C ABI with the goldens: for each released minor N, the headers with RY_ABI_MINOR=N must match
# golden-1.N.abi, including the signatures of function pointers, without suppressions. abidiff ignores changes that it
# considers harmless (a removed const); check_tokens.cmake, which compares the tokens of the headers, reports them.
# usage: check_abi.sh COMPILER INCLUDE GOLDENS [update N]
#   INCLUDE: the directory of ry/;  GOLDENS: the directory of golden-1.N.abi;  update N: rewrite the golden of minor N
set -uo pipefail
compiler=$1 include=$2 goldens=$3 update=${5-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/ry-abi-XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0

library() {  # builds the witness library for minor $1
  $compiler -std=c11 -g -fPIC -shared -DRY_ABI_MINOR="$1u" -I"$include" "$here/witness.c" -o "$work/witness.so"
}

if [[ -n $update ]]; then
  library "$update" || exit 1
  # The output must not depend on the machine.
  abidw --no-comp-dir-path --no-show-locs --no-corpus-path --no-architecture --no-elf-needed \
        --no-parameter-names --type-id-style hash "$work/witness.so" |
    sed -E "s#path='[^']*/witness\.c'#path='witness.c'#" >"$goldens/golden-1.$update.abi"
  exit
fi

for golden in "$goldens"/golden-1.*.abi; do
  minor=${golden##*golden-1.} minor=${minor%.abi}
  library "$minor" || { failures=1; continue; }
  if ! abidiff --no-architecture "$golden" "$work/witness.so"; then
    printf 'FAILED: the released ABI 1.%s has changed. See sdk/POLICY.md; additions must be between\n' "$minor"
    printf '        #if RY_ABI_MINOR >= n and #endif.\n'
    failures=1
  fi
done
exit "$failures"
