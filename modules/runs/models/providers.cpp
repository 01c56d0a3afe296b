#include "models/providers.hpp"
#include "settings/settings_reader.hpp"

#include <boost/json.hpp>
#include <cstddef>

namespace runs {

void provider_set::define(ry::registrar& reg) {
  ry_point point{};
  point.struct_size = sizeof point;
  point.min_size = offsetof(ry_llm_provider_v1, limits);
  point.id = ry::str(RY_LLM_PROVIDER_1);
  point.added = &provider_set::added;
  point.removed = &provider_set::removed;
  point.ctx = this;
  point.replaced = &provider_set::replaced;
  ry::check(reg.table().define_point(reg.handle(), &point), "the extension point llm.provider/1");
}

ry_llm_limits provider_set::provider::limits(std::string_view model) const {
  ry_llm_limits out{};
  out.struct_size = sizeof out;
  const bool has_limits = of->table->struct_size >= offsetof(ry_llm_provider_v1, limits) + sizeof of->table->limits;
  if (!has_limits || of->table->limits == nullptr) return out;
  if (of->table->limits(of->self, instance, ry::str(model), &out) != RY_OK) return {};
  return out;
}

provider_set::handle provider_set::find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto found = open_.find(name);
  return found == open_.end() ? nullptr : found->second;
}

void provider_set::find_faults(ry::settings_faults& to) const {
  std::lock_guard lock(mutex_);
  for (const provider_settings& p : settings_.providers) {
    const auto failure = failures_.find(p.name);
    if (failure == failures_.end()) continue;
    std::string key = "providers." + ry::settings_faults::quoted(p.name);
    std::string message = failure->second;
    // A driver's message begins with the key it refers to.
    const std::string driver_key = message.substr(0, message.find_first_of(" :."));
    const auto config = boost::json::parse(p.config_json).as_object();
    if (config.contains(driver_key)) {
      key += (is_provider_key(driver_key) ? "." : ".options.") + ry::settings_faults::quoted(driver_key);
      message.erase(0, driver_key.size());
      message.erase(0, message.find_first_not_of(": "));
    }
    to.add(std::move(key), std::move(message));
  }
}

void provider_set::check() const {
  std::lock_guard lock(mutex_);
  for (const provider_settings& p : settings_.providers) {
    if (open_.contains(p.name)) continue;
    if (const auto failure = failures_.find(p.name); failure != failures_.end())
      throw ry::precondition("runs.provider", "runs.providers." + p.name + ": " + failure->second);
    if (p.name == "offline") continue;  // exists without configuration
    std::string loaded;
    for (const auto& [name, d] : drivers_) loaded += (loaded.empty() ? "" : ", ") + name;
    throw ry::precondition("runs.provider", "runs.providers." + p.name + ".kind is \"" + p.kind +
                                                "\", but no driver of that name is loaded (loaded: " +
                                                (loaded.empty() ? "none" : loaded) + ")");
  }
}

std::shared_ptr<provider_set::driver> provider_set::make_driver(ry_str name, const void* table, void* driver_self) {
  auto d = std::make_shared<driver>();
  d->name = ry::text(name);
  d->table = static_cast<const ry_llm_provider_v1*>(table);
  d->self = driver_self;
  return d;
}

void provider_set::added(void* self, ry_str name, const void* table, void* driver_self) noexcept {
  (void)ry::guard([&] {
    auto* set = static_cast<provider_set*>(self);
    std::lock_guard lock(set->mutex_);
    set->add(make_driver(name, table, driver_self));
  });
}

// Requires the lock.
void provider_set::add(std::shared_ptr<driver> d) {
  drivers_.insert_or_assign(d->name, d);
  for (const provider_settings& p : settings_.providers) {
    if (p.kind != d->name) continue;
    auto opened = std::make_shared<provider>();
    opened->name = p.name;
    char text[512];
    ry_errbuf err{text, sizeof text, 0};
    const ry_status st = d->table->open(d->self, ry::str(p.name), ry::str(p.config_json), &opened->instance, &err);
    if (st != RY_OK) {
      failures_.insert_or_assign(p.name, std::string(err.ptr, err.len));
      continue;
    }
    opened->of = d;
    failures_.erase(p.name);
    open_.insert_or_assign(p.name, std::move(opened));
  }
}

void provider_set::removed(void* self, ry_str name, ry_done done) noexcept {
  static_cast<provider_set*>(self)->exchange(name, nullptr, done);
}

void provider_set::replaced(void* self, ry_str name, const void* table, void* driver_self, ry_done done) noexcept {
  std::shared_ptr<driver> next;
  (void)ry::guard([&] { next = make_driver(name, table, driver_self); });
  static_cast<provider_set*>(self)->exchange(name, std::move(next), done);
}

// Atomic for find(): with `next`, find() always returns a provider.
void provider_set::exchange(ry_str name, std::shared_ptr<driver> next, ry_done done) noexcept {
  std::shared_ptr<driver> old_driver;
  std::vector<handle> closing;  // closed after the lock is released
  {
    std::lock_guard lock(mutex_);
    const auto found = drivers_.find(ry::view(name));
    if (found != drivers_.end()) {
      old_driver = std::move(found->second);
      drivers_.erase(found);
      for (auto it = open_.begin(); it != open_.end();) {
        if (it->second->of != old_driver) {
          ++it;
          continue;
        }
        closing.push_back(std::move(it->second));
        it = open_.erase(it);
      }
      old_driver->removed = done;
    }
    if (next) (void)ry::guard([&] { add(std::move(next)); });
  }
  if (!old_driver) done.fn(done.ctx, RY_OK, nullptr);
}

}  // namespace runs
