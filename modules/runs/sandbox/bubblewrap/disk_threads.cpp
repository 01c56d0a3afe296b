#include "disk_threads.hpp"

#include <time.h>

#include <memory>
#include <ry/cpp/trace.hpp>
#include <utility>

namespace bubblewrap {

struct disk_threads::job {
  disk_threads* owner;
  ry_exec* exec;
  ry_call_fn work;
  void* arg;
  ry_done done;
  ry::trace trace;  // of the caller, restored for the completion
};

ry_status disk_threads::run(const std::string& account, ry_exec* exec, ry_call_fn work, void* arg, ry_done done) {
  {
    // Counted before the mutex is unlocked, so that close() waits for it.
    std::lock_guard lock(mutex_);
    if (!closed_) {
      const auto j = std::make_shared<std::unique_ptr<job>>(
          std::make_unique<job>(job{this, exec, work, arg, done, ry::trace::current(ctx_)}));
      const bool submitted = pool_.submit(account, [this, j] {
        job* own = j->release();
        own->work(own->arg);
        // The completion must not be lost, so this retries until there is memory for the post.
        constexpr timespec one_ms{0, 1'000'000};
        while (ctx_.core().exec_post(ctx_.host(), own->exec, &disk_threads::finish, own) != RY_OK)
          ::nanosleep(&one_ms, nullptr);
      });
      if (submitted) {
        ++pending_;
        return RY_OK;
      }
    }
  }
  return ctx_.core().run_blocking(ctx_.host(), exec, work, arg, done);
}

void disk_threads::finish(void* j) noexcept {
  const std::unique_ptr<job> own(static_cast<job*>(j));
  disk_threads& owner = *own->owner;
  {
    const ry::trace_switch during(owner.ctx_, own->trace);
    own->done.fn(own->done.ctx, RY_OK, nullptr);
  }
  std::lock_guard lock(owner.mutex_);
  --owner.pending_;
  owner.finished_.notify_all();
}

void disk_threads::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  finished_.wait(lock, [this] { return pending_ == 0; });
}

}  // namespace bubblewrap
