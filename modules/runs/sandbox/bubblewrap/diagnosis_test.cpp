#include "diagnosis.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "system_info.hpp"

namespace bubblewrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char bwrap[] = "/usr/bin/bwrap";
// Messages from the sources of bubblewrap.
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
  std::string output;
  std::function<void(system_info&)> system;
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
    {"AppArmor, with the network", uid_map, [](auto& s) { s.apparmor_restricts = 1; }, "AppArmor blocks", {"userns,"}},
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
    {"AppArmor, its setting cannot be read", uid_map, [](auto&) {}, "AppArmor seems to block", {"userns,"}},
    {"no AppArmor restriction in the kernel, Debian",
     uid_map,
     [](auto& s) { s.apparmor_restricts = 0; },
     "denies new namespaces",
     {"journalctl -k"}},
    {"AppArmor around a container",
     loopback,
     [](auto& s) {
       s.apparmor_restricts = 1;
       s.in = container::docker;
     },
     "AppArmor blocks",
     {"On the host, load"}},
    {"AppArmor does not restrict",
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
    {"masked /proc, unknown container",
     proc,
     [](auto& s) { s.in = container::other; },
     "parts of /proc are masked",
     {"systempaths=unconfined", "unmask=ALL", "procMount: Unmasked"}},
    {"masked /proc, systemd unit", proc, [](auto&) {}, "parts of /proc are masked", {"ProtectKernelTunables="}},
    {"read-only /proc/sys",
     "bwrap: cannot open /proc/sys/user/max_user_namespaces: Read-only file system",
     [](auto& s) { s.in = container::podman; },
     "masked or read-only",
     {"unmask=ALL"}},
    {"disabled, Debian",
     no_permission_0_8,
     [](auto& s) { s.userns_clone = 0; },
     "kernel.unprivileged_userns_clone = 0",
     {"sysctl -w kernel.unprivileged_userns_clone=1"}},
    {"disabled by a limit of 0",
     no_space,
     [](auto& s) { s.max_user_namespaces = 0; },
     "user.max_user_namespaces = 0",
     {"sysctl -w user.max_user_namespaces="}},
    {"too many namespaces", no_space, [](auto& s) { s.max_user_namespaces = 1; }, "limit on the number", {"sysctl"}},
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
     "system call filter",
     {"RestrictNamespaces="}},
    {"unknown reason", no_permission, [](auto&) {}, "denies new namespaces", {"journalctl -k"}},
    {"a kernel without user namespaces",
     "bwrap: Creating new namespace failed, likely because the kernel does not support user "
     "namespaces.  bwrap must be "
     "installed setuid on such systems.",
     [](auto&) {},
     "not support user namespaces",
     {"CONFIG_USER_NS"}},
    {"a kernel without filters",
     "bwrap: Unable to set up system call filtering as requested: prctl(PR_SET_SECCOMP) reported "
     "EINVAL. (Hint: this "
     "requires a kernel configured with CONFIG_SECCOMP and CONFIG_SECCOMP_FILTER.)",
     [](auto&) {},
     "system call filters",
     {"CONFIG_SECCOMP_FILTER"}},
    {"not installed",
     "sh: 1: exec: /usr/bin/bwrap: not found",
     [](auto& s) { s.bwrap_exists = false; },
     "does not exist",
     {"package bubblewrap", "sandbox_bubblewrap.bwrap_path"}},
    {"not executable",
     "sh: 1: exec: /usr/bin/bwrap: Permission denied",
     [](auto& s) { s.bwrap_may_run = false; },
     "no permission to execute",
     {"chmod 755"}},
    {"too old", "bwrap: Unknown option --disable-userns", [](auto&) {}, "older than 0.8", {"0.8 or later"}},
    {"set-user-ID",
     "bwrap: The --size option is not permitted in setuid mode",
     [](auto&) {},
     "set-user-ID",
     {"dpkg-statoverride --force-statoverride-add --update --add root root 0755"}},
    {"seccomp of Docker on Ubuntu",
     no_permission,
     [](auto& s) {
       s.in = container::docker;
       s.apparmor_restricts = 1;
     },
     "seccomp profile",
     {"seccomp=unconfined", "host's AppArmor"}},
    {"started with capabilities",
     "bwrap: Unexpected capabilities but not setuid, old file caps config?",
     [](auto&) {},
     "with capabilities",
     {"AmbientCapabilities="}},
    {"runyard-sandbox-exec is not executable in the sandbox",
     "bwrap: execvp /.sandbox-exec: Permission denied",
     [](auto&) {},
     "runyard-sandbox-exec is missing",
     {"sandbox_bubblewrap.exec_path", "chmod 755"}},
    {"no runyard-sandbox-exec",
     "no such program: /usr/bin/runyard-sandbox-exec",
     [](auto&) {},
     "runyard-sandbox-exec is missing",
     {"next to the server's program"}},
    {"ProtectHostname=",
     "bwrap: Can't set hostname to sandbox: Operation not permitted",
     [](auto&) {},
     "host name",
     {"ProtectHostname="}},
    {"mounts of a container",
     "bwrap: Failed to make / slave: Permission denied",
     [](auto& s) { s.in = container::docker; },
     "denies mounts",
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
     "runyard-sandbox-exec: setresuid: Operation not permitted",
     [](auto& s) {
       s.is_root = true;
       s.apparmor_restricts = 1;
     },
     "cannot switch to another user",
     {"ordinary user"}},
};

TEST(diagnosis, names_cause_and_fix) {
  for (const row& r : rows) {
    system_info system;
    r.system(system);
    const diagnosis found = diagnose(r.output, system, bwrap);
    EXPECT_THAT(found.cause, HasSubstr(r.cause)) << r.name;
    for (const auto& part : r.fix) EXPECT_THAT(found.fix, HasSubstr(part)) << r.name;
    EXPECT_FALSE(found.fix.empty()) << r.name;
    EXPECT_NE(found.fix.back(), '.') << r.name;
    const std::string text = message_of(found, r.output);
    EXPECT_THAT(text, HasSubstr(r.output)) << r.name;
    EXPECT_LT(text.size(), 800u) << r.name << ": " << text;
  }
}

// The container also blocks namespaces of ordinary users.
TEST(diagnosis, root_is_not_advised_to_use_an_ordinary_user_that_is_blocked_too) {
  for (const auto& block : std::vector<std::function<void(system_info&)>>{
           [](auto& s) { s.apparmor_restricts = 1; }, [](auto& s) { s.userns_clone = 0; },
           [](auto& s) { s.max_user_namespaces = 0; }, [](auto& s) { s.is_filtered = true; }}) {
    system_info system;
    system.is_root = true;
    system.missing_capabilities = {"CAP_SYS_ADMIN"};
    block(system);
    EXPECT_THAT(diagnose(refused, system, bwrap).fix, Not(HasSubstr("ordinary user")));
  }
  system_info root;
  root.is_root = true;
  for (const char* output : {loopback, uid_map, proc, no_permission})
    EXPECT_THAT(diagnose(output, root, bwrap).fix, Not(HasSubstr("ordinary user"))) << output;
}

TEST(diagnosis, unknown_errors_are_quoted) {
  const diagnosis found = diagnose("bwrap: something new", {}, bwrap);
  EXPECT_THAT(found.cause, IsEmpty());
  EXPECT_EQ(message_of(found, "bwrap: something\nnew"),
            "bubblewrap does not work here, so agents cannot run commands: unknown cause; see "
            "\"Where the sandbox cannot work\" in docs/security.md. Output of bubblewrap: bwrap: "
            "something new");
  EXPECT_LT(message_of({}, std::string(10000, 'x')).size(), 500u);
}

TEST(diagnosis, a_timeout_is_reported_with_its_limit) {
  const diagnosis found = diagnose_timeout(std::chrono::seconds(10), bwrap);
  EXPECT_THAT(found.cause, HasSubstr("did not exit within 10 s"));
  EXPECT_THAT(found.fix, HasSubstr(bwrap));
  EXPECT_THAT(message_of(found, "nothing (terminated after 10 s)"), Not(HasSubstr("unknown cause")));
}

TEST(diagnosis, a_missing_marker_names_both_programs) {
  const diagnosis found = diagnose_missing_marker(bwrap, "/bin/true");
  EXPECT_THAT(found.cause, HasSubstr("without the expected output"));
  EXPECT_THAT(found.fix, HasSubstr("sandbox_bubblewrap.exec_path (/bin/true) is runyard-sandbox-exec"));
  EXPECT_THAT(found.fix, HasSubstr("sandbox_bubblewrap.bwrap_path (/usr/bin/bwrap) is bubblewrap"));
}

// Other steps of runyard-sandbox-exec fail for other reasons.
TEST(diagnosis, only_a_failed_switch_of_the_user_is_diagnosed_as_such) {
  system_info root;
  root.is_root = true;
  for (const char* step : {"capabilities", "setgroups", "setresgid", "setresuid", "capset"})
    EXPECT_THAT(diagnose("runyard-sandbox-exec: " + std::string(step) + ": Operation not permitted", root, bwrap).cause,
                HasSubstr("cannot switch to another user"))
        << step;
  for (const char* other : {"setrlimit: Operation not permitted", "/workspace: Permission denied", "unknown option",
                            "the list of system calls: No such file or directory", "no_new_privs: Invalid argument"})
    EXPECT_THAT(diagnose("runyard-sandbox-exec: " + std::string(other), root, bwrap).cause, IsEmpty()) << other;
}

TEST(diagnosis, output_is_truncated_between_characters) {
  EXPECT_EQ(truncate_utf8("abc", 3), "abc");
  EXPECT_EQ(truncate_utf8("abcd", 3), "abc");
  EXPECT_EQ(truncate_utf8("ab\xc3\xa4", 4), "ab\xc3\xa4");
  EXPECT_EQ(truncate_utf8("ab\xc3\xa4", 3), "ab");
  EXPECT_EQ(truncate_utf8("a\xf0\x9f\x98\x80z", 4), "a");
  EXPECT_EQ(truncate_utf8("\x80\x80\x80", 2), "");
  std::string output(299, 'x');
  EXPECT_THAT(message_of({}, output + "\xc3\xa4"), testing::EndsWith(output));
}

TEST(diagnosis, a_workspace_error_does_not_mention_bubblewrap) {
  EXPECT_THAT(
      workspace_message("the workspace: No space left on device"),
      testing::AllOf(HasSubstr("(the workspace: No space left on device)"), Not(HasSubstr("install bubblewrap"))));
}

TEST(system_info, an_absent_apparmor_setting_restricts_nothing) {
  const std::string directory = testing::TempDir() + "ry_sysctl_" + std::to_string(::getpid());
  std::filesystem::create_directories(directory);
  EXPECT_EQ(apparmor_restriction(directory), std::nullopt);
  std::ofstream(directory + "/osrelease") << "6.1.0-18-amd64\n";
  EXPECT_EQ(apparmor_restriction(directory), std::uint64_t{0});
  std::ofstream(directory + "/apparmor_restrict_unprivileged_userns") << "1\n";
  EXPECT_EQ(apparmor_restriction(directory), std::uint64_t{1});
  std::filesystem::remove_all(directory);
}

TEST(system_info, reads_capabilities_and_filters_from_proc_status) {
  EXPECT_THAT(missing_capabilities("Name:\tx\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n"),
              ElementsAre("CAP_SYS_ADMIN", "CAP_NET_ADMIN"));
  EXPECT_THAT(missing_capabilities("CapEff:\t000001ffffffffff\n"), IsEmpty());
  EXPECT_THAT(missing_capabilities(""), IsEmpty());
  EXPECT_TRUE(is_filtered("Seccomp:\t2\nSeccomp_filters:\t1\n"));
  EXPECT_FALSE(is_filtered("Seccomp:\t0\nSeccomp_filters:\t2\n"));
}

TEST(system_info, reports_whether_bwrap_exists) {
  EXPECT_FALSE(read_system_info("/nonexistent/bwrap").bwrap_exists);
  EXPECT_TRUE(read_system_info("/bin/sh").bwrap_may_run);
}

}  // namespace
}  // namespace bubblewrap
