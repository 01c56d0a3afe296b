// The scope of a run for agent.tools/1 sources.
#pragma once
#include <string>

#include "run/live_run.hpp"
#include "ry/ext/agent_tools.h"

namespace runs {

// The scope of a run in the form of agent.tools/1, with the texts that it refers to.
struct scope_texts {
  explicit scope_texts(const live_run& run)
      : account(run.who.account.to_string()),
        agent(run.who.agent.to_string()),
        project(run.who.project.to_string()),
        thread(run.who.thread.to_string()),
        id(run.who.run.to_string()) {
    scope.struct_size = sizeof scope;
    scope.agent_version = run.who.agent_version;
    scope.account_id = ry::str(account);
    scope.agent_id = ry::str(agent);
    scope.project_id = ry::str(project);
    scope.thread_id = ry::str(thread);
    scope.run_id = ry::str(id);
    scope.flags = run.progress.had_worker ? RY_TOOLS_RESUMED : 0;
  }
  std::string account, agent, project, thread, id;
  ry_tools_scope scope{};
};

}  // namespace runs
