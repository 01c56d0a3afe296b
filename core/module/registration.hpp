// What modules register, as plain data. ry.registrar/1 stages it during create(); it is validated together and then
// passed to the components that serve it (routes to http, migrations to db, ...).
#pragma once

#include <ry/if/registrar.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/module/host.hpp"

namespace ry::module {

struct route {
  ry_host* owner = nullptr;
  std::uint32_t flags = 0;  // RY_ROUTE_*
  std::string method, pattern;
  ry_handler_fn handle = nullptr;
  void* ctx = nullptr;
  std::uint64_t max_body = 0, timeout_ms = 0;
  std::string openapi_json;
};

struct migration {
  std::string id, up_sql;
  std::uint32_t flags = 0;  // RY_MIGRATION_*
};

struct job_kind {
  ry_host* owner = nullptr;
  std::string kind, queue, cron;
  ry_job_fn run = nullptr;
  void* ctx = nullptr;
  std::uint32_t max_attempts = 20, concurrency = 10;
  std::uint64_t timeout_ms = 600'000, backoff_ms = 1000;  // timeout UINT64_MAX: none
};

struct consumer {
  ry_host* owner = nullptr;
  std::string name;
  std::vector<std::string> kinds;  // exact, or a prefix that ends in ".*"
  ry_event_fn handle = nullptr;
  void* ctx = nullptr;
};

struct service {
  std::string id;
  const void* table = nullptr;
  void* self = nullptr;
};

struct point {
  std::string id;
  std::uint32_t min_size = 0;
  decltype(ry_point::added) added = nullptr;
  decltype(ry_point::removed) removed = nullptr;
  void* ctx = nullptr;
  decltype(ry_point::replaced) replaced = nullptr;  // null: removed, then added
};

struct driver {
  std::string point, name;
  const void* table = nullptr;
  void* self = nullptr;
};

// Everything that one module instance registered.
struct registration {
  std::vector<route> routes;
  std::vector<migration> migrations;
  std::vector<job_kind> jobs;
  std::vector<consumer> consumers;
  std::vector<service> services;
  std::vector<point> points;
  std::vector<driver> drivers;
  std::vector<std::string> descriptions;  // OpenAPI objects, see core/module/description.hpp
};

}  // namespace ry::module
