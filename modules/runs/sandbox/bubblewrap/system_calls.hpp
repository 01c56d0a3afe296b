// What a sandboxed command may not ask of the kernel.
#pragma once
#include <string>

namespace bubblewrap {

// A seccomp program as bwrap reads it from a descriptor (--seccomp), made by libseccomp. It refuses
//  - namespaces of the command's own: in them it could mount memory without a bound, and meet parts of
//    the kernel that are otherwise root's;
//  - memory that belongs to no process (semaphores, message queues, large segments of System V, memfd): the
//    watchdog adds up what processes hold;
//  - memory and descriptors of other processes (ptrace() and the like);
//  - sockets of other families than Unix, IPv4, IPv6 and netlink: not all of them know namespaces;
//  - keys, which are kept by user and outlive the command, and doors to the kernel that tools have no
//    use for.
// Programs find what they find on a kernel built without these. Throws std::system_error if libseccomp fails.
std::string system_call_filter();

}  // namespace bubblewrap
