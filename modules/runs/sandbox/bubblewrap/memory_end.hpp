#pragma once

namespace bubblewrap {

// The memory limit that ended a command: its own, the account's, or that of all commands or of the machine.
enum class memory_end { none, command, account, node };

}  // namespace bubblewrap
