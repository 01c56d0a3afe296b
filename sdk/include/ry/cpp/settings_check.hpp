// Collects the faults that a module finds in its settings (ry/ext/settings_check.h) while it reads them in create(),
// and reports them together. Include it explicitly; the module's needs or wants must name RY_SETTINGS_CHECK_1.
//
//   example(ry::context& ctx, ry::registrar& reg) : config_(read(ctx.settings(), faults_)) {
//     reg.contribute(RY_SETTINGS_CHECK_1, "example", &faults_.table, &faults_);
//   }
#pragma once

#include <ry/ext/settings_check.h>

#include <ry/cpp/types.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ry {

// Lives as long as the module. Threads: create(), and calls of the host on the same thread.
class settings_faults {
 public:
  struct fault {
    std::string key, message;
  };

  // `key` as in TOML, within the module's own table; use quoted() for parts that users chose.
  void add(std::string key, std::string message) { all_.push_back({std::move(key), std::move(message)}); }
  const std::vector<fault>& all() const noexcept { return all_; }

  void report(const ry_settings_sink& to) const noexcept {
    for (const fault& f : all_) to.fault(to.ctx, str(f.key), str(f.message));
  }

  // For modules that have found all faults when create() returns.
  static void check(void* self, const ry_settings_sink* sink) noexcept {
    static_cast<const settings_faults*>(self)->report(*sink);
  }
  static constexpr ry_settings_check_v1 table{sizeof(ry_settings_check_v1), 0, &settings_faults::check};

  // A name as one part of a key: a, or "a/b" with its quotes.
  static std::string quoted(std::string_view name) {
    for (const char c : name) {
      const bool bare =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
      if (!bare) return '"' + std::string(name) + '"';
    }
    return std::string(name);
  }

 private:
  std::vector<fault> all_;
};

}  // namespace ry
