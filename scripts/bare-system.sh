# Shared by scripts/check-packages and scripts/check-platform: bare systems created by debootstrap.
# shellcheck shell=bash

# debian_archive CODENAME: prints the URL of the archive that this machine's apt uses for this distribution.
debian_archive() {
  local kind=debian
  platform "$1" || die "$1 is not in scripts/platforms.tsv."
  if [[ $platform_name == Ubuntu* ]]; then kind=ubuntu; fi
  # awk reads all input; head would end early and kill the writers with SIGPIPE.
  cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^#' |
    grep -oE 'https?://[^ ]+' | grep -E "/$kind/?\$" | sort -u | awk 'NR == 1' || true
}

# make_bare_system CODENAME DIR ARCHIVE PACKAGE,...: a minimal root directory. Writes debootstrap's output to "$log".
make_bare_system() {
  local codename=$1 dir=$2 archive=$3 packages=$4
  timeout 900 debootstrap --variant=minbase --include="ca-certificates,$packages" "$codename" "$dir" "$archive" \
    >"$log" 2>&1 || return 1
  rm -f "$dir"/var/cache/apt/archives/*.deb
  # The minimal system shares this machine's kernel: exclude a package that sets kernel parameters on installation.
  printf 'Package: linux-sysctl-defaults\nPin: release *\nPin-Priority: -1\n' >"$dir/etc/apt/preferences.d/no-sysctl"
}

# adopt_network_settings CODENAME DIR ARCHIVE: copies package sources, certificates and name resolution of this machine.
adopt_network_settings() {
  local codename=$1 dir=$2 archive=$3 f host_codename='' copied=''
  [[ ! -r /etc/os-release ]] || host_codename=$(system_codename /etc/os-release)
  for f in /etc/apt/sources.list.d/{debian,ubuntu}*; do
    # Files that use "stable" would install this machine's release instead of the requested one.
    [[ -e $f && -n $host_codename ]] && grep -qF "${archive%/}" "$f" && grep -qw "$host_codename" "$f" || continue
    # Debian 13 has the keyring under both names, Debian 12 under the older one only.
    sed -E "s/\\b$host_codename\\b/$codename/g; s/(archive-keyring)\\.pgp/\\1.gpg/" "$f" >"$dir/etc/apt/sources.list.d/${f##*/}"
    copied=1
  done
  if [[ -n $copied ]]; then
    rm -f "$dir/etc/apt/sources.list"
  else
    local components=main
    if [[ $archive == */ubuntu* ]]; then components='main universe'; fi
    printf 'deb %s %s %s\n' "$archive" "$codename" "$components" "$archive" "$codename-updates" "$components" \
      >"$dir/etc/apt/sources.list"
  fi
  for f in /etc/apt/apt.conf.d/*; do
    if grep -qE 'Check-(Valid-Until|Date)|Proxy' "$f"; then cp "$f" "$dir/etc/apt/apt.conf.d/"; fi
  done
  cp -a /usr/local/share/ca-certificates/. "$dir/usr/local/share/ca-certificates/" 2>/dev/null || true
  chroot "$dir" update-ca-certificates >/dev/null 2>&1 || true
  cp /etc/resolv.conf /etc/hosts "$dir/etc/"
}

# run_in_bare_system DIR DIRECTORY COMMAND: runs COMMAND as root in separate mount and process namespaces; all its
# processes are killed when it exits. It shares this machine's network.
run_in_bare_system() {
  BARE_ROOT=$1 BARE_DIRECTORY=$2 BARE_COMMAND=$3 unshare --mount --pid --fork --kill-child --propagation private \
    bash -euc '
      mount --bind "$BARE_ROOT" "$BARE_ROOT"; cd "$BARE_ROOT"; mkdir -p .old
      mount --rbind /dev dev; mount -t tmpfs tmpfs dev/shm; mount -t proc proc proc; mount --rbind /sys sys
      pivot_root . .old; cd "$BARE_DIRECTORY"; umount -l /.old
      exec env -i HOME=/root TERM="${TERM:-dumb}" CI=true PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        bash -euo pipefail -c "$BARE_COMMAND"'
}
