// Obtains one answer of a model: fits the conversation into the context window, marks failed attempts as void and
// retries them, and falls back to other models. On the run's executor.
#pragma once
#include <cstdint>
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "agent/answer_outcome.hpp"
#include "agent/conversation.hpp"
#include "agent/tools/tool_catalog.hpp"
#include "stream/live_run.hpp"

namespace runs {

struct module_context;

// The result of requesting a model answer.
struct turn {
  // lost: the run no longer belongs to this worker. interrupted: run->stop.reason() has the reason. unaffordable: a summary
  // used up the money.
  enum class end { answered, interrupted, failed, lost, unaffordable } how = end::failed;
  bool open = false;  // the last attempt is visible to clients and not closed yet: the next checkpoint closes it
  std::int64_t attempt = 0;
  std::string model;  // the model that was asked last, as configured
  outcome means = outcome::complete;  // if answered
  std::int32_t finish = 0;  // RY_LLM_FINISH_*; 0: the answer did not end normally
  std::string text;  // empty if it is only white space
  std::string reasoning;  // JSON array of blocks to return to the provider, or empty
  std::vector<tool_call> calls;
  token_usage usage;  // of an open attempt; closed attempts are recorded already and free of charge
  std::string error;  // a sentence for the client
};

// Sets `out` to the answer. `continues`: the request ends with text that the answer continues.
ry::task<void> ask_model(module_context& p, std::shared_ptr<live_run> run, catalog_ptr catalog, bool continues,
                         turn& out);

}  // namespace runs
