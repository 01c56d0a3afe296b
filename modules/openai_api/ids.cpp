#include "ids.hpp"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>

namespace openai_api {
namespace {

constexpr std::string_view response_prefix = "resp_", conversation_prefix = "conv_", completion_prefix = "chatcmpl-",
                           approval_prefix = "mcpr_", call_prefix = "mcp_";
constexpr std::size_t hex_length = 32;

std::optional<ry::uuid> uuid_of_hex(std::string_view hex) {
  if (hex.size() != hex_length) return std::nullopt;
  std::string text(hex);
  for (const std::size_t at : {8, 13, 18, 23}) text.insert(at, 1, '-');
  return ry::uuid::parse(text);
}

std::optional<ry::uuid> uuid_after(std::string_view prefix, std::string_view id) {
  if (id.substr(0, prefix.size()) != prefix) return std::nullopt;
  return uuid_of_hex(id.substr(prefix.size()));
}

constexpr boost::uuids::uuid name_space{
    {0x3f, 0x91, 0x6c, 0x02, 0xd4, 0x5e, 0x4b, 0x7a, 0x9c, 0x18, 0x66, 0x0d, 0xe2, 0xb5, 0x47, 0x8a}};

// Version 5 of RFC 9562.
ry::uuid named_uuid(std::string_view name) {
  const boost::uuids::uuid made = boost::uuids::name_generator_sha1(name_space)(name.data(), name.size());
  ry::uuid out;
  std::copy(made.begin(), made.end(), out.bytes);
  return out;
}

}  // namespace

std::string hex_of(const ry::uuid& id) {
  std::string out = id.to_string();
  out.erase(std::remove(out.begin(), out.end(), '-'), out.end());
  return out;
}

std::string response_id(const ry::uuid& run) {
  return std::string(response_prefix) + hex_of(run);
}
std::string conversation_id(const ry::uuid& thread) {
  return std::string(conversation_prefix) + hex_of(thread);
}
std::string completion_id(const ry::uuid& run) {
  return std::string(completion_prefix) + hex_of(run);
}
std::string item_id(std::string_view prefix, const ry::uuid& run, std::uint64_t sequence) {
  return std::string(prefix) + "_" + hex_of(run) + "_" + std::to_string(sequence);
}

std::string approval_request_id(const ry::uuid& run, const ry::uuid& approval) {
  return std::string(approval_prefix) + hex_of(run) + "_" + hex_of(approval);
}
std::string approved_call_id(std::string_view approval_request_id) {
  return std::string(call_prefix).append(approval_request_id.substr(approval_prefix.size()));
}

ry::uuid thread_of_key(const ry::uuid& account, std::string_view key) {
  return named_uuid("thread " + account.to_string() + " " + std::string(key));
}
ry::uuid project_of_thread(const ry::uuid& thread) {
  return named_uuid("project " + thread.to_string());
}

std::optional<ry::uuid> run_of_response(std::string_view id) {
  return uuid_after(response_prefix, id);
}
std::optional<ry::uuid> thread_of_conversation(std::string_view id) {
  return uuid_after(conversation_prefix, id);
}
std::optional<ry::uuid> run_of_item(std::string_view id) {
  const std::size_t begin = id.find('_');
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view rest = id.substr(begin + 1);
  if (rest.size() <= hex_length || rest[hex_length] != '_') return std::nullopt;
  return uuid_of_hex(rest.substr(0, hex_length));
}

std::optional<ry::uuid> approval_of_request(std::string_view id) {
  const std::size_t begin = approval_prefix.size() + hex_length + 1;
  if (id.substr(0, approval_prefix.size()) != approval_prefix || !run_of_item(id)) return std::nullopt;
  return uuid_of_hex(id.substr(begin));
}

std::int64_t created_ms(const ry::uuid& id) {
  if (id.bytes[6] >> 4 != 7) return 0;
  std::int64_t out = 0;
  for (int i = 0; i < 6; ++i) out = out << 8 | id.bytes[i];
  return out;
}

}  // namespace openai_api
