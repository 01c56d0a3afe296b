#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string_view>

#include "core/module/abi.hpp"
#include "core/module/description.hpp"
#include "core/module/pattern.hpp"
#include "core/module/staging.hpp"
#include "core/module/text.hpp"

namespace ry::module {

namespace {

constexpr std::size_t max_items = 10'000;
constexpr std::size_t max_sql = 16 * 1024 * 1024;
constexpr std::size_t max_openapi = 1024 * 1024;
constexpr std::size_t max_descriptions = 100;
constexpr std::uint32_t route_flags =
    RY_ROUTE_PUBLIC | RY_ROUTE_ADMIN | RY_ROUTE_STREAM_BODY | RY_ROUTE_QUERY_TOKEN | RY_ROUTE_LONG | RY_ROUTE_NO_PREFIX;

// Thrown to reject a registration; becomes a status for the module and a message in the report.
struct refusal {
  ry_status status;
  std::string message;
};

[[noreturn]] void reject_registration(std::string message, ry_status status = RY_INVALID_ARGUMENT) {
  throw refusal{status, std::move(message)};
}

// Copies a struct that may be shorter or longer in the module's headers than in ours: missing members are zero, extra
// members are ignored. `least` is the end of the members that every version has.
template <class T>
T taken(const T* in, std::size_t least, const char* what) {
  if (!in) reject_registration(std::string(what) + " is NULL");
  if (in->struct_size < least || in->struct_size > 4096)
    reject_registration(std::string(what) + " has a struct_size of " + std::to_string(in->struct_size) +
                        ", which is not possible");
  T out{};
  std::memcpy(&out, in, std::min<std::size_t>(in->struct_size, sizeof out));
  return out;
}

std::string text(ry_str s, std::size_t most, const std::string& what) {
  if (s.len && !s.ptr) reject_registration(what + " has a length but no bytes");
  if (s.len > most) reject_registration(what + " is longer than " + std::to_string(most) + " bytes");
  return core::str(s);
}

void check_flags(std::uint32_t flags, std::uint32_t known, const std::string& what) {
  if (flags & ~known)
    reject_registration(what + " sets flags that this host does not support (" + std::to_string(flags & ~known) + ")");
}

// [a-z][a-z0-9_]*, plus the characters in `also`.
bool is_word(std::string_view s, std::string_view also = "") {
  if (s.empty() || s.size() > 100 || s[0] < 'a' || s[0] > 'z') return false;
  return std::all_of(s.begin(), s.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || also.find(c) != std::string_view::npos;
  });
}

template <class List>
void check_room(const List& list, const char* what) {
  if (list.size() >= max_items) reject_registration(std::string("too many ") + what, RY_RESOURCE_EXHAUSTED);
}

void stage_route(ry_registrar& r, const ry_route* in) {
  const ry_route v = taken(in, offsetof(ry_route, max_body), "a route");
  route out;
  out.owner = r.host;
  out.method = text(v.method, 16, "the method of a route");
  if (!known_method(out.method)) reject_registration("the method " + in_quotes(out.method) + " is not known");
  const std::string name = text(v.pattern, 512, "the pattern of a route");
  try {
    out.pattern = pattern(name).text();
  } catch (const std::invalid_argument& e) {
    reject_registration(e.what());
  }
  const std::string what = "route " + out.method + " " + out.pattern;
  out.flags = v.flags;
  check_flags(v.flags, route_flags, what);
  if ((v.flags & RY_ROUTE_PUBLIC) && (v.flags & RY_ROUTE_ADMIN))
    reject_registration(what + " is both public and for admins");
  if (!v.handle) reject_registration(what + " has no handler");
  out.handle = v.handle;
  out.ctx = v.ctx;
  out.max_body = v.max_body;
  out.timeout_ms = v.timeout_ms;
  out.openapi_json = text(v.openapi_json, max_openapi, "the OpenAPI text of " + what);
  if (!out.openapi_json.empty()) {
    if (!parsed_description(out.openapi_json))
      reject_registration("the OpenAPI text of " + what + " is not a JSON object");
  }
  for (const auto& before : r.staged.routes)
    if (before.method == out.method && ((before.flags ^ out.flags) & RY_ROUTE_NO_PREFIX) == 0 &&
        compare(pattern(before.pattern), pattern(out.pattern)) == overlap::same)
      reject_registration(what + " is registered twice (also as " + before.pattern + ")", RY_ALREADY_EXISTS);
  check_room(r.staged.routes, "routes");
  r.staged.routes.push_back(std::move(out));
}

// The leading digits, which must increase from migration to migration.
std::string_view migration_number(std::string_view id) {
  const auto end = id.find_first_not_of("0123456789");
  return id.substr(0, end);
}

void stage_migration(ry_registrar& r, const ry_migration* in) {
  const ry_migration v = taken(in, sizeof(ry_migration), "a migration");
  migration out;
  out.id = text(v.id, 100, "the id of a migration");
  const std::string_view number = migration_number(out.id);
  if (number.size() < 4 || number.size() > 9 || out.id.size() < number.size() + 2 || out.id[number.size()] != '_' ||
      !is_word(out.id.substr(number.size() + 1)))
    reject_registration("the migration id " + in_quotes(out.id) + " does not look like \"0001_init\"");
  const std::string what = "migration " + out.id;
  out.flags = v.flags;
  check_flags(v.flags, RY_MIGRATION_NO_TX | RY_MIGRATION_COMPATIBLE | RY_MIGRATION_REPEATABLE, what);
  out.up_sql = text(v.up_sql, max_sql, "the SQL of " + what);
  if (out.up_sql.find_first_not_of(" \t\r\n") == std::string::npos) reject_registration(what + " has no SQL");
  if (out.up_sql.find('\0') != std::string::npos) reject_registration("the SQL of " + what + " contains a NUL byte");
  if (!r.staged.migrations.empty()) {
    const auto& last = r.staged.migrations.back().id;
    if (std::stoul(std::string(migration_number(last))) >= std::stoul(std::string(number)))
      reject_registration(what + " comes after " + last + ", but ids must increase");
  }
  check_room(r.staged.migrations, "migrations");
  r.staged.migrations.push_back(std::move(out));
}

void stage_job(ry_registrar& r, const ry_job_kind* in) {
  const ry_job_kind v = taken(in, offsetof(ry_job_kind, max_attempts), "a job kind");
  job_kind out;
  out.owner = r.host;
  out.kind = text(v.kind, 100, "the name of a job kind");
  if (!out.kind.starts_with(r.manifest.name + ".") ||
      !is_word(std::string_view(out.kind).substr(r.manifest.name.size() + 1), "."))
    reject_registration("the job kind " + in_quotes(out.kind) + " is not \"" + r.manifest.name + ".\" and a word");
  const std::string what = "job kind " + out.kind;
  check_flags(v.flags, 0, what);
  out.queue = text(v.queue, 100, "the queue of " + what);
  if (out.queue.empty()) out.queue = "default";
  if (!is_word(out.queue, ".-"))
    reject_registration("the queue " + in_quotes(out.queue) + " of " + what + " is not a word");
  out.cron = text(v.cron, 200, "the schedule of " + what);
  if (std::any_of(out.cron.begin(), out.cron.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
    reject_registration("the schedule of " + what + " contains control characters");
  if (!v.run) reject_registration(what + " has no function");
  out.run = v.run;
  out.ctx = v.ctx;
  if (v.max_attempts) out.max_attempts = v.max_attempts;
  if (v.concurrency) out.concurrency = v.concurrency;
  if (v.timeout_ms) out.timeout_ms = v.timeout_ms;
  if (v.backoff_ms) out.backoff_ms = v.backoff_ms;
  for (const auto& before : r.staged.jobs)
    if (before.kind == out.kind) reject_registration(what + " is registered twice", RY_ALREADY_EXISTS);
  check_room(r.staged.jobs, "job kinds");
  r.staged.jobs.push_back(std::move(out));
}

std::vector<std::string> event_kinds(const std::string& list, const std::string& what) {
  std::vector<std::string> out;
  std::string_view left = list;
  for (;;) {
    const auto comma = left.find(',');
    const std::string_view one = left.substr(0, comma);
    std::string_view words = one;
    if (words.ends_with(".*")) words.remove_suffix(2);
    if (!is_word(words, ".") || words.ends_with('.'))
      reject_registration("the event kind " + in_quotes(one) + " of " + what +
                          " is neither a kind nor a prefix that ends in \".*\"");
    out.emplace_back(one);
    if (comma == std::string_view::npos) return out;
    left.remove_prefix(comma + 1);
  }
}

void stage_consumer(ry_registrar& r, const ry_event_consumer* in) {
  const ry_event_consumer v = taken(in, sizeof(ry_event_consumer), "an event consumer");
  consumer out;
  out.owner = r.host;
  out.name = text(v.name, 100, "the name of an event consumer");
  if (!is_word(out.name, ".-")) reject_registration("the consumer name " + in_quotes(out.name) + " is not a word");
  const std::string what = "event consumer " + out.name;
  check_flags(v.flags, 0, what);
  out.kinds = event_kinds(text(v.kinds, 4096, "the kinds of " + what), what);
  if (!v.handle) reject_registration(what + " has no handler");
  out.handle = v.handle;
  out.ctx = v.ctx;
  for (const auto& before : r.staged.consumers)
    if (before.name == out.name) reject_registration(what + " is registered twice", RY_ALREADY_EXISTS);
  check_room(r.staged.consumers, "event consumers");
  r.staged.consumers.push_back(std::move(out));
}

// Rejects ids that the descriptor does not promise, and duplicates.
void check_promised(const ry_registrar& r, const std::string& id) {
  if (std::find(r.manifest.provides.begin(), r.manifest.provides.end(), id) == r.manifest.provides.end())
    reject_registration(in_quotes(id) + " is not listed in `provides` of the module's descriptor");
  const auto same = [&](const auto& s) { return s.id == id; };
  if (std::any_of(r.staged.services.begin(), r.staged.services.end(), same) ||
      std::any_of(r.staged.points.begin(), r.staged.points.end(), same))
    reject_registration(in_quotes(id) + " is provided twice", RY_ALREADY_EXISTS);
}

void check_table(const void* table, const std::string& what) {
  if (!table) reject_registration(what + " has no table");
  if (*static_cast<const std::uint32_t*>(table) < sizeof(std::uint32_t))
    reject_registration("the table of " + what + " does not begin with its struct_size");
}

void stage_service(ry_registrar& r, ry_str id, const void* table, void* self) {
  service out{text(id, 100, "the id of a service"), table, self};
  check_promised(r, out.id);
  check_table(table, "service " + out.id);
  r.staged.services.push_back(std::move(out));
}

void stage_point(ry_registrar& r, const ry_point* in) {
  const ry_point v = taken(in, offsetof(ry_point, replaced), "an extension point");
  point out{text(v.id, 100, "the id of an extension point"), v.min_size, v.added, v.removed, v.ctx, v.replaced};
  check_promised(r, out.id);
  if (!v.added || !v.removed) reject_registration("extension point " + out.id + " lacks a function");
  r.staged.points.push_back(std::move(out));
}

void stage_driver(ry_registrar& r, ry_str point_id, ry_str name, const void* table, void* self) {
  driver out{text(point_id, 100, "the point of a driver"), text(name, 63, "the name of a driver"), table, self};
  if (!is_word(out.name, "-.")) reject_registration("the driver name " + in_quotes(out.name) + " is not a word");
  const std::string what = "driver " + out.name + " for " + out.point;
  if (std::none_of(r.manifest.needs.begin(), r.manifest.needs.end(), [&](const auto& n) { return n.id == out.point; }))
    reject_registration(what + ": that extension point is not listed in `needs` of the module's descriptor");
  check_table(table, what);
  for (const auto& before : r.staged.drivers)
    if (before.point == out.point && before.name == out.name)
      reject_registration(what + " is contributed twice", RY_ALREADY_EXISTS);
  check_room(r.staged.drivers, "drivers");
  r.staged.drivers.push_back(std::move(out));
}

void stage_description(ry_registrar& r, ry_str openapi_json) {
  std::string json = text(openapi_json, max_openapi, "a description");
  if (const auto problem = description_fault(json); !problem.empty()) reject_registration("a description " + problem);
  if (r.staged.descriptions.size() >= max_descriptions)
    reject_registration("too many descriptions", RY_RESOURCE_EXHAUSTED);
  r.staged.descriptions.push_back(std::move(json));
}

// Runs one staging call, turns its rejection into a status, and keeps the message for the report.
template <class Stage>
ry_status staged(ry_registrar* r, Stage&& stage) noexcept {
  if (!r) return RY_INVALID_ARGUMENT;
  if (r->thread != std::this_thread::get_id()) return RY_FAILED_PRECONDITION;
  try {
    stage(*r);
    return RY_OK;
  } catch (const refusal& no) {
    if (r->problem.empty()) r->problem = no.message;
    return no.status;
  } catch (const std::exception& e) {
    if (r->problem.empty()) r->problem = e.what();
    return RY_INTERNAL;
  }
}

}  // namespace

const ry_registrar_v1& registrar_v1() noexcept {
  static constexpr ry_registrar_v1 table = {
      sizeof(ry_registrar_v1),
      0,
      [](ry_registrar* r, const ry_route* v) noexcept {
        return staged(r, [&](ry_registrar& to) { stage_route(to, v); });
      },
      [](ry_registrar* r, const ry_migration* v) noexcept {
        return staged(r, [&](ry_registrar& to) { stage_migration(to, v); });
      },
      [](ry_registrar* r, const ry_job_kind* v) noexcept {
        return staged(r, [&](ry_registrar& to) { stage_job(to, v); });
      },
      [](ry_registrar* r, const ry_event_consumer* v) noexcept {
        return staged(r, [&](ry_registrar& to) { stage_consumer(to, v); });
      },
      [](ry_registrar* r, ry_str id, const void* table, void* self) noexcept {
        return staged(r, [&](ry_registrar& to) { stage_service(to, id, table, self); });
      },
      [](ry_registrar* r, const ry_point* v) noexcept {
        return staged(r, [&](ry_registrar& to) { stage_point(to, v); });
      },
      [](ry_registrar* r, ry_str point, ry_str name, const void* table, void* self) noexcept {
        return staged(r, [&](ry_registrar& to) { stage_driver(to, point, name, table, self); });
      },
      [](ry_registrar* r, ry_str openapi_json) noexcept {
        return staged(r, [&](ry_registrar& to) { stage_description(to, openapi_json); });
      }};
  return table;
}

}  // namespace ry::module
