// File descriptors of the process, and how many of them connections may take.
#pragma once

#include <cstddef>

namespace ry::app {

// Raises the soft limit of this process to its hard one: shells start programs with 1024. [main thread]
void raise_descriptor_limit();
// The soft limit as it is now. [any]
std::size_t descriptor_limit();
// The database, outgoing requests, files and commands of agents need descriptors beside the connections: a
// quarter is kept for them, and never more than 4096. At least 1.
std::size_t connections_within(std::size_t configured, std::size_t descriptors);

}  // namespace ry::app
