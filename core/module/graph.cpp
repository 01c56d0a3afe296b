#include "core/module/graph.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "core/module/describe_text.hpp"
#include "core/module/text.hpp"

namespace ry::module {

namespace {

std::string_view stem(std::string_view id) {
  return id.substr(0, id.find('/'));
}

class resolver {
 public:
  resolver(const std::vector<graph_node>& nodes, const host_offer& host)
      : nodes_(nodes), host_(host), alive_(nodes.size()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) alive_[i] = nodes[i].present == graph_node::presence::enabled;
  }

  graph_result run() {
    refuse_clashes();
    refuse_missing();
    refuse_cycles();
    refuse_missing();  // modules that need a member of a cycle
    sort();
    for (const std::size_t i : out_.order) out_.required[i] = required(i);
    return std::move(out_);
  }

 private:
  struct complaint {
    std::string message;
    bool follows = false;
  };

  void refuse(std::size_t i, std::string message) { refuse(i, complaint{std::move(message)}); }
  void refuse(std::size_t i, complaint why) {
    alive_[i] = false;
    out_.refused.push_back({i, std::move(why.message), why.follows});
  }

  bool provides(std::size_t i, const std::string& id) const {
    const auto& p = nodes_[i].provides;
    return std::find(p.begin(), p.end(), id) != p.end();
  }

  std::optional<std::size_t> provider(const std::string& id) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (alive_[i] && provides(i, id)) return i;
    return std::nullopt;
  }

  // Refuses duplicate names, duplicate providers of an id, and modules that claim an id of the host.
  void refuse_clashes() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!alive_[i]) continue;
      for (std::size_t k = 0; k < i && alive_[i]; ++k) {
        if (!alive_[k]) continue;
        if (nodes_[k].name == nodes_[i].name) {
          refuse(i, quoted_module(nodes_[i].name) + " is present twice, in " + nodes_[k].file + " and in " +
                        nodes_[i].file + "; remove one of the files.");
          break;
        }
        for (const auto& id : nodes_[i].provides)
          if (provides(k, id)) {
            refuse(i, quoted_module(nodes_[i].name) + " and " + quoted_module(nodes_[k].name) + " both provide " + id +
                          "; disable one of them.");
            break;
          }
      }
      if (!alive_[i]) continue;
      for (const auto& id : nodes_[i].provides)
        if (host_.contains(id) || id.starts_with("ry.")) {
          refuse(i, quoted_module(nodes_[i].name) + " provides " + id +
                        ", but names that begin with \"ry.\" are the host's own.");
          break;
        }
    }
  }

  // Returns the reason if `need` of node i is not met.
  std::optional<complaint> unmet(std::size_t i, const need_fact& need) const {
    const std::string who = quoted_module(nodes_[i].name) + " needs " + need.id;
    if (const auto it = host_.find(need.id); it != host_.end()) {
      if (it->second == 0 || need.min_size <= it->second) return std::nullopt;
      return complaint{who + " of at least " + std::to_string(need.min_size) + " bytes; this host's has " +
                       std::to_string(it->second) +
                       ". Upgrade the host or rebuild the module with a lower RY_ABI_MINOR."};
    }
    if (provider(need.id)) return std::nullopt;
    if (need.id.starts_with("ry.")) return complaint{who + ", which this host does not have. Upgrade the host."};
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (!provides(k, need.id)) continue;
      if (nodes_[k].present == graph_node::presence::disabled)
        return complaint{who + ", which " + quoted_module(nodes_[k].name) +
                         " provides, but it is disabled; set modules." + nodes_[k].name + ".enabled = true."};
      return complaint{who + ", which " + quoted_module(nodes_[k].name) + " would provide, but it is refused.", true};
    }
    for (const auto& other : nodes_)
      for (const auto& id : other.provides)
        if (stem(id) == stem(need.id))
          return complaint{who + ", but " + quoted_module(other.name) + " provides " + id +
                           ". Use compatible versions of the two modules."};
    return complaint{who + ", which no available module provides."};
  }

  void refuse_missing() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!alive_[i]) continue;
        for (const auto& need : nodes_[i].needs) {
          if (need.optional) continue;
          if (auto why = unmet(i, need)) {
            refuse(i, std::move(*why));
            changed = true;
            break;
          }
        }
      }
    }
  }

  std::vector<std::size_t> edges(std::size_t i, bool optional) const {
    std::set<std::size_t> to;
    for (const auto& need : nodes_[i].needs)
      if (need.optional == optional && !host_.contains(need.id))
        if (const auto p = provider(need.id)) to.insert(*p);
    return {to.begin(), to.end()};
  }
  std::vector<std::size_t> required(std::size_t i) const { return edges(i, false); }

  // Depth-first search; a node that occurs again on the current path closes a cycle.
  bool find_cycle(std::size_t i, std::vector<int>& colour, std::vector<std::size_t>& path) const {
    colour[i] = 1;
    path.push_back(i);
    for (const std::size_t to : required(i)) {
      if (colour[to] == 1) {
        path.erase(path.begin(), std::find(path.begin(), path.end(), to));
        return true;
      }
      if (colour[to] == 0 && find_cycle(to, colour, path)) return true;
    }
    path.pop_back();
    colour[i] = 2;
    return false;
  }

  void refuse_cycles() {
    for (;;) {
      std::vector<int> colour(nodes_.size(), 0);
      std::vector<std::size_t> cycle;
      for (std::size_t i = 0; i < nodes_.size() && cycle.empty(); ++i)
        if (alive_[i] && colour[i] == 0) find_cycle(i, colour, cycle);
      if (cycle.empty()) return;
      // Normalise the cycle, so that its text does not depend on where the search began.
      std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
      std::string chain;
      for (const std::size_t i : cycle) chain += nodes_[i].name + " -> ";
      chain += nodes_[cycle.front()].name;
      for (const std::size_t i : cycle)
        refuse(i, quoted_module(nodes_[i].name) + " is part of a cycle of needs: " + chain +
                      "; one of these needs must become optional.");
    }
  }

  // Takes the smallest index among the nodes whose providers are placed, so that the order is deterministic.
  void sort() {
    std::set<std::size_t> left;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (alive_[i]) left.insert(i);
    const auto waits = [&](std::size_t i, bool optional) {
      for (const std::size_t to : edges(i, optional))
        if (to != i && left.contains(to)) return true;
      return false;
    };
    while (!left.empty()) {
      auto next =
          std::find_if(left.begin(), left.end(), [&](std::size_t i) { return !waits(i, false) && !waits(i, true); });
      if (next == left.end()) {
        // Required needs have no cycle, so at least one node waits for optional needs only.
        next = std::find_if(left.begin(), left.end(), [&](std::size_t i) { return !waits(i, false); });
        out_.notes.push_back(quoted_module(nodes_[*next].name) +
                             " starts before a module that it needs optionally, because that one "
                             "needs it in turn.");
      }
      out_.order.push_back(*next);
      left.erase(next);
    }
  }

  const std::vector<graph_node>& nodes_;
  const host_offer& host_;
  std::vector<bool> alive_;
  graph_result out_;
};

}  // namespace

graph_result resolve(const std::vector<graph_node>& nodes, const host_offer& host) {
  return resolver(nodes, host).run();
}

}  // namespace ry::module
