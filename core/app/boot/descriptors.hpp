// The file descriptor limit, and how many of the descriptors client connections may use.
#pragma once

#include <cstddef>

namespace ry::app {

// Raises the soft limit of this process to its hard limit; the usual soft limit is 1024. [main thread]
void raise_descriptor_limit();
// The current soft limit. [any]
std::size_t descriptor_limit();
// Returns `configured`, reduced so that a quarter of the descriptors (at most 4096) stays free for the database,
// outgoing requests, files and agent commands; at least 1. [any]
std::size_t max_client_connections(std::size_t configured, std::size_t descriptors);

}  // namespace ry::app
