// Decodes data URLs (RFC 2397). Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace aisdk {

struct data_url {
  std::string media_type;  // without parameters; may be empty
  std::string content;
};

// nullopt: not a data URL, or its content is malformed.
std::optional<data_url> parse_data_url(std::string_view text);

// The usual file name extension of a media type, with its dot; empty if unknown.
std::string_view extension_of(std::string_view media_type);

}  // namespace aisdk
