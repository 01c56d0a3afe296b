// TXT records, asked of the system's resolvers or of one that is given. Blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mail {

struct txt_answer {
  std::vector<std::string> records;  // the parts of each joined
  std::string failed;  // why nothing is known; empty: the answer counts, also if there are no records
};

// server: "127.0.0.1:5353" or "[::1]:53"; empty = those of /etc/resolv.conf. Throws ry::error if it is no address.
txt_answer look_up_txt(const std::string& name, const std::string& server);

}  // namespace mail
