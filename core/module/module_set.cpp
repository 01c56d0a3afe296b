#include "core/module/module_set.hpp"

#include <algorithm>
#include <optional>

#include "core/module/crash_reporter.hpp"
#include "core/module/health_checks.hpp"
#include "core/module/module_graph.hpp"
#include "core/module/module_instance.hpp"
#include "core/module/module_swap.hpp"
#include "core/module/registry.hpp"

namespace ry::module {

namespace {

using clock = std::chrono::steady_clock;

}  // namespace

struct module_set::impl {
  impl(runtime& rt, set_options o) : options(std::move(o)), graph(rt, options, mutex) {}

  const set_options options;
  mutable std::shared_mutex mutex;  // guards state, reason and gen (the module instance) of all entries
  module_graph graph;
  mutable health_checks checks;
  bool ended = false;

  void validate_all(report& out) {
    for (;;) {
      const auto refused = graph.validation_errors();
      if (refused.empty()) return;
      // Handle only the first conflict: dropping its module may resolve the others.
      const std::size_t node = refused.front().node;
      graph.drop(node, refused.front().message, out);
      for (std::size_t k = 1; k < refused.size(); ++k)
        if (refused[k].node == node) graph.add_problem(node, refused[k].message, out);
    }
  }

  void end_all(clock::time_point deadline, unmapping unmap) {
    ended = true;
    for (auto it = graph.order.rbegin(); it != graph.order.rend(); ++it) graph.end(*it, deadline, unmap);
  }

  template <class T, class Get>
  std::vector<T> collect(Get&& get) const {
    std::vector<T> out;
    for (const std::size_t i : graph.order)
      if (graph.entries[i].present())
        for (const auto& x : get(graph.entries[i].gen->registered())) out.push_back(x);
    return out;
  }

  module_description description(const module_entry& e) const {
    module_description d = e.registered;
    d.state = e.state;
    d.reason = e.reason;
    d.file = e.spec.file.string();
    d.sha256 = e.seen.sha256;
    d.manifest = e.manifest;
    d.required = e.spec.failure == module_spec::on_failure::abort;
    if (e.gen) {
      const ry_host& h = *e.gen->host();
      d.instance = h.instance;
      d.slow_callbacks = h.slow_callbacks;
      d.violations = h.violations;
      d.outstanding = h.outstanding;
      std::lock_guard lock(e.gen->host()->mutex);
      d.last_violation = h.last_violation;
    }
    return d;
  }
};

module_set::module_set(runtime& rt, set_options options) : impl_(std::make_unique<impl>(rt, std::move(options))) {}

module_set::~module_set() {
  stop(std::chrono::system_clock::now() + std::chrono::seconds(2));
}

report module_set::prepare(const std::vector<module_spec>& specs) {
  explain_crashes();
  report out;
  auto& graph = impl_->graph;
  for (const auto& spec : specs) graph.look(spec, out);
  graph.arrange(out);
  graph.load_all(out, module_graph::load_phase::start);
  graph.create_all(out, impl_->options.settings, impl_->options.faults);
  impl_->validate_all(out);
  std::vector<std::size_t> present;
  for (const std::size_t i : graph.order)
    if (graph.entries[i].present()) present.push_back(i);
  for (const std::size_t i : present) graph.announce_to(i);
  graph.check_settings(present, out, impl_->options.faults);
  if (!out.ok()) impl_->end_all(clock::now() + failed_start_time, unmapping::keep_mapped);
  return out;
}

report module_set::fail(std::string_view module, std::string message) {
  report out;
  for (const std::size_t i : impl_->graph.order)
    if (impl_->graph.entries[i].manifest.name == module && impl_->graph.entries[i].present())
      impl_->graph.drop(i, message, out);
  return out;
}

report module_set::start() {
  report out;
  auto& graph = impl_->graph;
  for (const std::size_t i : graph.order) {
    if (!graph.entries[i].present()) continue;
    graph.start_one(i, out);
    if (graph.entries[i].state == module_state::started) graph.announce_to_host(i);
    if (!out.ok()) break;
  }
  if (!out.ok()) impl_->end_all(clock::now() + failed_start_time, unmapping::keep_mapped);
  return out;
}

void module_set::stop(std::chrono::system_clock::time_point deadline, unmapping unmap) {
  if (impl_->ended) return;
  impl_->end_all(clock::now() + (deadline - std::chrono::system_clock::now()), unmap);
}

std::unique_ptr<module_swap> module_set::begin_swap() {
  return std::make_unique<module_swap>(impl_->graph);
}

std::vector<module_migrations> module_set::migrations() const {
  std::vector<module_migrations> out;
  for (const std::size_t i : impl_->graph.order) {
    const auto& e = impl_->graph.entries[i];
    if (e.present() && !e.gen->registered().migrations.empty())
      out.push_back({e.manifest.name, e.gen->registered().migrations, e.spec.allow_newer_schema});
  }
  return out;
}

std::vector<provided_services> module_set::provided() const {
  std::vector<provided_services> out;
  for (const std::size_t i : impl_->graph.order) {
    const auto& e = impl_->graph.entries[i];
    if (e.present() && !e.manifest.provides.empty()) out.push_back({e.manifest.name, e.manifest.provides});
  }
  return out;
}

std::vector<route> module_set::routes() const {
  return impl_->collect<route>([](const registration& r) -> auto& { return r.routes; });
}
std::vector<job_kind> module_set::jobs() const {
  return impl_->collect<job_kind>([](const registration& r) -> auto& { return r.jobs; });
}
std::vector<consumer> module_set::consumers() const {
  return impl_->collect<consumer>([](const registration& r) -> auto& { return r.consumers; });
}

std::optional<module_set::contribution> module_set::find_driver(std::string_view point, std::string_view name) const {
  const auto& graph = impl_->graph;
  for (const std::size_t i : graph.order) {
    if (!graph.entries[i].present()) continue;
    for (const driver& d : graph.entries[i].gen->registered().drivers)
      if (d.point == point && d.name == name) return contribution{graph.entries[i].gen->host(), d.table, d.self};
  }
  return std::nullopt;
}

std::vector<module_text> module_set::descriptions() const {
  std::vector<module_text> out;
  for (const std::size_t i : impl_->graph.order) {
    const auto& e = impl_->graph.entries[i];
    if (!e.present()) continue;
    out.push_back({e.manifest.name, e.manifest.version, e.gen->registered().descriptions});
  }
  return out;
}

std::vector<module_health> module_set::health(std::chrono::milliseconds time_limit) const {
  std::vector<health_checks::question> questions;
  std::vector<bool> required;
  {
    std::shared_lock lock(impl_->mutex);
    for (const std::size_t i : impl_->graph.order) {
      const auto& e = impl_->graph.entries[i];
      if (e.state != module_state::started || !e.gen) continue;
      questions.push_back({e.manifest.name, e.gen, hold(e.gen->host())});
      required.push_back(e.spec.failure == module_spec::on_failure::abort);
    }
  }
  auto out = impl_->checks.ask(questions, time_limit);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].required = required[i];
  return out;
}

std::vector<module_description> module_set::describe() const {
  std::vector<module_description> out;
  std::shared_lock lock(impl_->mutex);
  const auto& order = impl_->graph.order;
  const auto& entries = impl_->graph.entries;
  out.reserve(entries.size());
  for (const std::size_t i : order) out.push_back(impl_->description(entries[i]));
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (std::find(order.begin(), order.end(), i) == order.end()) out.push_back(impl_->description(entries[i]));
  return out;
}

}  // namespace ry::module
