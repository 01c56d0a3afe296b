// Compaction: fits a run's history into a model's context window, if necessary with a summary. The summary becomes part
// of the thread, so that a worker that takes the run over sends the same history. On the run's executor.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "agent/conversation.hpp"
#include "models/providers.hpp"
#include "stream/live_run.hpp"

namespace runs {

struct module_context;

struct model_choice_in_use {
  std::string name;  // as configured
  std::string model;  // the provider's own name
  provider_set::handle provider;
};

struct fitted {
  enum class end { fits, interrupted, lost } how = end::fits;
  std::optional<std::vector<chat_message>> shortened;  // replaces run->progress.messages, which are loaded
};

// room: tokens available for messages.
ry::task<fitted> fit_history(module_context& p, std::shared_ptr<live_run> run, const model_choice_in_use& by,
                             std::int64_t room);

}  // namespace runs
