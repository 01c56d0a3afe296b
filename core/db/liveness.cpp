#include "core/db/liveness.hpp"

#include <array>
#include <condition_variable>
#include <exception>

namespace ry::db {

struct liveness::question {
  const steady::time_point asked = steady::now();
  std::mutex mutex;
  std::condition_variable settled;
  std::size_t open = 0;  // statements without a result
  bool answered = false;

  void settle(bool good) {
    {
      std::lock_guard lock(mutex);
      --open;
      answered |= good;
    }
    settled.notify_all();
  }
  bool is_over() const { return answered || open == 0; }
};

namespace {

template <class Question>
class ask_task final : public task {
 public:
  explicit ask_task(std::shared_ptr<Question> q) : question_(std::move(q)) {}

  void run(connection& c) noexcept override {
    bool good = false;
    try {
      c.use_schema("core");
      c.use_timeout({});
      (void)c.exec("select 1");
      good = true;
    } catch (const std::exception&) {
      // The database is unavailable or the connection was severed. The code that detects it logs it.
    }
    question_->settle(good);
    question_.reset();
  }

 private:
  std::shared_ptr<Question> question_;
};

}  // namespace

std::shared_ptr<liveness::question> liveness::current() {
  std::lock_guard lock(mutex_);
  if (asked_) {
    std::lock_guard inner(asked_->mutex);
    if (!asked_->is_over()) return asked_;
  }
  constexpr std::array lanes{pool::kind::priority, pool::kind::normal};
  asked_ = std::make_shared<question>();
  asked_->open = lanes.size();
  for (const auto priority : lanes)
    if (!workers_.push(std::make_shared<ask_task<question>>(asked_), priority)) asked_->settle(false);
  return asked_;
}

bool liveness::answers_within(std::chrono::milliseconds limit) {
  const auto q = current();
  std::unique_lock lock(q->mutex);
  q->settled.wait_until(lock, q->asked + limit, [&] { return q->is_over(); });
  return q->answered;
}

}  // namespace ry::db
