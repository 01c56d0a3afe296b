// Looks up TXT records, with the system's resolvers or a given one. Blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mail {

struct txt_answer {
  std::vector<std::string> records;  // the strings of each record are joined
  std::string failure;  // why the lookup failed; empty: it succeeded, possibly without records
};

// server: "127.0.0.1:5353" or "[::1]:53"; empty: the servers in /etc/resolv.conf. Throws
// ry::error if it is invalid.
txt_answer look_up_txt(const std::string& name, const std::string& server);

}  // namespace mail
