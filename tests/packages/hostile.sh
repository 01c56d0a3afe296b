#!/bin/bash
# Runs commands of hostile tenants against the packaged unit, as root on the system where it is installed.
#   hostile.sh control-groups   the unit's group is delegated with the controllers memory and pids
#   hostile.sh degraded         the unit's group is not delegated
# Prints a line per check, "ok: ..." or "FAILED: ...", and at the end "done: N failures". The limits are those of
# hostile.conf, the drop-in of the unit that scripts/check-packages installs.
set -uo pipefail
mode=${1:?}
processes=64 memory_mib=256 tmp_mib=16 account_processes=100 account_memory_mib=448  # as in hostile.conf
url=http://127.0.0.1:8080
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ok() { printf 'ok: %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
show() { systemctl show -P "$1" runyard.service; }
status_of() { curl -s -m 120 -o "$work/body" -w '%{http_code}' "$url$1"; }
token_of() { runyard token --config /etc/runyard/runyard.toml --subject "$1"; }

# attack ACCOUNT NAME COMMAND: runs a command; writes the events of the run to $work/NAME.
attack() {
  RUNYARD_TOKEN=${token[$1]} timeout 280 runyard run --json "run: $3" >"$work/$2" 2>"$work/$2.err" ||
    fail "$2: the run ended with $?: $(tail -n 3 "$work/$2.err")"
}
results_of() { grep -h '"tool_result"' "$work/$1"; }
expect() {  # NAME PATTERN WHAT
  if results_of "$1" | grep -qE -- "$2"; then ok "$1: $3"; else fail "$1: $3; the result was: $(results_of "$1" | head -c 1500)"; fi
}
never() {  # NAME PATTERN WHAT
  if results_of "$1" | grep -qE -- "$2"; then fail "$1: $3; the result was: $(results_of "$1" | head -c 1500)"; else ok "$1: $3"; fi
}
within() {  # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

# ---- the server and the limits it can enforce ----

# The first start creates a database.
ready() { status=$(status_of /readyz); [[ $status == 200 ]]; }
within 600 ready || { fail "/readyz returns $status: $(cat "$work/body")"; printf 'done: %d failures\n' "$failures"; exit 0; }
declare -A token
for account in 1 2 3; do token[$account]=$(token_of "0192f0c1-2d3e-7f00-8a1b-00000000000$account"); done
groups=$(curl -s "$url/metrics" | awk '$1 == "runyard_sandbox_bubblewrap_control_groups" { print $2 }')
check=$(runyard check --config /etc/runyard/runyard.toml 2>&1) || fail "runyard check: $check"
if [[ $mode == control-groups ]]; then
  if grep -q degraded "$work/body"; then fail "/readyz: $(cat "$work/body")"; else ok "/readyz is not degraded"; fi
  if grep -qi 'control group' <<<"$check"; then fail "runyard check reports something missing: $check"; else ok "runyard check reports nothing missing"; fi
  [[ $groups == 1 ]] && ok "the metric reports control groups" || fail "the metric control_groups is \"$groups\""
else
  grep -q 'without control groups' "$work/body" && ok "/readyz is degraded and gives the reason" || fail "/readyz: $(cat "$work/body")"
  grep -qi 'control groups' <<<"$check" && ok "runyard check reports the missing control groups" || fail "runyard check: $check"
  [[ $groups == 0 ]] && ok "the metric reports no control groups" || fail "the metric control_groups is \"$groups\""
fi
server=$(show MainPID)
top=/sys/fs/cgroup$(show ControlGroup)
sandbox=$top/sandbox

# ---- control groups: limits, shares and removal ----

if [[ $mode == control-groups ]]; then
  attack 1 sleeper 'sleep 8' & sleeper=$!
  one_group() { group=$(find "$sandbox" -mindepth 2 -maxdepth 2 -type d ! -path '*/waiting/*' | head -n 1); [[ -n $group ]]; }
  if within 30 one_group; then
    parent=${group%/*}
    limit() { [[ $(cat "$1") == "$2" ]] && ok "${1#"$sandbox"/} is $2" || fail "${1#"$sandbox"/} is $(cat "$1") instead of $2"; }
    limit "$group/memory.max" $(((memory_mib + 3 * tmp_mib) << 20))
    limit "$group/pids.max" $((processes + 2))
    limit "$group/memory.oom.group" 1
    limit "$parent/memory.max" $((account_memory_mib << 20))
    limit "$parent/pids.max" "$account_processes"
    limit "$sandbox/cpu.weight" 20
    limit "$top/server/cpu.weight" 100
    limit "$sandbox/io.weight" 'default 20'
    limit "$sandbox/io.bfq.weight" 'default 20'
    [[ $(wc -l <"$group/cgroup.procs") -ge 3 ]] && ok "the command is in its group" || fail "in the group: $(cat "$group/cgroup.procs")"
    grep -qx "$server" "$top/server/cgroup.procs" && ok "the server is in a separate group" || fail "the server is not in server/"
    [[ ! -w $top/../cgroup.procs ]] || setpriv --reuid="$(id -u runyard)" --clear-groups test ! -w "$top/../cgroup.procs" &&
      ok "the server cannot write to the parent group" || fail "the server can write to the parent group"
  else
    fail "no control group of a command below $sandbox: $(find "$top" -type d)"
  fi
  wait "$sleeper"
fi

# ---- attacks of one command ----

survives() {  # NAME
  local now
  now=$(show MainPID)
  [[ $now == "$server" ]] || { fail "$1: the server exited: $(journalctl -u runyard -o cat --no-pager -n 8)"; server=$now; }
  [[ $(status_of /readyz) == 200 ]] || fail "$1: /readyz returns $(cat "$work/body")"
}
single() { attack 1 "$1" "$2"; survives "$1"; }  # NAME COMMAND

single forks "perl -e 'my (\$n, \$full, \$until) = (0, 0, time + 5); while (time < \$until) { my \$p = fork; if (!defined \$p) { \$full++; select undef, undef, undef, 0.02; next } if (!\$p) { sleep 60; exit } \$n++ } print \"made \$n, refused \", \$full ? \"some\" : \"none\", \"\\n\"'"
expect forks 'refused some' "a command cannot start more processes"
made=$(results_of forks | grep -oE 'made [0-9]+' | grep -oE '[0-9]+' | head -n 1)
[[ ${made:-9999} -le $processes ]] && ok "forks: $made processes" || fail "forks: $made processes"

if [[ $mode == control-groups ]]; then
  single bomb "perl -e 'my \$until = time + 5; while (time < \$until) { fork }' 2>/dev/null; echo survived"
  expect bomb 'exit code|survived|took more' "the fork bomb is terminated"
fi

single memory "perl -e 'for (1 .. 8) { if (!fork) { vec(my \$x = q(), 60 << 20, 8) = 1; sleep 60; exit } } sleep 60; print \"survived\\n\"'"
expect memory 'sandbox: terminated: .*MiB of memory' "the error states the memory limit"
never memory 'survived' "the command is terminated"

sockets="use Socket; for (1 .. 8) { if (!fork) { my @all; for (1 .. 230) { socketpair(my \$a, my \$b, AF_UNIX, SOCK_STREAM, 0) or last; for my \$s (\$a, \$b) { setsockopt \$s, SOL_SOCKET, SO_SNDBUF, 1 << 20; fcntl \$s, 4, 2048; 1 while syswrite \$s, \"x\" x 32768 } push @all, \$a, \$b } sleep SECONDS; exit } } 1 while wait > 0; print \"survived\\n\""
if [[ $mode == control-groups ]]; then
  single unix_sockets "perl -e '${sockets/SECONDS/60}'"
  expect unix_sockets 'sandbox: terminated: .*MiB of memory' "buffers of Unix sockets count as memory"
  never unix_sockets 'survived' "the command is terminated"
  single pipes "perl -e 'for (1 .. 8) { if (!fork) { my @all; for (1 .. 240) { pipe(my \$r, my \$w) or last; fcntl \$w, 1031, 1 << 20; fcntl \$w, 4, 2048; 1 while syswrite \$w, \"x\" x 65536; push @all, \$r, \$w } sleep 12; exit } } 1 while wait > 0; print \"survived\\n\"'"
  expect pipes 'sandbox: terminated: .*MiB of memory|survived' "buffers of pipes are limited"
  # At the limit the kernel throttles TCP and terminates nothing.
  attack 1 tcp_sockets "perl -e 'use Socket; my @all; socket(my \$l, AF_INET, SOCK_STREAM, 0); bind \$l, sockaddr_in(0, INADDR_LOOPBACK) or die; listen \$l, 500; my \$to = getsockname \$l; for (1 .. 200) { socket(my \$c, AF_INET, SOCK_STREAM, 0); connect \$c, \$to or last; accept(my \$s, \$l); for my \$x (\$c, \$s) { setsockopt \$x, SOL_SOCKET, SO_SNDBUF, 4 << 20; fcntl \$x, 4, 2048; for (1 .. 200) { syswrite \$x, \"x\" x 65536 or last } } push @all, \$c, \$s } print scalar(@all), \" sockets\\n\"; sleep 3'" & attacker=$!
  peak=0
  while kill -0 "$attacker" 2>/dev/null; do
    for f in "$sandbox"/*/*/memory.current; do now=$(cat "$f" 2>/dev/null || echo 0); ((now > peak)) && peak=$now; done
    sleep 0.1
  done
  wait "$attacker"
  survives tcp_sockets
  ((peak > (8 << 20) && peak <= ((memory_mib + 3 * tmp_mib) << 20))) && ok "tcp_sockets: at most $((peak >> 20)) MiB" || fail "tcp_sockets: at most $((peak >> 20)) MiB"
else
  single unix_sockets "perl -e '${sockets/SECONDS/1}'"
  expect unix_sockets 'survived|took more' "the command is terminated"
fi

single semaphores "perl -e 'my (\$sem, \$msg) = (qw(64 68)); (\$sem, \$msg) = (190, 186) if \`uname -m\` =~ /aarch64/; my \$n = 0; for (1 .. 200) { \$n++ if syscall(\$sem, 0, 32000, 0600) >= 0; \$n++ if syscall(\$msg, 0, 0600) >= 0 } print \"got \$n sets\\n\"'"
expect semaphores 'got 0 sets' "System V semaphores and message queues are denied"

single unlinked "perl -e 'my \$x = q(x) x (1 << 20); my @all; for (1 .. 40) { open my \$f, q(>), q(f) or last; unlink q(f); for (1 .. 16) { print \$f \$x or last } push @all, \$f } sleep 30; print \"survived\\n\"'"
expect unlinked 'sandbox: terminated: the workspace is full' "open unlinked files count"
never unlinked 'survived' "the command is terminated"
single hidden "perl -e 'my \$prctl = \`uname -m\` =~ /aarch64/ ? 167 : 157; syscall(\$prctl, 4, 0); my \$x = q(x) x (1 << 20); my @all; for (1 .. 40) { open my \$f, q(>), q(f) or last; unlink q(f); for (1 .. 16) { print \$f \$x or last } push @all, \$f } sleep 30; print \"survived\\n\"'"
expect hidden 'sandbox: terminated: the workspace is full' "open unlinked files of an undumpable process count"
never hidden 'survived' "the command is terminated"
single inodes "perl -e 'for my \$i (1 .. 200000) { open my \$f, q(>), \"f\$i\" or last } sleep 20; print \"survived\\n\"'"
expect inodes 'sandbox: terminated: the workspace has more than 2000 files' "the number of files is limited"
# The workspace is over its limit: empty it first, otherwise no other command of this project can start.
single deep "perl -e 'for (1 .. 20000) { mkdir q(d) or last; chdir q(d) or last } sleep 20; print \"survived\\n\"'"
expect deep 'sandbox: terminated: directories are nested more than' "the depth of directories is limited"
single tmp "dd if=/dev/zero of=/tmp/x bs=1M count=200 2>&1; ls -s /tmp/x; dd if=/dev/zero of=/dev/shm/x bs=1M count=200 2>&1"
expect tmp 'No space left' "/tmp and /dev/shm are limited"
single output "yes hostile | head -c 300000000; yes hostile | head -c 100000000 >&2; echo over"
expect output 'more bytes of output were dropped' "output beyond the limit is dropped"
rss=$(awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$server/status")
((rss < 500)) && ok "output: the server has $rss MiB" || fail "output: the server has $rss MiB"
single init "perl -e 'my (\$trace, \$read) = \`uname -m\` =~ /aarch64/ ? (117, 270) : (101, 310); for my \$r (16, 0x4206) { print syscall(\$trace, \$r, 1, 0, 0) < 0 ? \"refused\\n\" : \"traced\\n\" } open(my \$m, q(+<), q(/proc/1/mem)) ? print \"opened\\n\" : print \"refused\\n\"; my \$i = pack(q(Q2), 1, 4096); my \$p = pack(q(p), \$i); print syscall(\$read, 1, \$p, 1, \$p, 1, 0) < 0 ? \"refused\\n\" : \"read\\n\"'; kill -9 1; kill -STOP 1; sleep 0.2; cat /proc/1/limits"
never init 'traced|opened|\\nread' "process 1 cannot be traced or written to"
expect init 'refused\\nrefused\\nrefused\\nrefused' "each attempt is denied"
expect init "Max processes +$processes " "process 1 has the limits of the command"
single families "perl -e 'my \$socket = \`uname -m\` =~ /aarch64/ ? 198 : 41; for my \$f (0 .. 64) { for my \$t (1, 2, 3, 5) { if (syscall(\$socket, \$f, \$t, 0) >= 0) { print \"[\$f]\"; last } } } print \"\\n\"'"
expect families '\[1\]\[2\]\[10\]\[16\]\\n' "only Unix, IP and netlink sockets (no vsock)"
single namespaces "unshare -r true 2>&1; unshare -n true 2>&1; ls /sys/fs/cgroup 2>&1 | wc -l; mount -t cgroup2 none /tmp 2>&1"
never namespaces 'cgroup.procs' "a command cannot access its control group"

# ---- attacks of an account ----

if [[ $mode == control-groups ]]; then
  # More concurrent commands than the account may have processes. A command of another account runs at the same time.
  fork_repeatedly="perl -e 'my \$until = time + 8; while (time < \$until) { my \$p = fork; if (!defined \$p) { select undef, undef, undef, 0.02; next } if (!\$p) { sleep 60; exit } }'; echo over"
  attackers=()
  for i in 1 2 3; do attack 2 "account_forks_$i" "$fork_repeatedly" & attackers+=($!); done
  peak=0 groups_seen=0
  attack 3 beside 'echo beside works' & beside=$!
  running() { local p; for p in "${attackers[@]}"; do kill -0 "$p" 2>/dev/null && return 0; done; return 1; }
  while running; do
    for f in "$sandbox"/*2/pids.current; do now=$(cat "$f" 2>/dev/null || echo 0); ((now > peak)) && peak=$now; done
    now=$(find "$sandbox"/*2 -mindepth 1 -maxdepth 1 -type d 2>/dev/null | wc -l); ((now > groups_seen)) && groups_seen=$now
    sleep 0.1
  done
  wait "${attackers[@]}" "$beside"
  survives account_forks
  ((groups_seen >= 2 && peak > processes + 2 && peak <= account_processes)) && ok "account_forks: $peak processes in $groups_seen commands" ||
    fail "account_forks: $peak processes in $groups_seen commands"
  expect beside 'beside works' "a command of another account runs at the same time"

  # Each command is within its limit, but together they exceed the limit of the account.
  attackers=()
  hold="perl -e 'for (1 .. 4) { if (!fork) { vec(my \$x = q(), 42 << 20, 8) = 1; sleep 15; exit } } 1 while wait > 0; print \"survived\\n\"'"
  for i in 1 2 3; do attack 2 "account_memory_$i" "$hold" & attackers+=($!); done
  attack 3 beside_memory 'echo beside works' & beside=$!
  wait "${attackers[@]}" "$beside"
  survives account_memory
  expect beside_memory 'beside works' "a command of another account runs at the same time"
  cat "$work"/account_memory_[123] >"$work/account_memory"
  expect account_memory "sandbox: terminated: the commands of this account took more than $account_memory_mib MiB of memory together" "the error states the limit of the account"

  # Shares: many busy processes of one account, and few of another.
  spin() { printf 'i=0; while [ $i -lt %d ]; do i=$((i + 1)); perl -e "my \\$t = time + 14; 1 while time < \\$t" & done; wait' "$1"; }
  attack 2 busy_many "$(spin 24)" & many=$!
  attack 3 busy_few "$(spin "$(nproc)")" & few=$!
  both() { compgen -G "$sandbox/*2/*" >/dev/null && compgen -G "$sandbox/*3/*" >/dev/null; }
  usage() { awk '$1 == "usage_usec" { print $2 }' "$sandbox"/*"$1"/cpu.stat; }
  if within 60 both; then
    sleep 3
    a=$(usage 2) b=$(usage 3)
    begun=$SECONDS answers=0
    while ((SECONDS < begun + 6)); do [[ $(status_of /healthz) == 200 ]] && answers=$((answers + 1)); done
    a=$(($(usage 2) - a)) b=$(($(usage 3) - b))
    # With equal shares the ratio is 1; otherwise the first account would get 12 times as much on two CPUs.
    ((a < 2 * b && b < 2 * a)) && ok "shares: $((a / 1000)) ms and $((b / 1000)) ms of CPU time" || fail "shares: $((a / 1000)) ms and $((b / 1000)) ms of CPU time"
    ((answers >= 3)) && ok "shares: the server handles $answers requests at the same time" || fail "shares: the server handles $answers requests at the same time"
  else
    fail "shares: no groups of both accounts"
  fi
  wait "$many" "$few"
  survives shares

  nothing_left() { [[ -z $(find "$sandbox" -mindepth 2 -maxdepth 2 -type d ! -path '*/waiting/*') && -z $(pgrep -f 'bwrap|sandbox-exec' || true) ]]; }
  within 60 nothing_left && ok "no control groups or processes remain" || fail "remaining: $(find "$sandbox" -type d | head -n 5) $(pgrep -af 'bwrap|sandbox-exec' | head -n 3)"
fi

[[ $(show NRestarts) == 0 ]] && ok "the server has not restarted" || fail "the server has restarted $(show NRestarts) times"
printf 'done: %d failures\n' "$failures"
