// Resolves module dependencies: computes the start order from needs and provides, or error messages that name the unmet
// need and the module that could provide it. Pure; errors are in the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/module/manifest.hpp"

namespace ry::module {

struct graph_node {
  std::string name, file;
  enum class presence { enabled, disabled, refused };  // refused: for its own reasons
  presence present = presence::enabled;
  std::vector<need_fact> needs;
  std::vector<std::string> provides;
};

// The host's interfaces with the size of their tables; the host's extension points with size 0 (any).
using host_offer = std::map<std::string, std::uint32_t>;

struct graph_refusal {
  std::size_t node;
  std::string message;
  bool follows = false;  // a consequence of a provider's refusal
};

struct graph_result {
  std::vector<std::size_t> order;  // enabled nodes that are not in `order`, each once
  std::vector<graph_refusal> refused;  // each enabled node that is not in `order`, once
  std::vector<std::string> notes;  // informational, for the log
  // For each node in `order`: the nodes that satisfy its required needs.
  std::map<std::size_t, std::vector<std::size_t>> required;
};

graph_result resolve(const std::vector<graph_node>& nodes, const host_offer& host);

}  // namespace ry::module
