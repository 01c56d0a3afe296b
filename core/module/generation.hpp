// One loaded module: its library, its ry_host, and the calls of its life. Every call into the
// module passes the exception firewall, and all but health() are made on the lifecycle thread; who does not come
// back from one gets no more of them (hung()) and is to be kept for good.
#pragma once

#include <ry/abi.h>

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/module/facts.hpp"
#include "core/module/host.hpp"
#include "core/module/lifecycle_completion.hpp"
#include "core/module/library.hpp"
#include "core/module/registration.hpp"

namespace ry::module {

using steady_time = std::chrono::steady_clock::time_point;

// Threads: the one that changes modules, but health() and host().
class generation {
 public:
  // Loads, and checks the descriptor against the section and this host. Throws std::runtime_error
  // with a sentence.
  generation(runtime& rt, std::shared_ptr<const sealed_image> image, const module_facts& section,
             std::uint32_t host_minor);
  ~generation();

  const module_facts& facts() const noexcept { return facts_; }
  std::string_view config_schema() const noexcept {
    return core::sv(descriptor_->config_schema_json);
  }
  ry_host* host() const noexcept { return host_.get(); }
  const registration& registered() const noexcept { return registered_; }
  // The call that it did not come back from; nullptr: it always did.
  const char* hung() const noexcept { return hung_; }

  // What went wrong in the module's own words, or nothing when all went well.
  std::string create(const std::string& config_json);
  // What it finds wrong with its settings (ry.settings_check/1). After create().
  struct setting_fault {
    std::string key, message;
  };
  std::vector<setting_fault> check_settings();
  // A sentence, or nothing when all went well.
  std::string start();
  // Asks it to stop and waits. False: not done at the deadline.
  bool stop(steady_time deadline);
  // Wakes its timers and waits until nothing is outstanding and no loop is inside its code. Of a module that
  // has nothing outstanding busy loops are waited for beyond the deadline, ten seconds.
  // False: not at the deadline; destroy() must not be called.
  bool quiesce(steady_time deadline);
  // False: it did not come back.
  bool destroy();
  ry_status health(std::string& message) const;  // [any]

  // Tells `owner` of one of this module's drivers, or takes it back and waits (false: the owner
  // still uses it).
  void announce(const driver& d, generation& owner, const point& p);
  bool withdraw(const driver& d, generation& owner, const point& p, steady_time deadline);
  // The same without waiting: the owner completes it once it no longer uses the driver. Lives as long as the owner.
  lifecycle_completion& take_back(const driver& d, generation& owner, const point& p);
  // Gives `owner` the driver of this module in place of one of the same name; the completion is that of the old one.
  // For points that have `replaced`.
  lifecycle_completion& replace(const driver& d, generation& owner, const point& p);

  library& code() noexcept { return code_; }

 private:
  // For a call of this module's code.
  lifecycle_completion& new_completion(const char* call);
  bool pass_all_loops(steady_time deadline);
  // Lets the lifecycle thread make a call, which owns all it uses beside this object. False: it was not made, or
  // did not come back.
  bool call(const char* what, std::chrono::milliseconds limit, std::function<void()> f);
  void give_up(const char* what);
  std::string reason(ry_status status, std::string said, std::uint32_t strikes_before);

  library code_;
  const ry_module_v1* descriptor_ = nullptr;
  module_facts facts_;
  std::unique_ptr<ry_host> host_;
  registration registered_;
  void* self_ = nullptr;
  const char* hung_ = nullptr;
  std::list<std::shared_ptr<lifecycle_completion>> completions_;
};

}  // namespace ry::module
