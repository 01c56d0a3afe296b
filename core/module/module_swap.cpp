#include "core/module/module_swap.hpp"

#include <algorithm>
#include <mutex>

#include "core/module/registry.hpp"

namespace ry::module {

namespace {

bool needs_any(const module_manifest& user, const std::set<std::string>& ids) {
  return std::any_of(user.needs.begin(), user.needs.end(), [&](const auto& n) { return ids.contains(n.id); });
}

problem module_problem(const std::string& module, std::string message) {
  return {module, std::move(message), true, false};
}

}  // namespace

module_swap::module_swap(module_graph& now) : now_(now), next_(now) {}

module_swap::~module_swap() {
  if (committed_) return;
  for (auto it = next_.order.rbegin(); it != next_.order.rend(); ++it)
    if (is_affected(*it)) next_.end(*it, clock::now() + failed_start_time, unmapping::unmap);
  next_.reg.settle();
}

void module_swap::renew(std::size_t i, const module_spec& spec, report& out) {
  next_.look(spec, out);
  const std::size_t made = next_.entries.size() - 1;
  if (i != made) {
    next_.entries[i] = std::move(next_.entries.back());
    next_.entries.pop_back();
  }
  affected_.insert(i);
}

void module_swap::apply(const module_change& wanted, report& out) {
  const auto& name = wanted.name;
  std::size_t i = 0;
  while (i < now_.entries.size() && now_.entries[i].manifest.name != name) ++i;
  const bool known = i < now_.entries.size();
  const bool lives = known && now_.entries[i].present();
  if (wanted.spec.used == module_spec::use::disabled && !lives) {
    out.problems.push_back(module_problem(name, "module \"" + name + "\" is not running."));
    return;
  }
  if (lives && (now_.entries[i].manifest.flags & RY_MODULE_NO_RELOAD)) {
    out.problems.push_back(module_problem(
        name, "module \"" + name + "\" does not support hot swap (RY_MODULE_NO_RELOAD); restart the server instead."));
    return;
  }
  renew(i, wanted.spec, out);
  if (const auto& found = next_.entries[i].manifest.name; found != name && out.problems.empty())
    out.problems.push_back(module_problem(name, "the file \"" + wanted.spec.file.filename().string() +
                                                    "\" contains the module \"" + found + "\", not \"" + name + "\"."));
}

// Swaps all modules that use what an affected module provides or will provide, because their leases and drivers
// belong to the instance that leaves.
void module_swap::add_dependents(report& out) {
  std::set<std::string> ids;
  const auto add = [&](std::size_t i) {
    if (i < now_.entries.size() && now_.entries[i].present())
      ids.insert(now_.entries[i].manifest.provides.begin(), now_.entries[i].manifest.provides.end());
    ids.insert(next_.entries[i].manifest.provides.begin(), next_.entries[i].manifest.provides.end());
  };
  for (const std::size_t i : affected_) add(i);
  for (const std::size_t i : now_.order) {  // providers come before users, so one pass suffices
    if (affected_.contains(i) || !now_.entries[i].present()) continue;
    if (!needs_any(now_.entries[i].manifest, ids)) continue;
    apply({now_.entries[i].manifest.name, now_.entries[i].spec}, out);
    if (!affected_.contains(i)) return;
    add(i);
  }
}

// Replaces the graph's error, which would advise to enable the module that the operator wants to disable.
void module_swap::name_dependents(const swap_request& request, report& out) const {
  for (const auto& wanted : request.modules) {
    if (wanted.spec.used != module_spec::use::disabled) continue;
    std::string users;
    for (const auto& [user, providers] : now_.required) {
      if (next_.entries[user].state == module_state::disabled) continue;
      const auto is_wanted = [&](std::size_t i) { return now_.entries[i].manifest.name == wanted.name; };
      if (std::any_of(providers.begin(), providers.end(), is_wanted))
        users += (users.empty() ? "" : ", ") + now_.entries[user].manifest.name;
    }
    if (users.empty()) continue;
    out.problems = {module_problem(wanted.name, "module \"" + wanted.name +
                                                    "\" cannot be disabled, because these modules need it: " + users +
                                                    ". Disable them first.")};
    return;
  }
}

report module_swap::stage(const swap_request& request) {
  report out;
  for (const auto& wanted : request.modules) {
    apply(wanted, out);
    if (!out.problems.empty()) return out;
  }
  add_dependents(out);
  if (out.problems.empty()) {
    next_.arrange(out);
    if (!out.problems.empty()) name_dependents(request, out);
  }
  if (!out.problems.empty()) return out;

  std::erase_if(next_.drivers,
                [&](const auto& a) { return affected_.contains(a.driver_module) || affected_.contains(a.owner); });
  for (const std::size_t i : affected_)
    if (i < now_.entries.size() && now_.entries[i].present() && next_.entries[i].state == module_state::disabled)
      next_.reg.hide(now_.entries[i].gen->host());
  next_.load_all(out, module_graph::load_phase::change);
  for (const std::size_t i : next_.order)
    if (is_affected(i)) next_.reg.stage(next_.entries[i].gen->host());
  if (out.problems.empty()) next_.create_all(out, request.settings, request.faults);
  if (out.problems.empty())
    for (const auto& no : next_.validation_errors())
      out.problems.push_back(module_problem(next_.entries[no.node].manifest.name, no.message));
  if (!out.problems.empty()) return out;
  std::vector<std::size_t> made;
  for (const std::size_t i : next_.order)
    if (is_affected(i)) made.push_back(i);
  for (const std::size_t i : made) next_.announce_to(i);
  next_.check_settings(made, out, request.faults);
  return out;
}

std::vector<module_migrations> module_swap::migrations() const {
  std::vector<module_migrations> out;
  for (const std::size_t i : next_.order)
    if (is_affected(i) && !next_.entries[i].gen->registered().migrations.empty())
      out.push_back({next_.entries[i].manifest.name, next_.entries[i].gen->registered().migrations,
                     next_.entries[i].spec.allow_newer_schema});
  return out;
}

std::vector<job_kind> module_swap::jobs() const {
  std::vector<job_kind> out;
  for (const std::size_t i : next_.order)
    if (is_affected(i))
      for (const auto& kind : next_.entries[i].gen->registered().jobs) out.push_back(kind);
  return out;
}

report module_swap::start() {
  report out;
  for (const std::size_t i : next_.order) {
    if (!is_affected(i)) continue;
    next_.start_one(i, out);
    if (!out.problems.empty()) break;
  }
  return out;
}

bool module_swap::missed_schema() const {
  return std::any_of(affected_.begin(), affected_.end(), [&](std::size_t i) {
    const module_entry& e = next_.entries[i];
    return (e.gen ? e.gen->host()->schema_misses.load() : e.schema_misses) > 0;
  });
}

// Hands drivers to owners that stay; new owners got them before they started.
void module_swap::replace_drivers(std::size_t i, clock::time_point deadline) {
  module_instance& mine = *next_.entries[i].gen;
  for (const auto& d : mine.registered().drivers)
    for (const std::size_t o : next_.order) {
      if (affected_.contains(o) || !next_.entries[o].present()) continue;
      const auto owner = next_.entries[o].gen;
      for (const auto& p : owner->registered().points) {
        if (p.id != d.point) continue;
        const auto old = std::find_if(now_.drivers.begin(), now_.drivers.end(), [&](const auto& a) {
          return a.owner == o && a.what.point == d.point && a.what.name == d.name;
        });
        if (old == now_.drivers.end()) {
          mine.announce(d, *owner, p);
        } else {
          old->holder = owner;
          if (p.replaced) {
            old->replacement = &mine.replace(d, *owner, p);
          } else {
            old->replacement = &now_.entries[old->driver_module].gen->take_back(old->what, *owner, p);
            old->replacement->wait_until(deadline);
            mine.announce(d, *owner, p);
          }
        }
        next_.drivers.push_back({i, o, d, p, nullptr, nullptr, nullptr});
      }
    }
}

void module_swap::commit(clock::time_point deadline) {
  for (const std::size_t i : next_.order)
    if (is_affected(i)) replace_drivers(i, deadline);
  next_.reg.settle();
  {
    std::unique_lock lock(now_.mutex);
    std::swap(now_.entries, next_.entries);
    std::swap(now_.order, next_.order);
    std::swap(now_.required, next_.required);
    std::swap(now_.drivers, next_.drivers);
    committed_ = true;
  }
  std::erase_if(next_.drivers, [&](const auto& a) { return !affected_.contains(a.driver_module); });
  for (const std::size_t i : now_.order)
    if (affected_.contains(i) && now_.entries[i].present()) now_.announce_to_host(i);
}

std::vector<ry_host*> module_swap::leaving() const {
  // After commit(), next_ is the previous graph.
  std::vector<ry_host*> out;
  for (const std::size_t i : next_.order)
    if (is_affected(i)) out.push_back(next_.entries[i].gen->host());
  return out;
}

std::vector<module_end> module_swap::end_leaving(clock::time_point deadline) {
  std::vector<module_end> out;
  for (auto it = next_.order.rbegin(); it != next_.order.rend(); ++it) {
    const std::size_t i = *it;
    if (!is_affected(i)) continue;
    module_entry& e = next_.entries[i];
    module_end end;
    end.module = e.manifest.name;
    end.version = e.manifest.version;
    end.instance = e.gen->host()->instance;
    const bool unmapped = next_.end(i, deadline, unmapping::unmap);
    if (e.state == module_state::retired) {
      end.how = module_end::outcome::retired;
      end.why = e.reason;
    } else {
      end.how = unmapped ? module_end::outcome::unloaded : module_end::outcome::still_mapped;
      if (!unmapped) end.why = why_mapped(e.manifest);
    }
    out.push_back(std::move(end));
  }
  return out;
}

}  // namespace ry::module
