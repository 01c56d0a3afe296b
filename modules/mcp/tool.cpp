#include "tool.hpp"

#include <sodium.h>

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <ry/cpp/types.hpp>

#include "fingerprint.hpp"
#include "text.hpp"

namespace mcp {
namespace {

constexpr std::size_t max_tool_name = 256;
constexpr std::size_t max_skipped = 100;

// Hash of a value as JSON text; empty if the text is longer than `max_bytes`.
std::string hash_of(const json::value& v, std::size_t max_bytes) {
  crypto_generichash_state state;
  unsigned char digest[16];
  crypto_generichash_init(&state, nullptr, 0, sizeof digest);
  json::serializer text;
  text.reset(&v);
  char piece[4096];
  for (std::size_t size = 0; !text.done();) {
    const auto part = text.read(piece, sizeof piece);
    size += part.size();
    if (size > max_bytes) return {};
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  }
  crypto_generichash_final(&state, digest, sizeof digest);
  char hex[2 * sizeof digest + 1];
  sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
  return hex;
}

// Approximate memory use of a value, which may be much larger than its text.
std::size_t memory_of(const json::value& v) {
  std::size_t n = sizeof v;
  if (const auto* s = v.if_string()) n += s->size();
  if (const auto* a = v.if_array()) {
    for (const auto& each : *a) n += memory_of(each);
  }
  if (const auto* o = v.if_object()) {
    for (const auto& each : *o) n += sizeof each + each.key().size() + memory_of(each.value());
  }
  return n;
}

bool has_hint(const json::object* annotations, std::string_view key) {
  const auto* v = annotations != nullptr ? annotations->if_contains(jv(key)) : nullptr;
  return v != nullptr && v->is_bool() && v->get_bool();
}

// MCP Apps: a tool can be intended for the user interface only.
bool hidden_from_models(const json::object& tool) {
  const auto* meta = object_at(tool, "_meta");
  const auto* ui = meta != nullptr ? object_at(*meta, "ui") : nullptr;
  const auto* visibility = ui != nullptr ? array_at(*ui, "visibility") : nullptr;
  return visibility != nullptr && !visibility->empty() &&
         std::none_of(visibility->begin(), visibility->end(),
                      [](const auto& v) { return v.is_string() && v.get_string() == "model"; });
}

}  // namespace

const tool* tool_list::find(std::string_view name) const noexcept {
  const auto at =
      std::lower_bound(tools.begin(), tools.end(), name, [](const tool& t, std::string_view n) { return t.name < n; });
  return at != tools.end() && at->name == name ? &*at : nullptr;
}

tool_collector::tool_collector(tool_limits limits)
    : limits_(limits), memory_(json::make_shared_resource<json::monotonic_resource>(4096)) {}

std::optional<std::string> tool_collector::add_page(const json::value& result) {
  const auto* o = result.if_object();
  const auto* tools = o != nullptr ? array_at(*o, "tools") : nullptr;
  if (tools == nullptr) {
    throw ry::error(RY_DATA_LOSS, "mcp.malformed", "answered tools/list without a list of tools");
  }
  for (const auto& each : *tools) add(each);
  const auto* ttl = o->if_contains("ttlMs");
  if (ttl != nullptr && ttl->is_int64() && ttl->get_int64() >= 0) {
    // The shortest ttlMs of all pages applies to the list.
    list_.ttl_ms = std::min(list_.ttl_ms.value_or(INT64_MAX), ttl->get_int64());
  }
  const auto* next = o->if_contains("nextCursor");
  if (next == nullptr || !next->is_string()) return std::nullopt;
  const std::string cursor(sv(next->get_string()));
  if (++pages_ >= limits_.pages || full_ || std::find(cursors_.begin(), cursors_.end(), cursor) != cursors_.end()) {
    list_.skipped.push_back("further pages: the list does not end");
    return std::nullopt;
  }
  cursors_.push_back(cursor);
  return cursor;
}

void tool_collector::add(const json::value& v) {
  const auto* o = v.if_object();
  std::string name = o != nullptr ? text_of(*o, "name") : std::string();
  const auto skip = [&](const std::string& reason) {
    if (list_.skipped.size() < max_skipped) {
      list_.skipped.push_back((name.empty() ? "(no name)" : without_hidden(truncated(name, max_tool_name))) + ": " +
                              reason);
    }
  };
  if (o == nullptr || name.empty()) return skip("it has no name");
  if (name.size() > max_tool_name) return skip("its name is too long");
  // A user who approves a tool must be able to identify it by its name.
  if (has_hidden(name)) return skip("its name has control or invisible characters");
  if (list_.tools.size() >= limits_.tools) {
    full_ = true;
    return skip("there are too many tools");
  }
  const auto as_task = task_support_of(*o);
  if (as_task == task_support::required && !limits_.task_calls) {
    return skip("it can only be called as a task, and the server or its configuration offers no tasks");
  }
  if (hidden_from_models(*o)) return skip("it is for user interfaces only (_meta.ui.visibility)");
  const auto* schema = o->if_contains("inputSchema");
  if (schema == nullptr || !schema->is_object()) return skip("it has no input schema");
  const auto type = text_of(schema->get_object(), "type");
  if (!type.empty() && type != "object") return skip("its input schema does not describe an object");
  auto hash = hash_of(v, limits_.tool_bytes);
  if (hash.empty()) return skip("its description is too large");
  auto headers = scan_headers(*schema);
  if (!headers.problem.empty()) return skip(headers.problem);
  const auto* output = o->if_contains("outputSchema");
  if (output != nullptr && !output->is_object()) output = nullptr;

  tool t;
  const auto* annotations = object_at(*o, "annotations");
  t.description = text_of(*o, "description");
  if (t.description.empty()) t.description = text_of(*o, "title");
  if (t.description.empty() && annotations != nullptr) t.description = text_of(*annotations, "title");
  t.description = without_hidden(t.description);
  t.read_only = has_hint(annotations, "readOnlyHint");
  t.idempotent = has_hint(annotations, "idempotentHint");
  t.mirrored = std::move(headers.mirrored);
  t.as_task = as_task;
  t.hash = std::move(hash);
  t.fingerprint = fingerprint_of(*o);
  const auto bytes = sizeof t + name.size() + t.description.size() + t.hash.size() + t.fingerprint.size() +
                     memory_of(*schema) + (output != nullptr ? memory_of(*output) : 0);
  if (list_.bytes + bytes > limits_.list_bytes) {
    full_ = true;
    return skip("the list is too large");
  }
  list_.bytes += bytes;
  t.name = std::move(name);
  move_to(t.parameters, json::value(*schema, memory_));
  if (output != nullptr) move_to(t.output_schema, json::value(*output, memory_));
  list_.tools.push_back(std::move(t));
}

tool_list tool_collector::finish() {
  std::stable_sort(list_.tools.begin(), list_.tools.end(),
                   [](const tool& a, const tool& b) { return a.name < b.name; });
  // If several tools have the same name, keep the first: calls reach that one.
  const auto duplicates = std::unique(list_.tools.begin(), list_.tools.end(),
                                      [](const tool& a, const tool& b) { return a.name == b.name; });
  if (duplicates != list_.tools.end()) {
    list_.tools.erase(duplicates, list_.tools.end());
    list_.skipped.push_back("several tools: their names were used twice");
  }
  for (const auto& reason : list_.skipped) list_.bytes += sizeof(std::string) + reason.size();
  return std::move(list_);
}

list_change compare(const tool_list& before, const tool_list& after) {
  list_change out;
  for (const auto& t : after.tools) {
    const auto* old = before.find(t.name);
    if (old == nullptr) {
      out.added.push_back(t.name);
    } else if (old->hash != t.hash) {
      out.changed.push_back(t.name);
    }
  }
  for (const auto& t : before.tools) {
    if (after.find(t.name) == nullptr) out.removed.push_back(t.name);
  }
  return out;
}

}  // namespace mcp
