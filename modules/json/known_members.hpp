// Rejects unknown members of a JSON object in requests to routes outside the contract, so that a mistyped member is
// never ignored silently.
#pragma once
#include <algorithm>
#include <boost/json/object.hpp>
#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace module_json {

// Throws a 422 that names the first member not in `known`. `path`: prefix of the member names in the message, for
// example "" or "config.".
inline void require_known_members(const boost::json::object& o, const std::vector<std::string_view>& known,
                                  std::string_view path = {}) {
  constexpr std::size_t max_name_bytes = 64;
  for (const auto& member : o) {
    std::string name(std::string_view(member.key()));
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::size_t end = std::min(name.size(), max_name_bytes);
    while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    name.resize(end);
    throw ry::http_error(422, RY_INVALID_ARGUMENT, "http.unknown_member",
                         std::string(path) + name + " is not a known member");
  }
}

}  // namespace module_json
