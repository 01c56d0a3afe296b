#include "system_calls.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bubblewrap {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t machine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t machine = 0;
#endif

constexpr std::uint32_t x32_calls = 0x40000000;
// 4096 segments of this size make the bound of /dev/shm. PostgreSQL asks for a few bytes.
constexpr std::uint32_t max_segment = 64 * 1024;
constexpr std::uint32_t time_namespace = 0x80;  // of unshare(); in the flags of clone() a signal
constexpr std::uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

constexpr int not_permitted[] = {SYS_setns,         SYS_keyctl,          SYS_add_key,
                                 SYS_request_key,   SYS_bpf,             SYS_perf_event_open,
                                 SYS_userfaultfd};
// Callers know what to do without: clone3() hides its flags from a filter, clone() does not.
constexpr int not_there[] = {SYS_clone3,         SYS_memfd_create,  SYS_io_uring_setup,
                             SYS_io_uring_enter, SYS_io_uring_register, 447 /* memfd_secret */};

class writer {
 public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void allow() { add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
  void refuse(int error) { add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)); }
  // Goes past the next `n` instructions unless the loaded value meets `test`.
  void unless(std::uint16_t test, std::uint32_t value, std::uint8_t n) {
    add(static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), value, n);
  }
  std::string text() const {
    return {reinterpret_cast<const char*>(code_.data()), code_.size() * sizeof(sock_filter)};
  }

 private:
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t otherwise = 0) {
    code_.push_back({code, 0, otherwise, value});
  }
  std::vector<sock_filter> code_;
};

constexpr std::size_t low(int argument) {
  return offsetof(seccomp_data, args) + sizeof(std::uint64_t) * static_cast<std::size_t>(argument);
}
constexpr std::size_t high(int argument) { return low(argument) + sizeof(std::uint32_t); }

}  // namespace

std::string system_call_filter() {
  writer w;
  if (machine == 0) {
    w.allow();
    return w.text();
  }
  // Calls of another machine's numbering would pass for others.
  w.load(offsetof(seccomp_data, arch));
  w.unless(BPF_JEQ, machine, 1);
  w.load(offsetof(seccomp_data, nr));
  // Still the machine's name when it was another one, which is larger than any number.
  w.unless(BPF_JGE, x32_calls, 1);
  w.refuse(ENOSYS);
  for (const int call : not_permitted) {
    w.unless(BPF_JEQ, static_cast<std::uint32_t>(call), 1);
    w.refuse(EPERM);
  }
  for (const int call : not_there) {
    w.unless(BPF_JEQ, static_cast<std::uint32_t>(call), 1);
    w.refuse(ENOSYS);
  }
  w.unless(BPF_JEQ, SYS_unshare, 4);
  w.load(low(0));
  w.unless(BPF_JSET, namespaces | time_namespace, 1);
  w.refuse(EPERM);
  w.allow();
  w.unless(BPF_JEQ, SYS_clone, 4);
  w.load(low(0));
  w.unless(BPF_JSET, namespaces, 1);
  w.refuse(EPERM);
  w.allow();
  w.unless(BPF_JEQ, SYS_shmget, 7);
  w.load(high(1));
  w.unless(BPF_JGT, 0, 1);
  w.refuse(EINVAL);
  w.load(low(1));
  w.unless(BPF_JGT, max_segment, 1);
  w.refuse(EINVAL);
  w.allow();
  w.allow();
  return w.text();
}

}  // namespace bubblewrap
