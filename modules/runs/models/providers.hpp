// The configured model providers, each opened by the driver of its kind.
//
// A driver that the host removes is released after the last answer that uses it has ended; its providers are closed
// first. Thread: any; define() only in the module's constructor.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <ry/cpp/settings_check.hpp>
#include <ry/ry.hpp>
#include <string>

#include "ry/ext/llm_provider.h"
#include "settings/settings.hpp"

namespace runs {

class provider_set {
 public:
  struct driver {
    std::string name;
    const ry_llm_provider_v1* table = nullptr;
    void* self = nullptr;
    ry_done removed{};
    ~driver() {
      if (removed.fn != nullptr) removed.fn(removed.ctx, RY_OK, nullptr);
    }
  };
  struct provider {
    std::string name;  // as in the settings
    std::shared_ptr<driver> of;
    void* instance = nullptr;
    // The limits of model requests; all 0 if the driver does not report them.
    ry_llm_limits limits(std::string_view model) const;
    ~provider() {
      if (of) of->table->close(of->self, instance);
    }
  };
  using handle = std::shared_ptr<const provider>;

  explicit provider_set(const settings& s) : settings_(s) {}
  void define(ry::registrar& reg);
  // The open provider with that name; nullptr if there is none.
  handle find(std::string_view name) const;
  // Adds the errors that drivers find in their providers' settings. check() reports missing drivers.
  void find_faults(ry::settings_faults& to) const;
  // Throws an error about the first configured provider that could not be opened.
  void check() const;

 private:
  static void added(void* self, ry_str name, const void* table, void* driver_self) noexcept;
  static void removed(void* self, ry_str name, ry_done done) noexcept;
  static void replaced(void* self, ry_str name, const void* table, void* driver_self, ry_done done) noexcept;
  static std::shared_ptr<driver> make_driver(ry_str name, const void* table, void* driver_self);
  void add(std::shared_ptr<driver> d);
  void exchange(ry_str name, std::shared_ptr<driver> next, ry_done done) noexcept;

  const settings& settings_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<driver>, std::less<>> drivers_;
  std::map<std::string, handle, std::less<>> open_;
  std::map<std::string, std::string, std::less<>> failures_;  // provider -> error message
};

}  // namespace runs
