#pragma once

namespace bubblewrap {

// The limit on memory that ended a command: its own, the account's, or that of all commands or of the machine.
enum class memory_end { none, command, account, node };

}  // namespace bubblewrap
