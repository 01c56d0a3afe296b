#include "context_ids.hpp"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>

namespace a2a {
namespace {

constexpr boost::uuids::uuid name_space{
    {0x7d, 0x0c, 0x5e, 0x4a, 0x9b, 0x1f, 0x4c, 0x36, 0x8e, 0x52, 0x21, 0xaf, 0x63, 0xd8, 0x07, 0xbb}};

// Version 5 of RFC 9562.
ry::uuid derived(std::string_view name) {
  const boost::uuids::uuid made = boost::uuids::name_generator_sha1(name_space)(name.data(), name.size());
  ry::uuid out;
  std::copy(made.begin(), made.end(), out.bytes);
  return out;
}

// Contains the length, so that "ab", "c" and "a", "bc" differ.
void append(std::string& to, std::string_view part) {
  to += std::to_string(part.size()) + ":";
  to += part;
}

}  // namespace

ry::uuid thread_of_context(const ry::uuid& account, std::string_view context_id) {
  std::string name = "a2a context ";
  append(name, account.to_string());
  append(name, context_id);
  return derived(name);
}

ry::uuid project_of_thread(const ry::uuid& account, const ry::uuid& thread) {
  return derived("a2a project " + account.to_string() + " " + thread.to_string());
}

bool may_have_name(const ry::uuid& thread) {
  return (thread.bytes[6] >> 4) == 5;
}

std::string key_of_message(std::string_view agent, std::string_view context_id, std::string_view message_id) {
  std::string name = "a2a message ";
  for (const std::string_view part : {agent, context_id, message_id}) append(name, part);
  return "a2a:" + derived(name).to_string();
}

std::string entity_tag(std::string_view body) {
  return "\"" + derived(body).to_string() + "\"";
}

}  // namespace a2a
