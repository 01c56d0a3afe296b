#include "names.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace mcp {
namespace {

constexpr std::size_t max_name_length = 64;
constexpr std::size_t max_server_part = 24;

std::string sanitised(std::string_view s) {
  std::string out;
  for (const char c : s) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    // A sequence of other characters becomes a single underscore, so that a name in another script does not consist of
    // underscores only.
    if (good) {
      out += c;
    } else if (out.empty() || out.back() != '_') {
      out += '_';
    }
  }
  return out.empty() ? "_" : out;
}

// Distinguishes names that are equal after truncation. The hash must be the same in every build.
std::string tag_of(std::string_view server, std::string_view tool) {
  std::uint64_t h = 1469598103934665603u;
  const auto mix = [&](std::string_view s) {
    for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
    h = (h ^ 0xff) * 1099511628211u;
  };
  mix(server);
  mix(tool);
  static constexpr char digits[] = "abcdefghijklmnopqrstuvwxyz012345";
  std::string out;
  for (int i = 0; i < 5; ++i) out += digits[h >> (5 * i) & 31];
  return out;
}

// Characters of other scripts are dropped, and a tag keeps the names distinct. A part without any letter or digit
// becomes `fallback`.
std::string part_of(std::string_view original, std::string_view fallback) {
  const auto name = sanitised(original);
  const bool has_other_scripts =
      std::any_of(original.begin(), original.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (!has_other_scripts) return name;
  const auto begin = name.find_first_not_of("_-");
  const auto end = name.find_last_not_of("_-");
  const auto readable = begin == std::string::npos ? fallback : std::string_view(name).substr(begin, end - begin + 1);
  return std::string(readable) + "_" + tag_of(original, {});
}

std::string with_suffix(std::string name, const std::string& suffix) {
  if (name.size() + suffix.size() > max_name_length) name.resize(max_name_length - suffix.size());
  return name + suffix;
}

}  // namespace

std::vector<named_tool> name_tools(const std::vector<enabled_tools>& servers) {
  std::vector<named_tool> out;
  std::unordered_set<std::string> used;
  std::unordered_map<std::string, int> next_suffix;  // next number to try for a name that is taken
  for (std::size_t i = 0; i < servers.size(); ++i) {
    std::unordered_set<std::string_view> seen;
    for (const auto& tool : servers[i].tools) {
      if (!seen.insert(tool).second) continue;
      auto server = part_of(servers[i].server, "server");
      const auto tool_part = part_of(tool, "tool");
      auto name = server + "__" + tool_part;
      if (name.size() > max_name_length) {
        if (server.size() > max_server_part) server.resize(max_server_part);
        name = with_suffix(server + "__" + tool_part, "_" + tag_of(servers[i].server, tool));
      }
      if (!used.insert(name).second) {
        const auto base = std::move(name);
        int& n = next_suffix.try_emplace(base, 2).first->second;
        do {
          name = with_suffix(base, "_" + std::to_string(n++));
        } while (!used.insert(name).second);
      }
      out.push_back({i, tool, std::move(name)});
    }
  }
  return out;
}

}  // namespace mcp
