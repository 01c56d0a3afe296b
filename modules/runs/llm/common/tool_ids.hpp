// Ids of tool calls in the form that a provider accepts. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace llm {

enum class id_form {
  anthropic,  // ^[a-zA-Z0-9_-]{1,64}$
  openai,  // 1 to 40 visible ASCII characters
  compatible,  // like `openai`, but placeholders such as "call_1" are replaced with the form of Mistral
  mistral,  // exactly nine letters and digits
};

// Longer ids of calls and items are treated as missing. The longest known ones contain a signature of some KiB.
inline constexpr std::size_t max_id_bytes = 16 * 1024;
inline std::string_view bounded_id(std::string_view id) {
  return id.size() > max_id_bytes ? std::string_view() : id;
}

bool is_valid_id(std::string_view id, id_form form);

// Assigns an id of the form to each call of a request. A valid id that no earlier call has is kept. Any other is
// replaced with nine letters and digits that depend only on it and on the earlier calls. Ids are unique.
class id_allocator {
 public:
  explicit id_allocator(id_form form) : form_(form) {}
  std::string next(std::string_view stored);

 private:
  const id_form form_;
  std::set<std::string, std::less<>> used_;
};

// A hash of the text as `digits` letters and digits, based on 64-bit FNV-1a.
std::string short_hash(std::string_view text, std::uint64_t salt, std::size_t digits);

}  // namespace llm
