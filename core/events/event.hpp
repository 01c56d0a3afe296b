// The implementation of the ABI handle ry_event.
#pragma once

#include <ry/if/events.h>

#include <string>
#include <utility>

#include "core/jobs/queue.hpp"
#include "core/module/host.hpp"

// One delivery of an event to one consumer: the job that carries it, and the storage of its view.
struct ry_event {
  ry_event(ry_job* job, ry::module::hold owner) : job(job), owner(std::move(owner)) {}
  ry_job* const job;
  ry::module::hold owner;
  std::string kind, key, payload;
  ry_event_view view{};
};
