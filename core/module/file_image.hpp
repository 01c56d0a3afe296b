// The bytes of a file, read once, and their SHA-256.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ry::module {

// Throws std::runtime_error with a sentence: missing, unreadable, no regular file, over 512 MiB.
std::string read_image(const std::filesystem::path& file);
std::string sha256_hex(std::string_view bytes);

}  // namespace ry::module
