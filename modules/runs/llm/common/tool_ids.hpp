// Ids of tool calls as a provider takes them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace llm {

enum class id_form {
  anthropic,   // ^[a-zA-Z0-9_-]{1,64}$
  openai,      // 1 to 40 visible ASCII characters
  compatible,  // of both `openai` and, for ids that this server made, `nine`
  nine,        // exactly nine letters and digits: Mistral
};

// Longer ids of calls and items read as missing. The longest known ones carry a signature of some KiB.
inline constexpr std::size_t longest_id = 16 * 1024;
inline std::string_view bounded_id(std::string_view id) { return id.size() > longest_id ? std::string_view() : id; }

bool is_valid_id(std::string_view id, id_form form);

// Gives each call of one request an id of the form. A valid id that no earlier call has stays as it is; any other is
// replaced by nine letters and digits that depend only on it and on the calls before. No two calls get the same id.
class id_allocator {
 public:
  explicit id_allocator(id_form form) : form_(form) {}
  std::string next(std::string_view stored);

 private:
  const id_form form_;
  std::set<std::string, std::less<>> used_;
};

// 64-bit FNV-1a as `digits` letters and digits.
std::string short_hash(std::string_view text, std::uint64_t salt, std::size_t digits);

}  // namespace llm
