#include "diagnosis.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "surroundings.hpp"

namespace bubblewrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char bwrap[] = "/usr/bin/bwrap";
// Messages as bubblewrap has them in its sources.
constexpr char loopback[] = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted";
constexpr char uid_map[] = "bwrap: setting up uid map: Permission denied";
constexpr char proc[] = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted";
constexpr char no_permission_0_8[] =
    "bwrap: No permissions to creating new namespace, likely because the kernel does not allow "
    "non-privileged user "
    "namespaces. On e.g. debian this can be enabled with 'sysctl "
    "kernel.unprivileged_userns_clone=1'.";
constexpr char no_permission[] =
    "bwrap: No permissions to create a new namespace, likely because the kernel does not allow "
    "non-privileged user "
    "namespaces. On e.g. debian this can be enabled with 'sysctl "
    "kernel.unprivileged_userns_clone=1'.";
constexpr char refused[] = "bwrap: Creating new namespace failed: Operation not permitted";
constexpr char no_space[] =
    "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces "
    "exceeded (ENOSPC)";

struct row {
  std::string name;
  std::string said;
  std::function<void(surroundings&)> here;
  std::string cause;
  std::vector<std::string> fix;  // all of these
};

const std::vector<row> rows = {
    {"AppArmor, Ubuntu 24.04",
     loopback,
     [](auto& s) { s.apparmor_restricts = 1; },
     "kernel.apparmor_restrict_unprivileged_userns = 1",
     {"Load an AppArmor profile for /usr/bin/bwrap with the rule \"userns,\"",
      "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"}},
    {"AppArmor, with the network",
     uid_map,
     [](auto& s) { s.apparmor_restricts = 1; },
     "AppArmor blocks",
     {"userns,"}},
    {"AppArmor without its profile unprivileged_userns",
     no_permission,
     [](auto& s) { s.apparmor_restricts = 1; },
     "AppArmor blocks",
     {"userns,"}},
    {"AppArmor, mounts",
     "bwrap: Failed to make / slave: Permission denied",
     [](auto& s) { s.apparmor_restricts = 1; },
     "AppArmor blocks",
     {"userns,"}},
    {"AppArmor, its setting cannot be read",
     uid_map,
     [](auto&) {},
     "AppArmor seems to block",
     {"userns,"}},
    {"AppArmor around a container",
     loopback,
     [](auto& s) {
       s.apparmor_restricts = 1;
       s.in = container::docker;
     },
     "AppArmor blocks",
     {"On the host, load"}},
    {"AppArmor is not it",
     loopback,
     [](auto& s) {
       s.apparmor_restricts = 0;
       s.in = container::docker;
     },
     "seccomp profile",
     {"seccomp=unconfined"}},
    {"masked /proc, Docker",
     proc,
     [](auto& s) { s.in = container::docker; },
     "parts of /proc are masked",
     {"Start the container with --security-opt systempaths=unconfined"}},
    {"masked /proc, Podman",
     proc,
     [](auto& s) { s.in = container::podman; },
     "parts of /proc are masked",
     {"Start the container with --security-opt unmask=ALL"}},
    {"masked /proc, Kubernetes",
     proc,
     [](auto& s) { s.in = container::kubernetes; },
     "parts of /proc are masked",
     {"procMount: Unmasked", "hostUsers: false"}},
    {"masked /proc, somewhere",
     proc,
     [](auto& s) { s.in = container::other; },
     "parts of /proc are masked",
     {"systempaths=unconfined", "unmask=ALL", "procMount: Unmasked"}},
    {"masked /proc, a unit",
     proc,
     [](auto& s) { s.proc_is_masked = true; },
     "parts of /proc are masked",
     {"ProtectKernelTunables="}},
    {"read-only /proc/sys",
     "bwrap: cannot open /proc/sys/user/max_user_namespaces: Read-only file system",
     [](auto& s) { s.in = container::podman; },
     "masked or read-only",
     {"unmask=ALL"}},
    {"switched off, Debian",
     no_permission_0_8,
     [](auto& s) { s.userns_clone = 0; },
     "kernel.unprivileged_userns_clone = 0",
     {"sysctl -w kernel.unprivileged_userns_clone=1"}},
    {"switched off, by number",
     no_space,
     [](auto& s) { s.max_user_namespaces = 0; },
     "user.max_user_namespaces = 0",
     {"sysctl -w user.max_user_namespaces="}},
    {"too many",
     no_space,
     [](auto& s) { s.max_user_namespaces = 1; },
     "too many namespaces",
     {"sysctl"}},
    {"seccomp of Docker",
     no_permission,
     [](auto& s) {
       s.in = container::docker;
       s.is_filtered = true;
     },
     "seccomp profile",
     {"--security-opt seccomp=unconfined", "--security-opt systempaths=unconfined"}},
    {"seccomp of Kubernetes",
     no_permission_0_8,
     [](auto& s) { s.in = container::kubernetes; },
     "seccomp profile",
     {"seccompProfile: {type: Unconfined}"}},
    {"a unit with RestrictNamespaces=",
     no_permission,
     [](auto& s) { s.is_filtered = true; },
     "filter of system calls",
     {"RestrictNamespaces="}},
    {"for no known reason", no_permission, [](auto&) {}, "no namespaces", {"journalctl -k"}},
    {"a kernel without them",
     "bwrap: Creating new namespace failed, likely because the kernel does not support user "
     "namespaces.  bwrap must be "
     "installed setuid on such systems.",
     [](auto&) {},
     "no user namespaces",
     {"CONFIG_USER_NS"}},
    {"a kernel without filters",
     "bwrap: Unable to set up system call filtering as requested: prctl(PR_SET_SECCOMP) reported "
     "EINVAL. (Hint: this "
     "requires a kernel configured with CONFIG_SECCOMP and CONFIG_SECCOMP_FILTER.)",
     [](auto&) {},
     "filters of system calls",
     {"CONFIG_SECCOMP_FILTER"}},
    {"not installed",
     "sh: 1: exec: /usr/bin/bwrap: not found",
     [](auto& s) { s.bwrap_exists = false; },
     "is not there",
     {"package bubblewrap", "sandbox_bubblewrap.bwrap_path"}},
    {"not executable",
     "sh: 1: exec: /usr/bin/bwrap: Permission denied",
     [](auto& s) { s.bwrap_may_run = false; },
     "may not execute",
     {"chmod 755"}},
    {"too old",
     "bwrap: Unknown option --disable-userns",
     [](auto&) {},
     "older than 0.8",
     {"0.8 or later"}},
    {"set-user-ID",
     "bwrap: The --size option is not permitted in setuid mode",
     [](auto&) {},
     "set-user-ID",
     {"dpkg-statoverride --update --add root root 0755"}},
    {"seccomp of Docker on Ubuntu",
     no_permission,
     [](auto& s) {
       s.in = container::docker;
       s.apparmor_restricts = 1;
     },
     "seccomp profile",
     {"seccomp=unconfined", "AppArmor of the host"}},
    {"handed capabilities",
     "bwrap: Unexpected capabilities but not setuid, old file caps config?",
     [](auto&) {},
     "with capabilities",
     {"AmbientCapabilities="}},
    {"no util-linux",
     "bwrap: execvp /usr/bin/prlimit: No such file or directory",
     [](auto&) {},
     "not there",
     {"util-linux"}},
    {"ProtectHostname=",
     "bwrap: Can't set hostname to sandbox: Operation not permitted",
     [](auto&) {},
     "host name",
     {"ProtectHostname="}},
    {"mounts of a container",
     "bwrap: Failed to make / slave: Permission denied",
     [](auto& s) { s.in = container::docker; },
     "forbids to mount",
     {"apparmor=unconfined", "label=disable"}},
    {"root without capabilities",
     refused,
     [](auto& s) {
       s.is_root = true;
       s.missing_capabilities = {"CAP_SYS_ADMIN"};
     },
     "as root, but without CAP_SYS_ADMIN",
     {"Start it as an ordinary user"}},
    {"root in a container",
     refused,
     [](auto& s) {
       s.is_root = true;
       s.missing_capabilities = {"CAP_SYS_ADMIN", "CAP_NET_ADMIN"};
       s.in = container::docker;
     },
     "without CAP_SYS_ADMIN, CAP_NET_ADMIN",
     {"seccomp=unconfined", "systempaths=unconfined", "--user"}},
    {"root below the profile of Ubuntu 25.04",
     "setpriv: setresuid failed: Operation not permitted",
     [](auto& s) {
       s.is_root = true;
       s.apparmor_restricts = 1;
     },
     "may not change to another user",
     {"ordinary user"}},
};

TEST(diagnosis, names_cause_and_fix) {
  for (const row& r : rows) {
    surroundings here;
    r.here(here);
    const diagnosis found = diagnose(r.said, here, bwrap);
    EXPECT_THAT(found.cause, HasSubstr(r.cause)) << r.name;
    for (const auto& part : r.fix) EXPECT_THAT(found.fix, HasSubstr(part)) << r.name;
    EXPECT_FALSE(found.fix.empty()) << r.name;
    EXPECT_NE(found.fix.back(), '.') << r.name;
    const std::string text = sentence(found, r.said);
    EXPECT_THAT(text, HasSubstr(r.said)) << r.name;
    EXPECT_LT(text.size(), 800u) << r.name << ": " << text;
  }
}

// An ordinary user is blocked as well in these.
TEST(diagnosis, root_is_not_sent_to_an_ordinary_user_who_is_blocked) {
  for (const auto& block : std::vector<std::function<void(surroundings&)>>{
           [](auto& s) { s.apparmor_restricts = 1; }, [](auto& s) { s.userns_clone = 0; },
           [](auto& s) { s.max_user_namespaces = 0; }, [](auto& s) { s.is_filtered = true; }}) {
    surroundings here;
    here.is_root = true;
    here.missing_capabilities = {"CAP_SYS_ADMIN"};
    block(here);
    EXPECT_THAT(diagnose(refused, here, bwrap).fix, Not(HasSubstr("ordinary user")));
  }
  surroundings root;
  root.is_root = true;
  for (const char* said : {loopback, uid_map, proc, no_permission})
    EXPECT_THAT(diagnose(said, root, bwrap).fix, Not(HasSubstr("ordinary user"))) << said;
}

TEST(diagnosis, what_is_not_known_is_handed_on) {
  const diagnosis found = diagnose("bwrap: something new", {}, bwrap);
  EXPECT_THAT(found.cause, IsEmpty());
  EXPECT_EQ(sentence(found, "bwrap: something\nnew"),
            "bubblewrap does not work here, so agents cannot run commands: bwrap: something new");
  EXPECT_LT(sentence({}, std::string(10000, 'x')).size(), 500u);
}

TEST(surroundings, reads_what_the_kernel_wrote) {
  EXPECT_THAT(missing_capabilities("Name:\tx\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n"),
              ElementsAre("CAP_SYS_ADMIN", "CAP_NET_ADMIN"));
  EXPECT_THAT(missing_capabilities("CapEff:\t000001ffffffffff\n"), IsEmpty());
  EXPECT_THAT(missing_capabilities(""), IsEmpty());
  EXPECT_TRUE(is_filtered("Seccomp:\t2\nSeccomp_filters:\t1\n"));
  EXPECT_FALSE(is_filtered("Seccomp:\t0\nSeccomp_filters:\t2\n"));
  EXPECT_TRUE(masks_proc(
      "22 1 0:5 / /proc rw - proc proc rw\n30 22 0:6 /null /proc/keys rw - devtmpfs d rw\n"));
  EXPECT_FALSE(
      masks_proc("22 1 0:5 / /proc rw - proc proc rw\n30 22 0:7 / /proc/sys/fs/binfmt_misc rw - "
                 "autofs s rw\n"));
}

TEST(surroundings, tells_whether_bwrap_is_there) {
  EXPECT_FALSE(read_surroundings("/nonexistent/bwrap").bwrap_exists);
  EXPECT_TRUE(read_surroundings("/bin/sh").bwrap_may_run);
}

}  // namespace
}  // namespace bubblewrap
