#include "attachment.hpp"

#include <optional>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/text.hpp>

#include "errors.hpp"

namespace openai_api {
namespace {

constexpr std::string_view scheme = "data:";
constexpr std::size_t max_media_type_bytes = 127;

std::string decoded(std::string_view text, const std::string& path) {
  std::optional<std::string> out = ry::base64_decode(text, ry::base64_alphabet::standard, ry::base64_padding::optional);
  if (!out || out->empty()) throw invalid(path, path + " must contain base64 data", "invalid_base64");
  return *std::move(out);
}

}  // namespace

attachment read_data_url(std::string_view url, const std::string& path) {
  if (ry::lower_ascii(url.substr(0, scheme.size())) != scheme)
    throw invalid(path, path + " must be a data URL; the server does not fetch files from other addresses",
                  "unsupported_value");
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos) throw invalid(path, path + " is not a valid data URL");
  const std::string_view head = url.substr(scheme.size(), comma - scheme.size());
  constexpr std::string_view marker = ";base64";
  if (head.size() < marker.size() || ry::lower_ascii(head.substr(head.size() - marker.size())) != marker)
    throw invalid(path, path + " must be a data URL with base64 data");
  const std::string_view media_type = head.substr(0, head.find(';'));
  if (media_type.size() > max_media_type_bytes) throw invalid(path, path + " has a media type that is too long");
  return {{}, ry::lower_ascii(media_type), decoded(url.substr(comma + 1), path)};
}

attachment read_file_data(std::string_view data, std::string_view name, const std::string& path) {
  const bool is_url = ry::lower_ascii(data.substr(0, scheme.size())) == scheme;
  attachment out;
  if (is_url)
    out = read_data_url(data, path);
  else
    out.content = decoded(data, path);
  out.name = std::string(name);
  return out;
}

}  // namespace openai_api
