#pragma once

namespace bubblewrap {

// The memory limit for which a command was terminated: its own, its account's, or that of all commands or the machine.
enum class memory_verdict { none, command, account, node };

}  // namespace bubblewrap
