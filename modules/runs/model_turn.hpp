// One answer of a model: the conversation brought into its window, attempts that failed closed honestly and
// tried again, other models asked when one does not answer. On the run's executor.
#pragma once
#include "answer_outcome.hpp"
#include "parts.hpp"
#include "tool_catalog.hpp"

namespace runs {

// How a model answer went.
struct turn {
  // lost: the run is no longer ours. interrupted: look at run->why().
  // unaffordable: a summary used the money up.
  enum class end { answered, interrupted, failed, lost, unaffordable } how = end::failed;
  bool open = false;      // the last attempt is shown and not yet closed: it belongs to the next border
  std::int64_t attempt = 0;
  std::string model;      // that was asked last, as configured
  outcome means = outcome::complete;  // of one that was answered
  std::int32_t finish = 0;            // RY_LLM_FINISH_*; 0: the answer did not come to its end
  std::string text;                   // empty when it is blank
  std::string reasoning;  // JSON array of what the provider wants back, or empty
  std::vector<tool_call> calls;
  token_usage usage;      // of an open attempt; closed ones are noted already and cost nothing
  std::string error;      // a sentence for the client
};

// `out` is set to the answer. `continues`: the request holds text that the answer goes on with.
ry::task<void> ask_model(parts& p, std::shared_ptr<live_run> run, catalog_ptr catalog, bool continues, turn& out);

}  // namespace runs
