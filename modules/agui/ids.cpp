#include "ids.hpp"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>

namespace agui {
namespace {

// Generated once for this module.
constexpr std::string_view id_namespace = "6f0d1c5e-3a57-4d0b-9f5e-0c8e2b7a41d6";
constexpr std::size_t uuid_size = 36;

std::string prefix(std::string_view run, std::int64_t step) {
  return std::string(run) + "." + std::to_string(step);
}

// The length of "<run>.<step>" at the beginning of an id; 0 if the id does not begin with it.
std::size_t prefix_size(std::string_view id) {
  if (id.size() < uuid_size + 2 || id[uuid_size] != '.' || !ry::uuid::parse(id.substr(0, uuid_size))) return 0;
  const auto* end = std::find_if(id.begin() + uuid_size + 1, id.end(), [](char c) { return c < '0' || c > '9'; });
  const auto size = static_cast<std::size_t>(end - id.begin());
  return size == uuid_size + 1 || (size < id.size() && id[size] != '.') ? 0 : size;
}

}  // namespace

ry::uuid derived_uuid(const ry::uuid& account, std::string_view kind, std::string_view name) {
  boost::uuids::uuid space{};
  const ry::uuid parsed = *ry::uuid::parse(id_namespace);
  std::copy(std::begin(parsed.bytes), std::end(parsed.bytes), space.begin());
  std::string text = account.to_string();
  text.append("/").append(kind).append("/").append(name);
  const boost::uuids::uuid made = boost::uuids::name_generator_sha1(space)(text.data(), text.size());
  ry::uuid out;
  std::copy(made.begin(), made.end(), std::begin(out.bytes));
  return out;
}

std::string message_id(std::string_view run, std::int64_t step) {
  return prefix(run, step);
}

std::string reasoning_id(std::string_view run, std::int64_t step, std::int64_t attempt) {
  return prefix(run, step) + ".reasoning." + std::to_string(attempt);
}

std::string tool_call_id(std::string_view run, std::int64_t step, std::string_view call) {
  return prefix(run, step) + ".call." + std::string(call);
}

std::string tool_message_id(std::string_view tool_call_id) {
  return "result." + std::string(tool_call_id);
}

std::optional<std::string> run_of_id(std::string_view id) {
  constexpr std::string_view result = "result.";
  if (id.substr(0, result.size()) == result) id.remove_prefix(result.size());
  if (prefix_size(id) == 0) return std::nullopt;
  return ry::uuid::parse(id.substr(0, uuid_size))->to_string();
}

std::string stored_call_id(std::string_view tool_call_id) {
  constexpr std::string_view call = ".call.";
  const std::size_t at = prefix_size(tool_call_id);
  if (at == 0 || tool_call_id.substr(at, call.size()) != call) return std::string(tool_call_id);
  return std::string(tool_call_id.substr(at + call.size()));
}

}  // namespace agui
