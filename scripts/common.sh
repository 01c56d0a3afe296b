# Shared by ./quickstart, ./test and the scripts in this folder: finds out which system this is and installs what is
# missing. Sets the platform variables below and leaves the rest to the functions.
# shellcheck shell=bash

say() { printf '%s\n' "$*"; }
step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

platforms_table=$root/scripts/platforms.tsv

# platform CODENAME: sets platform_name, platform_boost, platform_postgresql, platform_tested; fails if it is not in
# the table.
platform() {
  local codename name boost _ postgresql tested
  while IFS=$'\t' read -r codename name boost _ postgresql tested; do
    [[ $codename == "$1" ]] || continue
    platform_codename=$codename platform_name=$name platform_boost=$boost
    platform_postgresql=$postgresql platform_tested=$tested
    return 0
  done < <(grep -v '^#' "$platforms_table" | tail -n +2)
  return 1
}

# "Debian 12, Debian 13, Ubuntu 24.04 (untested)"
supported_platforms() {
  grep -v '^#' "$platforms_table" | tail -n +2 |
    awk -F'\t' '{ printf "%s%s%s", sep, $2, $6 == "yes" ? "" : " (untested)"; sep = ", " }'
}

# predecessor CODENAME: codename of the release before it that is supported as well, or nothing.
predecessor() {
  grep -v '^#' "$platforms_table" | tail -n +2 |
    awk -F'\t' -v of="$1" '{ split($2, word, " "); if ($1 == of) print last[word[1]]; last[word[1]] = $1 }'
}

# system_codename OS_RELEASE_FILE: of the Debian or Ubuntu release; a derivative names the one it is made from.
system_codename() {
  (
    # shellcheck disable=SC1090
    source "$1"
    printf '%s' "${DEBIAN_CODENAME:-${UBUNTU_CODENAME:-${VERSION_CODENAME:-}}}"
  )
}

# Stops with the list of supported systems on any other one. RUNYARD_PLATFORM overrides what the system says of itself.
detect_platform() {
  local release=${RUNYARD_OS_RELEASE:-/etc/os-release} codename=${RUNYARD_PLATFORM:-} pretty
  [[ -n $codename || ! -r $release ]] || codename=$(system_codename "$release")
  if platform "${codename:-none}"; then return 0; fi
  pretty=$(sed -n 's/^PRETTY_NAME="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$release" 2>/dev/null || true)
  die "Runyard cannot be built on ${pretty:-this system} by this script.
Supported systems: $(supported_platforms).
For a system derived from one of them set RUNYARD_PLATFORM to that release's codename, for example RUNYARD_PLATFORM=bookworm."
}

# What building and running the server needs: sets build_packages, and test_packages with what the tests need as well.
choose_packages() {
  detect_platform
  # RUNYARD_BOOST: another version that the system offers beside its default.
  local boost=${RUNYARD_BOOST:-$platform_boost}
  build_packages=(
    g++ cmake ninja-build ccache pkg-config git ca-certificates
    "libboost$boost-dev" "libboost-json$boost-dev" "libboost-url$boost-dev" "libboost-filesystem$boost-dev"
    libsoci-dev libpq-dev libssl-dev libsodium-dev libidn2-dev libcurl4-openssl-dev zlib1g-dev
    libspdlog-dev libcli11-dev libtomlplusplus-dev prometheus-cpp-dev
    libarchive-dev libexpat1-dev libnats-dev
    postgresql bubblewrap poppler-utils curl
  )
  local chromium=chromium
  # Ubuntu has Chromium as a snap only; this package installs it.
  if [[ $platform_name == Ubuntu* ]]; then chromium=chromium-browser; fi
  test_packages=(
    libgtest-dev libgmock-dev clang libc++-dev libc++abi-dev rustc binutils abigail-tools
    nodejs npm jq procps "$chromium" fonts-liberation iproute2
    dpkg-dev file debootstrap nginx openssl nats-server pgbouncer socat
  )
}

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
