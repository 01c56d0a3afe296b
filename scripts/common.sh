# Shared by ./quickstart, ./test and scripts/: detects the system and installs missing packages.
# shellcheck shell=bash

say() { printf '%s\n' "$*"; }
step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

platforms_table=$root/scripts/platforms.tsv

# platform CODENAME: sets platform_codename, platform_name, platform_boost and platform_tested; fails if it is not in
# the table.
platform() {
  local codename name boost _ tested
  while IFS=$'\t' read -r codename name boost _ _ tested; do
    [[ $codename == "$1" ]] || continue
    platform_codename=$codename platform_name=$name platform_boost=$boost platform_tested=$tested
    return 0
  done < <(grep -v '^#' "$platforms_table" | tail -n +2)
  return 1
}

# "Debian 12, Debian 13, Ubuntu 24.04 (untested)"
supported_platforms() {
  grep -v '^#' "$platforms_table" | tail -n +2 |
    awk -F'\t' '{ printf "%s%s%s", sep, $2, $6 == "yes" ? "" : " (untested)"; sep = ", " }'
}

# "bookworm, trixie, noble"
platform_codenames() {
  grep -v '^#' "$platforms_table" | tail -n +2 | awk -F'\t' '{ printf "%s%s", sep, $1; sep = ", " }'
}

# predecessor CODENAME: prints the codename of the previous supported release of the same distribution, or nothing.
predecessor() {
  grep -v '^#' "$platforms_table" | tail -n +2 |
    awk -F'\t' -v of="$1" '{ split($2, word, " "); if ($1 == of) print last[word[1]]; last[word[1]] = $1 }'
}

# os_release_value FILE KEY: reads a value of an os-release file without running the file.
os_release_value() {
  tr -cd '[:print:]\n' <"$1" | sed -nE "s/^$2=[\"']?([^\"']*)[\"']?\$/\\1/p" | awk 'NR == 1'
}

# system_codename OS_RELEASE_FILE: prints the codename of the Debian or Ubuntu release; for a derivative, of its base.
system_codename() {
  local key value
  for key in DEBIAN_CODENAME UBUNTU_CODENAME VERSION_CODENAME; do
    value=$(os_release_value "$1" "$key")
    if [[ -n $value ]]; then printf '%s' "$value"; return; fi
  done
}

# Exits with the list of supported systems on any other system. BUILD_PLATFORM overrides /etc/os-release.
detect_platform() {
  local release=${BUILD_OS_RELEASE:-/etc/os-release} codename='' pretty=''
  if [[ -n ${BUILD_PLATFORM:-} ]]; then
    platform "$BUILD_PLATFORM" && return 0
    die "BUILD_PLATFORM is \"$BUILD_PLATFORM\", which is not the codename of a supported release.
Set it to one of: $(platform_codenames), or unset it."
  fi
  if [[ -r $release ]]; then
    codename=$(system_codename "$release")
    pretty=$(os_release_value "$release" PRETTY_NAME)
  fi
  if platform "${codename:-none}"; then return 0; fi
  die "This script does not support ${pretty:-this system}.
Supported systems: $(supported_platforms).
On a distribution derived from one of them, set BUILD_PLATFORM to the codename of that release, for example BUILD_PLATFORM=bookworm."
}

# Sets build_packages, the packages needed to build and run the server, and test_packages, those that the tests need as
# well.
choose_packages() {
  detect_platform
  # BUILD_BOOST: another version that the system provides in addition to its default.
  local boost=${BUILD_BOOST:-$platform_boost}
  build_packages=(
    g++ cmake ninja-build ccache pkg-config git ca-certificates
    "libboost$boost-dev" "libboost-json$boost-dev" "libboost-url$boost-dev" "libboost-filesystem$boost-dev"
    libsoci-dev libpq-dev libssl-dev libsodium-dev libidn2-dev libcurl4-openssl-dev zlib1g-dev
    libspdlog-dev libcli11-dev libtomlplusplus-dev prometheus-cpp-dev
    libarchive-dev libexpat1-dev libgsf-1-dev libuchardet-dev libutf8proc-dev libjpeg-dev libpng-dev libgif-dev libwebp-dev libnats-dev libseccomp-dev
    postgresql bubblewrap poppler-utils poppler-data curl
  )
  local chromium=chromium
  # Ubuntu ships Chromium only as a snap; this package installs it.
  if [[ $platform_name == Ubuntu* ]]; then chromium=chromium-browser; fi
  test_packages=(
    libgtest-dev libgmock-dev clang clang-format clang-tidy libc++-dev libc++abi-dev rustc binutils abigail-tools
    nodejs npm jq procps "$chromium" fonts-liberation iproute2
    dpkg-dev file debootstrap nginx openssl nats-server pgbouncer socat
  )
}

# install_packages NAME...: installs missing packages with apt-get.
install_packages() {
  local missing=() p
  for p in "$@"; do
    if [[ $p == nodejs || $p == npm || $p == rustc ]]; then
      # These may be installed from any source.
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
  step "Installing ${#missing[@]} packages: ${missing[*]}"
  # RUNLEVEL=1 keeps the PostgreSQL package from starting a server; Runyard starts an embedded one instead.
  local log; log=$(mktemp)
  if ! { "${sudo[@]}" apt-get update &&
         "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
           apt-get install -y --no-install-recommends --no-remove "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get failed; its last lines are above."
  fi
  rm -f "$log"
}

# If the server runs as root, it runs its embedded PostgreSQL as this dedicated user.
make_postgres_user() {
  if [[ $EUID -ne 0 ]] || id -u runyard-pg >/dev/null 2>&1; then return 0; fi
  useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin \
    --comment 'embedded PostgreSQL of Runyard' runyard-pg || say "The user runyard-pg could not be created."
}

# configure BUILD_DIR [CMAKE_ARGS...]
configure() {
  local dir=$1 werror=OFF; shift
  # On tested systems a warning is an error, for ./quickstart as well: with other flags ./test would recompile
  # everything. With sanitizers the compiler warns about correct code.
  if [[ $platform_tested == yes && -z ${BUILD_BOOST:-} && $* != *RY_SANITIZE* ]]; then werror=ON; fi
  local log; log=$(mktemp)
  if ! cmake -S "$root" -B "$dir" -G Ninja "-DRY_PLATFORM=$platform_codename" "-DRY_WERROR=$werror" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "CMake could not configure the build."
  fi
  rm -f "$log"
}
