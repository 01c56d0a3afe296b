#include "fingerprint.hpp"

#include <sodium.h>

#include <algorithm>

namespace mcp {
namespace {

constexpr std::size_t hash_bytes = 16;
constexpr std::size_t hash_digits = 2 * hash_bytes;
constexpr const char* part_names[] = {"description", "parameters", "result", "annotations"};

class hasher {
 public:
  hasher() { crypto_generichash_init(&state_, nullptr, 0, hash_bytes); }

  void add(const json::value& v) {
    if (const auto* a = v.if_array()) {
      add("[");
      for (const auto& each : *a) {
        add(each);
        add(",");
      }
      return add("]");
    }
    const auto* o = v.if_object();
    if (o == nullptr) return add(std::string_view(json::serialize(v)));
    std::vector<const json::key_value_pair*> members;
    for (const auto& each : *o) members.push_back(&each);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
    add("{");
    for (const auto* each : members) {
      add(std::string_view(json::serialize(json::string(each->key()))));
      add(":");
      add(each->value());
      add(",");
    }
    add("}");
  }
  std::string hex() {
    unsigned char digest[hash_bytes];
    crypto_generichash_final(&state_, digest, sizeof digest);
    char text[hash_digits + 1];
    sodium_bin2hex(text, sizeof text, digest, sizeof digest);
    return text;
  }

 private:
  void add(std::string_view text) {
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  void add(const char* text) { add(std::string_view(text)); }
  crypto_generichash_state state_;
};

}  // namespace

std::string canonical_hash(const json::value& v) {
  hasher h;
  h.add(v);
  return h.hex();
}

std::string fingerprint_of(const json::object& tool) {
  const auto member = [&](const char* key) {
    const auto* v = tool.if_contains(key);
    return v != nullptr ? *v : json::value();
  };
  const json::value parts[] = {json::array{member("title"), member("description")}, member("inputSchema"),
                               member("outputSchema"), member("annotations")};
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : ".") + canonical_hash(part);
  return out;
}

std::vector<std::string> changed_parts(std::string_view before, std::string_view after) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::size(part_names); ++i) {
    const auto at = i * (hash_digits + 1);
    if (before.substr(std::min(at, before.size()), hash_digits) !=
        after.substr(std::min(at, after.size()), hash_digits)) {
      out.emplace_back(part_names[i]);
    }
  }
  return out;
}

}  // namespace mcp
