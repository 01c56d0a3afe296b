// A border of a run: what has happened since the last one becomes durable in one statement. On the run's
// executor.
#pragma once
#include "parts.hpp"

namespace runs {

inline constexpr std::int64_t reserve_window = 32;  // numbers that may be delivered before the next border

// Tokens that were written into a cache are told when there are any, as runs.terminal_payload does it.
std::string usage_json(const token_usage& u);
// The event that tells readers what of a model request was left out or changed.
void append_notice(live_run& run, std::string_view code, std::string_view message);

// Notes what a model took and said, and what of it is charged with the next border, once.
void bill(live_run& run, const token_usage& usage, std::int64_t micro);
// Warns of a soft budget that what was billed since the last border has used up.
void warn_of_budget(live_run& run);
// What the run's budget and its account's balance say to the next step. What was billed and not yet charged
// counts.
money_says may_spend(const parts& p, const live_run& run, spending_step step);

// Persists what was appended since hold() and what was billed, with the rest of the record, as often as it
// takes. Sets the run's balance. not_ours: the run ended, or belongs to another worker. Throws ry::error
// when the database refuses for good.
enum class stored { yes, not_ours };
ry::task<stored> persist(parts& p, std::shared_ptr<live_run> run, step_record what);

}  // namespace runs
