// Compaction: fits a run's history into a model's context window, if necessary with a summary. The summary becomes part
// of the thread, so that a worker that takes over the run sends the same history. Thread: the run's executor.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "models/providers.hpp"
#include "run/conversation.hpp"
#include "run/live_run.hpp"

namespace runs {

struct module_context;

struct selected_model {
  std::string name;  // as configured
  std::string provider_model;  // the provider's name for it
  provider_set::handle provider;
};

struct fitted {
  enum class end { fits, interrupted, lost } result = end::fits;
  std::optional<std::vector<chat_message>> shortened;  // replaces run->progress.messages, which are loaded
};

// `room` is the number of tokens available for messages.
ry::task<fitted> fit_history(module_context& p, std::shared_ptr<live_run> run, const selected_model& model,
                             std::int64_t room);

}  // namespace runs
