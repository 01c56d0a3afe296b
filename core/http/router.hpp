// Maps method and path of a request to a route. Immutable once built; in-flight requests share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/services.hpp"
#include "core/http/stats.hpp"
#include "core/module/pattern.hpp"

namespace ry::http::serving {

// A route of a module or, when `host` is set, of the host.
struct compiled_route {
  module::route def;
  std::function<host_answer(const ry_request_view&)> host;
  runs_on where = runs_on::loop;
  std::vector<std::string> params;  // names in path order
  std::shared_ptr<route_counters> counters;

  bool has(std::uint32_t flag) const noexcept { return (def.flags & flag) != 0; }
};

// Path parameters of one request: the decoded values, concatenated.
struct path_values {
  std::string text;
  std::vector<std::size_t> ends;
  void clear() noexcept {
    text.clear();
    ends.clear();
  }
  std::string_view at(std::size_t i) const noexcept {
    const auto from = i == 0 ? 0 : ends[i - 1];
    return std::string_view(text).substr(from, ends[i] - from);
  }
};

enum class match_outcome { found, no_path, wrong_method, bad_encoding, bad_text };

struct match_result {
  match_outcome outcome = match_outcome::no_path;
  const compiled_route* route = nullptr;
  std::string allow;  // when wrong_method: "GET, HEAD, OPTIONS"
  std::string_view path;  // without the base path, when a prefixed route matched
  std::string_view parameter = {};  // when bad_text: name of the parameter that is not UTF-8
};

class route_table {
 public:
  route_table() = default;
  explicit route_table(std::string base_path) : base_(std::move(base_path)) {}
  route_table(const route_table&) = delete;
  route_table& operator=(const route_table&) = delete;

  // Throws std::invalid_argument when the pattern is invalid or (method, pattern) is registered already; the message
  // names both owners.
  void add(compiled_route route);

  // Fills `values` if the outcome is `found`. Literal segments take precedence over parameters, parameters over a
  // wildcard rest.
  match_result match(std::string_view method, std::string_view path, path_values& values) const;
  // The methods that routes serve on this path, comma-separated; empty: none.
  std::string allowed(std::string_view path) const;

  const std::vector<std::unique_ptr<compiled_route>>& routes() const noexcept { return routes_; }

 private:
  struct node {
    std::vector<std::pair<std::string, std::unique_ptr<node>>> literals;  // sorted
    std::unique_ptr<node> param;
    std::vector<const compiled_route*> here, rest;
  };
  struct search {
    std::string_view method;
    path_values* values;
    std::vector<std::string_view> methods;  // of the routes that match the path
    bool bad = false;  // the path has an invalid percent-encoding
  };
  const compiled_route* find(const node& n, std::string_view remaining, search& s) const;
  static const compiled_route* choose(const std::vector<const compiled_route*>& routes, search& s);
  // The path without the base path; data() == nullptr: the path is outside the base path.
  std::string_view strip(std::string_view path) const noexcept;

  std::string base_;
  node prefixed_, plain_;
  std::vector<std::unique_ptr<compiled_route>> routes_;
};

}  // namespace ry::http::serving
