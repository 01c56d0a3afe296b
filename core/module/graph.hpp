// Who needs whom: order of start from needs and provides, or sentences that say who needs what and
// who could provide it. Pure; errors are in the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/module/facts.hpp"

namespace ry::module {

struct graph_node {
  std::string name, file;
  enum class presence { enabled, disabled, refused };  // refused: for reasons of its own
  presence present = presence::enabled;
  std::vector<need_fact> needs;
  std::vector<std::string> provides;
};

// Interfaces of the host with the size of their tables; points of the host with size 0 (any).
using host_offer = std::map<std::string, std::uint32_t>;

struct graph_refusal {
  std::size_t node;
  std::string message;
  bool follows = false;  // only because a provider was refused before
};

struct graph_result {
  std::vector<std::size_t> order;      // indices of what can start, providers before users
  std::vector<graph_refusal> refused;  // each enabled node that is not in `order`, once
  std::vector<std::string> notes;      // nothing wrong, worth a line in the log
  // For each node in `order`: the nodes it cannot be without (by its needs that are not optional).
  std::map<std::size_t, std::vector<std::size_t>> required;
};

graph_result resolve(const std::vector<graph_node>& nodes, const host_offer& host);

}  // namespace ry::module
