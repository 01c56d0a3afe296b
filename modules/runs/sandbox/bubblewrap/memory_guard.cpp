#include "memory_guard.hpp"

#include "command_metrics.hpp"

namespace bubblewrap {

memory_guard::memory_guard(const ry::context& ctx, std::uint64_t reserve_bytes)
    : ctx_(ctx), reserve_(reserve_bytes), watch_(reserve_, [this](const memory_state& now) { observe(now); }) {
  available_bytes_ =
      ctx.metrics().gauge("memory_available_bytes", "Available memory of the machine, as of the last command");
  refused_ = refused_counter(ctx, "machine_memory");
  command_ = ended_counter(ctx, "memory");
  machine_ = ended_counter(ctx, "machine_memory");
}

void memory_guard::start() {
  const memory_state now = reserve_.current_state();
  if (now.available_bytes != UINT64_MAX) return observe(now);
  if (reserve_.enabled())
    ctx_.warn("sandbox_bubblewrap.min_available_mb has no effect: /proc/meminfo of this machine has no MemAvailable");
}

void memory_guard::observe(const memory_state& now) noexcept {
  if (now.available_bytes == UINT64_MAX) return;
  available_bytes_.set(static_cast<double>(now.available_bytes));
  if (now.enough || !warnings_.due()) return;
  (void)ry::guard([&] {
    ctx_.warn(
        "the machine is nearly out of memory: commands are terminated and refused until memory "
        "is freed or sandbox_bubblewrap.min_available_mb is lowered",
        {{"available_mb", now.available_bytes >> 20}});
  });
}

bool memory_guard::check_reserve() {
  const memory_state now = reserve_.current_state();
  observe(now);
  if (!now.enough) refused_.add();
  return now.enough;
}

void memory_guard::count(memory_verdict found) const {
  switch (found) {
    case memory_verdict::none:
      return;
    case memory_verdict::command:
    case memory_verdict::account:
      return command_.add();
    case memory_verdict::node:
      return machine_.add();
  }
}

}  // namespace bubblewrap
