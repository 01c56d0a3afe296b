# Shared by ./quickstart and ./test: finds what is missing on a Debian 12 machine and installs it.
# shellcheck shell=bash

# What building and running the server needs.
build_packages=(
  g++ cmake ninja-build ccache pkg-config git ca-certificates
  libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev libboost-filesystem1.81-dev
  libsoci-dev libpq-dev libssl-dev libsodium-dev libidn2-dev libcurl4-openssl-dev zlib1g-dev
  libspdlog-dev libcli11-dev libtomlplusplus-dev prometheus-cpp-dev
  libarchive-dev libexpat1-dev libnats-dev
  postgresql bubblewrap poppler-utils curl
)
# What the tests need beside that.
test_packages=(
  libgtest-dev libgmock-dev clang libc++-dev libc++abi-dev rustc binutils abigail-tools
  nodejs npm jq procps chromium fonts-liberation iproute2
  dpkg-dev file debootstrap nginx openssl nats-server pgbouncer socat
)

say() { printf '%s\n' "$*"; }
step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# install_packages NAME...: those that are not there yet, by apt-get.
install_packages() {
  local missing=() p
  for p in "$@"; do
    if [[ $p == nodejs || $p == npm || $p == rustc ]]; then
      # Any installation of these will do, wherever it comes from.
      if command -v "${p/nodejs/node}" >/dev/null 2>&1; then continue; fi
    fi
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
  done
  if [[ ${#missing[@]} -eq 0 ]]; then return 0; fi
  command -v apt-get >/dev/null || die "These packages are missing and there is no apt-get here: ${missing[*]}"
  local sudo=()
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null || die "Please install as root: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  step "Installing ${#missing[@]} Debian packages: ${missing[*]}"
  # PostgreSQL's package would start a server of its own; Runyard brings up a private one instead.
  local log; log=$(mktemp)
  if ! { "${sudo[@]}" apt-get update &&
         "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
           apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get failed; its last lines are above."
  fi
  rm -f "$log"
}

# configure BUILD_DIR [CMAKE_ARGS...]
configure() {
  local dir=$1; shift
  local log; log=$(mktemp)
  if ! cmake -S "$root" -B "$dir" -G Ninja "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "CMake could not configure the build."
  fi
  rm -f "$log"
}
