// Checkpoints of a run: one statement commits everything since the last checkpoint. Thread: the run's executor.
#pragma once
#include <cstdint>
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "run/live_run.hpp"
#include "settings/settings.hpp"
#include "store/checkpoint_batcher.hpp"
#include "types/budget.hpp"

namespace runs {

inline constexpr std::int64_t reserve_window = 32;  // events that may be delivered before the next checkpoint

// Includes the tokens written to the provider's cache if there are any, like runs.terminal_payload.
std::string usage_json(const token_usage& u);
// Appends the event that tells clients which part of a model request was skipped or changed.
void append_notice(live_run& run, std::string_view code, std::string_view message);

// Records the usage of an answer and its charge; the next checkpoint charges it once.
void bill(live_run& run, const token_usage& usage, std::int64_t micro);
// Warns clients if the usage since the last checkpoint exceeded a soft budget.
void warn_about_budget(live_run& run);
// Whether the run's budget and its account's balance allow the next step. Includes recorded charges that are not
// committed yet.
budget_verdict may_spend(const settings& config, const live_run& run, spending_step step);

// Commits the events since hold(), the charges and the rest of the record; retries while the database is unavailable.
// Sets the run's balance. not_ours: the run has ended, or belongs to another worker. prompts: the record would complete the
// run, but prompts have joined it; nothing was written, and the events are still held back. Throws ry::error on a permanent
// database error.
enum class stored { yes, not_ours, prompts };
ry::task<stored> persist(const ry::context& ctx, checkpoint_batcher& checkpoints, std::shared_ptr<live_run> run,
                         step_record content);
// As above; the caller can change the record and use it again after stored::prompts.
ry::task<stored> persist(const ry::context& ctx, checkpoint_batcher& checkpoints, std::shared_ptr<live_run> run,
                         std::shared_ptr<step_record> content);

}  // namespace runs
