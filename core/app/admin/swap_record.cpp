#include "core/app/admin/swap_record.hpp"

namespace ry::app {

namespace json = boost::json;
using observe::metric_kind;

namespace {

constexpr std::size_t max_reports = 10;

ry_metric* swap_counter(observe::metrics& m, const std::string& module, const char* outcome) {
  return m.get(metric_kind::counter, "runyard_module_swaps_total", "Module swaps",
               {{"module", module}, {"outcome", outcome}});
}

ry_metric* in_memory_gauge(observe::metrics& m, const std::string& module) {
  return m.get(metric_kind::gauge, "runyard_module_instances_in_memory", "Replaced instances that stay in memory",
               {{"module", module}});
}

}  // namespace

void swap_record::register_module(const std::string& module) {
  std::lock_guard lock(mutex_);
  if (!in_memory_.try_emplace(module).second) return;
  for (const char* outcome : {"swapped", "refused"}) (void)swap_counter(metrics_, module, outcome);
  (void)in_memory_gauge(metrics_, module);
}

void swap_record::count(const std::string& module, const char* outcome) {
  std::lock_guard lock(mutex_);
  if (auto* m = swap_counter(metrics_, in_memory_.contains(module) ? module : "unknown", outcome)) m->add();
}

void swap_record::record_end(const module::module_end& e, const json::object& report) {
  using outcome = module::module_end::outcome;
  count(e.module, e.how == outcome::unloaded       ? "unloaded"
                  : e.how == outcome::still_mapped ? "still_mapped"
                                                   : "retired");
  if (e.how == outcome::unloaded) return;
  if (auto* m = in_memory_gauge(metrics_, e.module)) m->add();
  std::lock_guard lock(mutex_);
  auto& all = in_memory_[e.module];
  if (all.size() == max_reports) all.pop_front();
  all.push_back(report);
}

void swap_record::add_to(json::array& modules) const {
  std::lock_guard lock(mutex_);
  for (auto& one : modules) {
    auto& m = one.as_object();
    const auto found = in_memory_.find(std::string_view(m.at("name").as_string()));
    if (found == in_memory_.end() || found->second.empty()) continue;
    m["left"] = json::array(found->second.begin(), found->second.end());
  }
}

}  // namespace ry::app
