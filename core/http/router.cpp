#include "core/http/router.hpp"

#include <algorithm>
#include <ry/cpp/utf8.hpp>
#include <stdexcept>

#include "core/http/uri.hpp"
#include "without_protection.hpp"

namespace ry::http::serving {

namespace {

std::string owner_of(const compiled_route& r) {
  return r.def.owner ? "module \"" + r.def.owner->name + "\"" : std::string("the host");
}

std::string join(std::vector<std::string_view> methods) {
  if (std::find(methods.begin(), methods.end(), "GET") != methods.end()) methods.push_back("HEAD");
  methods.push_back("OPTIONS");
  std::sort(methods.begin(), methods.end());
  methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
  std::string out;
  for (const auto m : methods) out.append(out.empty() ? "" : ", ").append(m);
  return out;
}

}  // namespace

void route_table::add(compiled_route route) {
  const module::pattern pattern(route.def.pattern);
  if (!module::known_method(route.def.method))
    throw std::invalid_argument("route \"" + route.def.method + " " + route.def.pattern + "\" of " + owner_of(route) +
                                ": unknown method");
  node* n = route.has(RY_ROUTE_NO_PREFIX) ? &plain_ : &prefixed_;
  bool rest = false;
  for (const auto& s : pattern.segments()) {
    switch (s.what) {
      case module::pattern_segment::kind::literal: {
        auto at = std::lower_bound(n->literals.begin(), n->literals.end(), s.text,
                                   [](const auto& e, const auto& t) { return e.first < t; });
        if (at == n->literals.end() || at->first != s.text)
          at = n->literals.emplace(at, s.text, std::make_unique<node>());
        n = at->second.get();
        break;
      }
      case module::pattern_segment::kind::param:
        if (!n->param) n->param = std::make_unique<node>();
        n = n->param.get();
        route.params.push_back(s.text);
        break;
      case module::pattern_segment::kind::rest:
        rest = true;
        route.params.push_back(s.text);
        break;
    }
  }
  auto& list = rest ? n->rest : n->here;
  for (const auto* other : list)
    if (other->def.method == route.def.method)
      throw std::invalid_argument("route \"" + route.def.method + " " + route.def.pattern + "\" of " + owner_of(route) +
                                  " is taken by \"" + other->def.pattern + "\" of " + owner_of(*other));
  routes_.push_back(std::make_unique<compiled_route>(std::move(route)));
  list.push_back(routes_.back().get());
}

const compiled_route* route_table::choose(const std::vector<const compiled_route*>& routes, search& s) {
  const compiled_route* get = nullptr;
  for (const auto* r : routes) {
    if (r->def.method == s.method) return r;
    if (r->def.method == "GET") get = r;
  }
  if (s.method == "HEAD" && get) return get;
  for (const auto* r : routes) s.methods.push_back(r->def.method);
  return nullptr;
}

// `remaining`: the part of the path below n, without the '/' before it.
const compiled_route* route_table::find(const node& n, std::string_view remaining, search& s) const {
  const auto slash = remaining.find('/');
  const bool last = slash == std::string_view::npos;
  auto segment = remaining.substr(0, slash);
  const auto after = last ? std::string_view() : remaining.substr(slash + 1);
  std::string decoded;
  if (segment.find('%') != std::string_view::npos) {
    if (!percent_decode(segment, decoded)) {
      s.bad = true;
      return nullptr;
    }
    segment = decoded;
  }
  auto at = std::lower_bound(n.literals.begin(), n.literals.end(), segment,
                             [](const auto& e, std::string_view t) { return e.first < t; });
  if (at != n.literals.end() && at->first == segment) {
    const auto* r = last ? choose(at->second->here, s) : find(*at->second, after, s);
    if (r || s.bad) return r;
  }
  const auto text_size = s.values->text.size(), ends_size = s.values->ends.size();
  const auto restore_values = [&] {
    s.values->text.resize(text_size);
    s.values->ends.resize(ends_size);
  };
  if (n.param && !segment.empty()) {
    s.values->text.append(segment);
    s.values->ends.push_back(s.values->text.size());
    const auto* r = last ? choose(n.param->here, s) : find(*n.param, after, s);
    if (r || s.bad) return r;
    restore_values();
  }
  if (!n.rest.empty()) {
    if (!percent_decode(remaining, s.values->text)) {
      s.bad = true;
      return nullptr;
    }
    s.values->ends.push_back(s.values->text.size());
    if (const auto* r = choose(n.rest, s)) return r;
    restore_values();
  }
  return nullptr;
}

std::string_view route_table::strip(std::string_view path) const noexcept {
  if (base_.empty()) return path;
  if (path.size() > base_.size() && path.compare(0, base_.size(), base_) == 0 && path[base_.size()] == '/')
    return path.substr(base_.size());
  return {};
}

namespace {

// Modules and the database need valid UTF-8. Each value is checked separately: two invalid values may form a valid
// character when joined.
match_result found(const compiled_route& r, const path_values& values, std::string_view path) {
  for (std::size_t i = 0; i < values.ends.size(); ++i)
    if (!is_utf8(values.at(i)) && !ry_test::without_protection("utf8_paths"))
      return {match_outcome::bad_text, &r, {}, path, r.params.at(i)};
  return {match_outcome::found, &r, {}, path};
}

}  // namespace

match_result route_table::match(std::string_view method, std::string_view path, path_values& values) const {
  values.clear();
  if (path.empty() || path.front() != '/') return {};
  if (has_dot_segments(path)) return {match_outcome::bad_encoding, nullptr, {}, path};
  search s{method, &values, {}, false};
  const auto inner = strip(path);
  if (inner.data()) {
    if (const auto* r = find(prefixed_, inner.substr(1), s)) return found(*r, values, inner);
    values.clear();
  }
  if (!s.bad)
    if (const auto* r = find(plain_, path.substr(1), s)) return found(*r, values, path);
  values.clear();
  if (s.bad) return {match_outcome::bad_encoding, nullptr, {}, path};
  if (!s.methods.empty()) return {match_outcome::wrong_method, nullptr, join(s.methods), path};
  // Other servers accept or redirect a trailing slash, so clients send it. Routes with a trailing slash have
  // precedence.
  if (path.size() > 1 && path.ends_with('/') && !path.ends_with("//"))
    return match(method, path.substr(0, path.size() - 1), values);
  return {match_outcome::no_path, nullptr, {}, path};
}

std::string route_table::allowed(std::string_view path) const {
  path_values values;
  // No route has this method, so the search collects the methods of all routes that match the path.
  return match("-", path, values).allow;
}

}  // namespace ry::http::serving
