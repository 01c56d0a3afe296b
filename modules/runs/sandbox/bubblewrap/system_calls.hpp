// The system call filter for sandboxed commands.
#pragma once
#include <string>

namespace bubblewrap {

// A seccomp program in the format that bwrap reads from a descriptor (--seccomp), built with libseccomp. It refuses
//  - new namespaces, in which a command could mount memory file systems without a size limit and reach parts of the
//    kernel that otherwise only root can use;
//  - memory that does not belong to a process (semaphores, message queues, large segments of System V, memfd), which
//    the watchdog cannot measure;
//  - memory and descriptors of other processes (ptrace() and the like);
//  - sockets of other families than Unix, IPv4, IPv6 and netlink, because some families ignore network namespaces;
//  - allocation of disk space without writing it (fallocate), which could take gigabytes between two checks of the free
//    space; programs write instead, as posix_fallocate() does;
//  - kernel keys, which belong to the user and outlive the command, and interfaces of the kernel that common tools do
//    not use.
// Programs get the same errors as from a kernel without these features. Throws std::system_error if libseccomp fails.
std::string system_call_filter();

}  // namespace bubblewrap
