#include "core/module/health_checks.hpp"

#include <system_error>
#include <thread>
#include <utility>

#include "core/module/latch.hpp"
#include "core/observe/log.hpp"

namespace ry::module {

using clock = std::chrono::steady_clock;

struct health_checks::asked {
  explicit asked(const question& q) : gen(q.gen), living(q.gen->host()) {}

  std::shared_ptr<module_instance> gen;
  hold living;  // released before `gen`
  const clock::time_point begun = clock::now();
  ry_status status = RY_OK;
  std::string message;
  latch back;
  bool reported = false;  // reported as slow; guarded by the mutex of health_checks
};

std::shared_ptr<health_checks::asked> health_checks::begin(const question& q) {
  const auto number = q.gen->host()->instance;
  if (const auto it = running_.find(number); it != running_.end()) {
    if (!it->second->back.is_open()) return it->second;
    running_.erase(it);
  }
  auto one = std::make_shared<asked>(q);
  try {
    std::thread([one] {
      one->status = one->gen->health(one->message);
      one->living = hold();
      one->gen.reset();
      one->back.open();
    }).detach();
  } catch (const std::system_error&) {
    one->status = RY_RESOURCE_EXHAUSTED;
    one->message = "cannot create a thread for its health check";
    one->back.open();
  }
  return running_[number] = one;
}

std::vector<module_health> health_checks::ask(const std::vector<question>& questions,
                                              std::chrono::milliseconds time_limit) {
  std::vector<std::shared_ptr<asked>> all;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(running_, [](const auto& one) { return one.second->back.is_open(); });
    for (const auto& q : questions) all.push_back(begin(q));
  }
  const auto until = clock::now() + time_limit;
  std::vector<module_health> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    asked& one = *all[i];
    if (one.back.wait_until(until)) {
      out.push_back({questions[i].module, one.status, one.message});
      continue;
    }
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - one.begun).count();
    out.push_back({questions[i].module, RY_DEADLINE_EXCEEDED,
                   "its health check has not answered for " + std::to_string(ms) + " ms"});
    std::lock_guard lock(mutex_);
    if (std::exchange(one.reported, true)) continue;
    questions[i].gen->host()->slow_callbacks.fetch_add(1, std::memory_order_relaxed);
    observe::log(observe::level::warn, questions[i].module, "health() does not return; the module counts as degraded",
                 {{"ms", std::to_string(ms)}});
  }
  return out;
}

}  // namespace ry::module
