#include "names.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace mcp {
namespace {

constexpr std::size_t most = 64;
constexpr std::size_t max_server = 24;

std::string sanitised(std::string_view s) {
  std::string out;
  for (const char c : s) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    // A run of other characters becomes a single underscore, so that a name in another script is not a row of
    // underscores.
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
// becomes `otherwise`.
std::string part_of(std::string_view given, std::string_view otherwise) {
  const auto name = sanitised(given);
  const bool foreign =
      std::any_of(given.begin(), given.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (!foreign) return name;
  const auto begin = name.find_first_not_of("_-");
  const auto end = name.find_last_not_of("_-");
  const auto readable = begin == std::string::npos ? otherwise : std::string_view(name).substr(begin, end - begin + 1);
  return std::string(readable) + "_" + tag_of(given, {});
}

std::string with_suffix(std::string name, const std::string& suffix) {
  if (name.size() + suffix.size() > most) name.resize(most - suffix.size());
  return name + suffix;
}

}  // namespace

std::vector<named_tool> name_tools(const std::vector<enabled_tools>& servers) {
  std::vector<named_tool> out;
  std::unordered_set<std::string> used;
  std::unordered_map<std::string, int> next;  // next number to try for a name that is taken
  for (std::size_t i = 0; i < servers.size(); ++i) {
    std::unordered_set<std::string_view> seen;
    for (const auto& tool : servers[i].tools) {
      if (!seen.insert(tool).second) continue;
      auto server = part_of(servers[i].server, "server");
      const auto own = part_of(tool, "tool");
      auto name = server + "__" + own;
      if (name.size() > most) {
        if (server.size() > max_server) server.resize(max_server);
        name = with_suffix(server + "__" + own, "_" + tag_of(servers[i].server, tool));
      }
      if (!used.insert(name).second) {
        const auto plain = std::move(name);
        int& n = next.try_emplace(plain, 2).first->second;
        do {
          name = with_suffix(plain, "_" + std::to_string(n++));
        } while (!used.insert(name).second);
      }
      out.push_back({i, tool, std::move(name)});
    }
  }
  return out;
}

}  // namespace mcp
