// Obtains one answer of a model: fits the conversation into the context window, reports failed attempts as aborted,
// retries them, and falls back to other models. Thread: the run's executor.
#pragma once
#include <cstdint>
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "agent/answer_outcome.hpp"
#include "agent/tools/tool_catalog.hpp"
#include "run/conversation.hpp"
#include "run/live_run.hpp"

namespace runs {

struct module_context;

// The result of requesting a model answer.
struct turn {
  // lost: the run no longer belongs to this worker. interrupted: run->stop.reason() has the reason. unaffordable: a
  // summary used up the budget or the credits.
  enum class end { answered, interrupted, failed, lost, unaffordable } result = end::failed;
  bool open = false;  // clients have seen the last attempt, and the next checkpoint must close it
  std::int64_t attempt = 0;
  std::string model;  // the model that was asked last, as configured
  outcome meaning = outcome::complete;  // if answered
  std::int32_t finish = 0;  // RY_LLM_FINISH_*; 0: the answer did not end normally
  std::string text;  // empty if it is only white space
  std::string reasoning;  // JSON array of blocks to return to the provider, or empty
  std::vector<tool_call> calls;
  token_usage usage;  // of an open attempt; closed attempts are already recorded and free of charge
  std::string error;  // the error message for clients
};

// Sets `out` to the answer. `continues`: the answer continues the text at the end of the request.
ry::task<void> ask_model(module_context& p, std::shared_ptr<live_run> run, catalog_ptr catalog, bool continues,
                         turn& out);

}  // namespace runs
