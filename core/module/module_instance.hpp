// One loaded module instance: its library, its ry_host, and its lifecycle calls. Every call into the module passes
// the exception firewall. All calls except health() run on the lifecycle thread. After a call that does not return
// (hung()), the module gets no further calls and its instance must be kept forever.
#pragma once

#include <ry/abi.h>

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/module/host.hpp"
#include "core/module/library.hpp"
#include "core/module/lifecycle_completion.hpp"
#include "core/module/manifest.hpp"
#include "core/module/registration.hpp"

namespace ry::module {

using steady_time = std::chrono::steady_clock::time_point;

// Threads: the thread that changes modules; health() and host() [any].
class module_instance {
 public:
  // Loads the library and checks its descriptor against the section's manifest and this host. Throws std::runtime_error
  // with a message for the operator.
  module_instance(runtime& rt, std::shared_ptr<const sealed_image> image, const module_manifest& section,
                  std::uint32_t host_minor);
  ~module_instance();

  const module_manifest& manifest() const noexcept { return manifest_; }
  std::string_view config_schema() const noexcept { return core::sv(descriptor_->config_schema_json); }
  ry_host* host() const noexcept { return host_.get(); }
  const registration& registered() const noexcept { return registered_; }
  // The call that did not return; nullptr: none.
  const char* hung() const noexcept { return hung_; }

  // Returns the module's error message, or an empty string on success.
  std::string create(const std::string& config_json);
  // Faults that the module finds in its settings (ry.settings_check/1). After create().
  struct setting_fault {
    std::string key, message;
  };
  std::vector<setting_fault> check_settings();
  // Returns an error message, or an empty string on success.
  std::string start();
  // Asks the module to stop and waits. Returns false if it has not stopped at the deadline.
  bool stop(steady_time deadline);
  // Wakes its timers and waits until it has nothing outstanding and no loop runs its code. If it has nothing
  // outstanding, waits up to ten seconds for busy loops, even beyond the deadline. Returns false on timeout;
  // destroy() must not be called then.
  bool quiesce(steady_time deadline);
  // Returns false if the call did not return.
  bool destroy();
  ry_status health(std::string& message) const;  // [any]

  // Announces one of this module's drivers to `owner`, or withdraws it and waits. withdraw() returns false if the
  // owner still uses the driver.
  void announce(const driver& d, module_instance& owner, const point& p);
  bool withdraw(const driver& d, module_instance& owner, const point& p, steady_time deadline);
  // Withdraws without waiting: the owner completes it once it no longer uses the driver. The completion lives as long
  // as `owner`.
  lifecycle_completion& take_back(const driver& d, module_instance& owner, const point& p);
  // Gives `owner` this module's driver as the successor of one with the same name; the completion is the old
  // driver's. For points that have `replaced`.
  lifecycle_completion& replace(const driver& d, module_instance& owner, const point& p);

  library& code() noexcept { return code_; }

 private:
  // Creates a completion for a call into this module.
  lifecycle_completion& new_completion(const char* call);
  bool pass_all_loops(steady_time deadline);
  // Runs a call on the lifecycle thread; `f` owns everything it uses besides this object. Returns false if the call
  // was not made or did not return.
  bool call(const char* what, std::chrono::milliseconds limit, std::function<void()> f);
  void abandon(const char* what);
  std::string reason(ry_status status, std::string message, std::uint32_t violations_before);

  library code_;
  const ry_module_v1* descriptor_ = nullptr;
  module_manifest manifest_;
  std::unique_ptr<ry_host> host_;
  registration registered_;
  void* self_ = nullptr;
  const char* hung_ = nullptr;
  std::list<std::shared_ptr<lifecycle_completion>> completions_;
};

}  // namespace ry::module
