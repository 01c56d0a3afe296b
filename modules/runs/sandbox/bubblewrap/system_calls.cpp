#include "system_calls.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "without_protection.hpp"
#include "workspace.hpp"

namespace bubblewrap {
namespace {

// 4096 segments of this size are as large as /dev/shm. PostgreSQL needs a segment of a few bytes.
constexpr std::uint64_t max_segment = 64 * 1024;
constexpr std::uint64_t time_namespace = 0x80;  // only for unshare(): in the flags of clone() it is part of the signal
constexpr std::initializer_list<std::uint64_t> namespaces = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                                             CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};

constexpr std::initializer_list<int> forbidden = {
    SYS_setns, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
    // Access to the memory and descriptors of other processes.
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, 438 /* pidfd_getfd */};
// Programs have a fallback for these. A filter can examine the flags of clone(), but not those of clone3(). Semaphores
// and message queues of System V are kernel memory that does not belong to a process, up to 64 GB per namespace.
constexpr std::initializer_list<int> unimplemented = {
    SYS_clone3, SYS_memfd_create, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, 447 /* memfd_secret */,
    SYS_semget, SYS_msgget};

constexpr std::initializer_list<int> socket_families = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
constexpr int last_socket_family = AF_NETLINK;

// Requests of ioctl() that allocate blocks without writing them, or that make a small write allocate many blocks:
// FS_IOC_RESVSP, FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE, XFS_IOC_ALLOCSP, XFS_IOC_ALLOCSP64, and FS_IOC_FSSETXATTR, which
// sets the extent size. No header of the C library defines all of them.
constexpr std::uint64_t request_bits = 0xffffffff;  // the kernel ignores the upper half of the argument
constexpr std::initializer_list<std::uint64_t> allocations = {0x40305828, 0x4030582a, 0x40305839,
                                                              0x4030580a, 0x40305824, 0x401c5820};

class filter {
 public:
  filter() : context_(::seccomp_init(SCMP_ACT_ALLOW), &::seccomp_release) {
    if (!context_) throw std::bad_alloc();
    // The filter's numbers mean other calls on other architectures, including x32.
    check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)));
    // bwrap sets no_new_privs by itself.
    check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_NNP, 0));
    // A binary tree, which needs few steps for allowed calls; these are nearly all calls.
    check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  }

  void refuse(int call, int error) {
    check(::seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(error_bits(error)), call, 0, nullptr));
  }
  void refuse_if(int call, int error, scmp_arg_cmp test) {
    check(::seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(error_bits(error)), call, 1, &test));
  }

  std::string text() const {
    const unique_fd file(::memfd_create("system_calls", MFD_CLOEXEC));
    if (!file) throw std::system_error(errno, std::generic_category(), "memfd_create");
    check(::seccomp_export_bpf(context_.get(), file.get()));
    std::string out(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
    if (::pread(file.get(), out.data(), out.size(), 0) != static_cast<ssize_t>(out.size()))
      throw std::runtime_error("the filter of system calls cannot be read back");
    return out;
  }

 private:
  static std::uint16_t error_bits(int error) { return static_cast<std::uint16_t>(error); }
  static void check(int result) {
    if (result < 0) throw std::system_error(-result, std::generic_category(), "libseccomp");
  }
  std::unique_ptr<void, decltype(&::seccomp_release)> context_;
};

scmp_arg_cmp argument(unsigned index, scmp_compare how, std::uint64_t a, std::uint64_t b = 0) {
  return {index, how, a, b};
}

}  // namespace

std::string system_call_filter() {
  filter f;
  if (ry_test::without_protection("system_calls")) return f.text();
  for (const int call : forbidden) f.refuse(call, EPERM);
  for (const int call : unimplemented) f.refuse(call, ENOSYS);
  for (const std::uint64_t flag : namespaces) {
    f.refuse_if(SYS_unshare, EPERM, argument(0, SCMP_CMP_MASKED_EQ, flag, flag));
    f.refuse_if(SYS_clone, EPERM, argument(0, SCMP_CMP_MASKED_EQ, flag, flag));
  }
  f.refuse_if(SYS_unshare, EPERM, argument(0, SCMP_CMP_MASKED_EQ, time_namespace, time_namespace));
  // Punching holes is allowed, because it only frees space.
  f.refuse_if(SYS_fallocate, EOPNOTSUPP, argument(1, SCMP_CMP_MASKED_EQ, FALLOC_FL_PUNCH_HOLE, 0));
  for (const std::uint64_t request : allocations)
    f.refuse_if(SYS_ioctl, EOPNOTSUPP, argument(1, SCMP_CMP_MASKED_EQ, request_bits, request));
  f.refuse_if(SYS_shmget, EINVAL, argument(1, SCMP_CMP_GT, max_segment));
  for (const int call : {static_cast<int>(SYS_socket), static_cast<int>(SYS_socketpair)}) {
    // The kernel uses only the lower half of the argument. Bits in the upper half make the number larger, so such calls
    // are also refused.
    f.refuse_if(call, EAFNOSUPPORT, argument(0, SCMP_CMP_GT, last_socket_family));
    for (int family = 0; family < last_socket_family; ++family) {
      bool allowed = false;
      for (const int each : socket_families) allowed = allowed || each == family;
      if (!allowed) f.refuse_if(call, EAFNOSUPPORT, argument(0, SCMP_CMP_EQ, static_cast<std::uint64_t>(family)));
    }
  }
  return f.text();
}

}  // namespace bubblewrap
