// Shared objects of the module: host, settings, drivers, services, live runs. Constructed with the module and constant
// after start(); each member is responsible for its own thread safety. Used by the module and by classes that need many
// of the members; all other classes receive only the objects that they use.
#pragma once
#include <ry/ry.hpp>

#include "models/providers.hpp"
#include "models/sink_guards.hpp"
#include "run/event_log_writer.hpp"
#include "run/live_run.hpp"
#include "run_metrics.hpp"
#include "ry/ext/agent_tools.h"
#include "ry/svc/accounts.h"
#include "ry/svc/agents.h"
#include "settings/settings.hpp"
#include "start/placement.hpp"
#include "start/start_queue.hpp"
#include "store/account_locks.hpp"
#include "store/checkpoint_batcher.hpp"
#include "store/repository.hpp"
#include "workspace/command_semaphore.hpp"
#include "workspace/extractor.hpp"
#include "workspace/image_cache.hpp"
#include "workspace/run_workspace.hpp"
#include "workspace/sandbox_drivers.hpp"
#include "workspace/workspace_quota.hpp"
#include "workspace/workspace_store.hpp"

namespace runs {

struct module_context {
  module_context(ry::context& ctx, settings s)
      : ctx(ctx),
        config(std::move(s)),
        metrics(ctx, config),
        providers(config),
        sinks(ctx),
        sandboxes(config),
        extract(config, sandboxes),
        repo(ctx),
        starts(ctx, repo, locks),
        checkpoints(ctx, repo, locks),
        workspaces(ctx, config),
        quota(ctx, config, accounts, workspaces),
        files(ctx, repo, sandboxes, workspaces, quota),
        live(metrics.live),
        writers(ctx, repo, config.drain_seconds * 1'000'000),
        run_placement(ctx, repo, config, live, metrics),
        commands(ctx, config.sandboxes, config.account_sandboxes),
        images(static_cast<std::size_t>(config.image_cache_bytes)) {}

  ry::context& ctx;
  const settings config;
  const run_metrics metrics;
  provider_set providers;
  sink_guards sinks;
  ry::drivers<ry_agent_tools_v1> tool_sources;
  sandbox_drivers sandboxes;
  ry::service<ry_accounts_v1> accounts;
  ry::service<ry_agents_v1> agents;
  std::string node_id;
  extractor extract;
  repository repo;
  account_locks locks;
  start_queue starts;
  checkpoint_batcher checkpoints;
  workspace_store workspaces;
  workspace_quota quota;
  run_workspace files;
  registry live;
  event_log_writers writers;
  placement run_placement;
  command_semaphore commands;
  image_cache images;
};

}  // namespace runs
