// The limit of file descriptors, and how many descriptors client connections may use.
#pragma once

#include <cstddef>

namespace ry::app {

// Raises the soft limit of this process to its hard limit; the usual soft limit is 1024. [main thread]
void raise_descriptor_limit();
// The current soft limit. [any]
std::size_t descriptor_limit();
// `configured`, or fewer connections: a quarter of the descriptors, at most 4096, is reserved for the database,
// outgoing requests, files and the commands of agents. At least 1. [any]
std::size_t max_client_connections(std::size_t configured, std::size_t descriptors);

}  // namespace ry::app
