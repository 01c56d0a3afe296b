// The request that assigns a program to a warm sandbox: user id, environment and arguments, in one block on standard
// input. runyard-sandbox-exec does not read beyond it, because the following input belongs to the program.
//
// Layout: four 32-bit numbers (bytes of text, user id, number of variables, number of arguments), then the text: each
// variable and each argument with its NUL. In native byte order, because both sides belong to one build on one machine.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bubblewrap {

struct start_request_header {
  std::uint32_t text_bytes;
  std::uint32_t uid;
  std::uint32_t n_env;
  std::uint32_t n_argv;
};

// A longer request cannot use a warm sandbox.
constexpr std::size_t max_start_request_text = 128 * 1024;

// nullopt: the request is too long. Words must not contain a NUL.
inline std::optional<std::string> encode_start_request(std::uint32_t uid, std::span<const std::string> env,
                                                       std::span<const std::string_view> argv) {
  std::size_t bytes = 0;
  for (const std::string& word : env) bytes += word.size() + 1;
  for (const std::string_view word : argv) bytes += word.size() + 1;
  if (bytes > max_start_request_text) return std::nullopt;
  const start_request_header header{static_cast<std::uint32_t>(bytes), uid, static_cast<std::uint32_t>(env.size()),
                                    static_cast<std::uint32_t>(argv.size())};
  std::string out(sizeof header, '\0');
  std::memcpy(out.data(), &header, sizeof header);
  out.reserve(out.size() + bytes);
  for (const std::string& word : env) out.append(word).push_back('\0');
  for (const std::string_view word : argv) out.append(word).push_back('\0');
  return out;
}

}  // namespace bubblewrap
