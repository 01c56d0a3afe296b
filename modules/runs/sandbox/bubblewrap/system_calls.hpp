// What a sandboxed command may not ask of the kernel.
#pragma once
#include <string>

namespace bubblewrap {

// A seccomp program as bwrap reads it from a descriptor (--seccomp). It refuses
//  - namespaces of the command's own: in them it could mount memory without a bound, and meet parts of
//    the kernel that are otherwise root's;
//  - memory that belongs to no process: the watchdog adds up what processes hold;
//  - keys, which are kept by user and outlive the command, and doors to the kernel that tools have no
//    use for.
// Programs find what they find on a kernel built without these. On machines other than x86-64 and
// 64-bit ARM everything is allowed.
std::string system_call_filter();

}  // namespace bubblewrap
