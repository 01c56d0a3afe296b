// The loaded sandbox drivers, and the one in use.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <ry/ry.hpp>

#include "ry/ext/sandbox_driver.h"
#include "settings/settings.hpp"

namespace runs {

class sandbox_drivers : public ry::drivers<ry_sandbox_driver_v1> {
 public:
  explicit sandbox_drivers(const settings& config) : config_(config) {}

  // The configured driver or, without a configured one, the first; null if there is none.
  entry in_use() const {
    if (!config_.sandbox_driver.empty()) return find(config_.sandbox_driver);
    const auto loaded = all();
    return loaded.empty() ? nullptr : loaded.front();
  }

 private:
  const settings& config_;
};

}  // namespace runs
