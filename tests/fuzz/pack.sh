#!/usr/bin/env bash
# Packs the files of a directory as the corpus of a fuzz target. The archive is reproducible.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ $# -ne 2 || ! -d ${2:-} ]]; then
  echo 'usage: tests/fuzz/pack.sh TARGET DIRECTORY' >&2
  exit 2
fi
archive=$here/corpus/$1.tar.gz
tar --sort=name --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C "$2" -cf - . | gzip -9n >"$archive.new"
mv "$archive.new" "$archive"
echo "$(tar -tzf "$archive" | grep -vc '/$') inputs in $archive"
