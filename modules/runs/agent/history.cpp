#include "agent/history.hpp"

#include <algorithm>

#include "store/transient_error.hpp"
namespace runs {
namespace {
constexpr std::size_t max_kept_bytes = 2 * 1024;
}  // namespace

ry::task<loaded> load_history(const ry::context& ctx, const repository& repo, std::shared_ptr<live_run> run) {
  if (run->progress.messages_known) co_return loaded::yes;
  ry::result<ry::rows> rows{ry::error(RY_UNKNOWN)};
  for (std::uint64_t delay_ms = 100;; delay_ms = std::min<std::uint64_t>(delay_ms * 2, 5000)) {
    rows = co_await repo.conversation(run->who.thread);
    if (rows || !is_transient(rows.error())) break;
    if (run->stop.reason() != 0) co_return loaded::interrupted;
    (void)co_await ctx.sleep(delay_ms);
  }
  const std::string id = run->who.run.to_string();
  std::vector<chat_message>& all = run->progress.messages;
  all.clear();
  for (const ry::row row : rows.value())
    all.push_back({std::string(row.text(0)), std::string(row.text(1)),
                   row.text(2) == id ? belongs::to_this_run : belongs::to_an_earlier_run, row.int64(3)});
  // The last summary replaces all earlier messages and includes older summaries, so it comes first.
  const auto is_summary = [](const chat_message& m) { return m.role == "summary"; };
  if (const auto last = std::find_if(all.rbegin(), all.rend(), is_summary); last != all.rend()) {
    const chat_message summary = *last;
    std::erase_if(all, is_summary);
    all.insert(all.begin(), summary);
  }
  run->progress.messages_known = true;
  if (!run->progress.loops_known) {
    run->progress.loops.read(all);
    run->progress.loops_known = true;
  }
  co_return loaded::yes;
}

void append_to_history(live_run& run, std::string role, std::string body) {
  if (!run.progress.messages_known) return;
  run.progress.messages.push_back({std::move(role), std::move(body), belongs::to_this_run, 0});
}

void release_history(live_run& run) {
  std::size_t bytes = 0;
  for (const chat_message& m : run.progress.messages) bytes += m.body.size();
  if (bytes <= max_kept_bytes) return;
  ry::give_back(run.progress.messages);
  run.progress.messages_known = false;
}

}  // namespace runs
