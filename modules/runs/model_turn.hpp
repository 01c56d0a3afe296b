// One answer of a model: the conversation brought into its window, attempts that failed closed honestly and
// tried again, other models asked when one does not answer. On the run's executor.
#pragma once
#include "parts.hpp"
#include "tools.hpp"

namespace runs {

// How a model answer went.
struct turn {
  // lost: the run is no longer ours. interrupted: look at run->why().
  // unaffordable: attempts that failed, or a summary, used the money up.
  enum class end { answered, interrupted, failed, lost, unaffordable } how = end::failed;
  bool open = false;      // the last attempt is shown and not yet closed: it belongs to the next border
  std::int64_t attempt = 0;
  std::string model;      // that was asked last, as configured
  std::string text;
  std::string reasoning;  // JSON array of what the provider wants back, or empty
  std::vector<tool_call> calls;
  token_usage usage;      // of an open attempt; closed ones are billed already
  std::string error;      // a sentence for the client
};

// `out` is set to the answer.
ry::task<void> ask_model(parts& p, std::shared_ptr<live_run> run, catalog_ptr catalog, turn& out);

}  // namespace runs
