#include "core/module/validate.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/module/describe_text.hpp"
#include "core/module/description.hpp"
#include "core/module/pattern.hpp"
#include "core/module/text.hpp"

namespace ry::module {

namespace {

std::uint32_t table_size(const void* table) {
  return *static_cast<const std::uint32_t*>(table);
}

class validator {
 public:
  validator(const std::vector<staged_module>& modules, const host_side& host) : modules_(modules), host_(host) {}

  std::vector<graph_refusal> run() {
    for (const auto& text : host_.routes) routes_.push_back({"GET", pattern(text), text, no_module});
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      check_routes(i);
      check_description(i);
      check_promises(i);
      check_drivers(i);
      check_services(i);
    }
    return std::move(out_);
  }

 private:
  static constexpr std::size_t no_module = static_cast<std::size_t>(-1);
  struct known_route {
    std::string method;
    pattern where;
    std::string text;
    std::size_t owner;
  };

  const std::string& name(std::size_t i) const { return modules_[i].manifest->name; }
  std::string owner(std::size_t i) const { return i == no_module ? "the host" : quoted_module(name(i)); }
  void refuse(std::size_t i, std::string message) { out_.push_back({i, std::move(message)}); }

  pattern effective(const route& r) const {
    if (host_.base_path.empty() || (r.flags & RY_ROUTE_NO_PREFIX)) return pattern(r.pattern);
    return pattern(host_.base_path + r.pattern);
  }

  void check_routes(std::size_t i) {
    for (const auto& r : modules_[i].registered->routes) {
      const pattern where = effective(r);
      const known_route* clash = nullptr;
      overlap how = overlap::none;
      for (const auto& k : routes_) {
        if (k.method != r.method || k.owner == i) continue;
        how = compare(k.where, where);
        if (how == overlap::same || how == overlap::ambiguous) {
          clash = &k;
          break;
        }
      }
      if (!clash) {
        // Check for ambiguous routes within the same module too.
        for (const auto& k : routes_)
          if (k.owner == i && k.method == r.method && compare(k.where, where) == overlap::ambiguous) {
            clash = &k;
            how = overlap::ambiguous;
            break;
          }
      }
      if (!clash) {
        routes_.push_back({r.method, where, r.pattern, i});
        continue;
      }
      const std::string both = quoted_module(name(i)) + " registers the route " + r.method + " " + r.pattern + ", ";
      if (how == overlap::same)
        refuse(i, both + "which " + owner(clash->owner) + " has already registered" +
                      (clash->text == r.pattern ? "" : " as " + clash->text) +
                      (clash->owner == no_module ? "; the module must use a different path."
                                                 : "; disable one of the two."));
      else
        refuse(i, both + "which is ambiguous with " + clash->text + " of " + owner(clash->owner) +
                      ": some paths match both and neither is the narrower one.");
    }
  }

  void check_description(std::size_t i) {
    const auto problem = description_problem(*modules_[i].registered, host_.components);
    if (!problem.empty()) refuse(i, quoted_module(name(i)) + " describes " + problem + ".");
  }

  void check_promises(std::size_t i) {
    const auto& reg = *modules_[i].registered;
    for (const auto& id : modules_[i].manifest->provides) {
      const auto same = [&](const auto& s) { return s.id == id; };
      if (std::none_of(reg.services.begin(), reg.services.end(), same) &&
          std::none_of(reg.points.begin(), reg.points.end(), same))
        refuse(i, quoted_module(name(i)) + " states that it provides " + id +
                      ", but registered neither a service nor an extension point of that name.");
    }
  }

  bool is_optional(std::size_t i, const std::string& id) const {
    for (const auto& n : modules_[i].manifest->needs)
      if (n.id == id) return n.optional;
    return false;
  }

  void check_drivers(std::size_t i) {
    for (const auto& d : modules_[i].registered->drivers) {
      const std::string what =
          quoted_module(name(i)) + " contributes the driver \"" + d.name + "\" to " + d.point + ", ";
      std::string point_owner = "the host";
      std::uint32_t least = 0;
      if (const auto it = host_.points.find(d.point); it != host_.points.end()) {
        least = it->second;
      } else {
        bool found = false;
        for (const auto& m : modules_)
          for (const auto& p : m.registered->points)
            if (p.id == d.point) {
              found = true;
              least = p.min_size;
              point_owner = quoted_module(m.manifest->name);
            }
        if (!found) {
          if (!is_optional(i, d.point)) refuse(i, what + "but no module defines that extension point.");
          continue;
        }
      }
      if (table_size(d.table) < least)
        refuse(i, what + "with a table of " + std::to_string(table_size(d.table)) + " bytes; " + point_owner +
                      " needs at least " + std::to_string(least) + ". Rebuild the driver with a newer SDK.");
      const auto [it, first] = drivers_.try_emplace(d.point + " " + d.name, i);
      if (!first)
        refuse(i, what + "but " + quoted_module(name(it->second)) +
                      " contributes one of the same name; disable one of the two.");
    }
  }

  void check_services(std::size_t i) {
    for (const auto& need : modules_[i].manifest->needs)
      for (const auto& m : modules_)
        for (const auto& s : m.registered->services)
          if (s.id == need.id && table_size(s.table) < need.min_size)
            refuse(i, quoted_module(name(i)) + " needs " + need.id + " of at least " + std::to_string(need.min_size) +
                          " bytes; that of " + quoted_module(m.manifest->name) + " has " +
                          std::to_string(table_size(s.table)) + ". Upgrade " + quoted_module(m.manifest->name) + ".");
  }

  const std::vector<staged_module>& modules_;
  const host_side& host_;
  std::vector<known_route> routes_;
  std::map<std::string, std::size_t> drivers_;
  std::vector<graph_refusal> out_;
};

}  // namespace

std::vector<graph_refusal> validate(const std::vector<staged_module>& modules, const host_side& host) {
  return validator(modules, host).run();
}

}  // namespace ry::module
