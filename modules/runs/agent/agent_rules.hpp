// The rules that a run's start and its agent add to the operator's policy for tool calls. Thread: the run's executor.
#pragma once
#include <memory>
#include <ry/ry.hpp>

#include "run/live_run.hpp"

namespace runs {

struct module_context;

// Reads the rules of the agent, in the version of the run and in its current version, and sets the run's added_rules. Both
// versions apply, so a change of the agent makes the policy of its runs only stricter. Throws ry::error if the agent
// cannot be read.
ry::task<void> read_agent_rules(module_context& p, std::shared_ptr<live_run> run);

}  // namespace runs
