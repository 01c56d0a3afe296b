// Files in requests: data URLs and base64. Pure.
#pragma once
#include <string>
#include <string_view>

namespace openai_api {

struct attachment {
  std::string name;  // empty: assigned by conversation
  std::string media_type;
  std::string content;
};

// `path` names the member in messages. Throws a 400 for other URLs, because the server does not fetch files for
// clients.
attachment read_data_url(std::string_view url, const std::string& path);
// A data URL, or plain base64.
attachment read_file_data(std::string_view data, std::string_view name, const std::string& path);

}  // namespace openai_api
