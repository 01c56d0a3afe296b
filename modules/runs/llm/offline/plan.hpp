// Derives the next answer of the offline driver from the conversation alone. Pure and deterministic: the same request
// always yields the same plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace offline {

struct tool_call {
  std::string id, name, arguments_json;
};

struct plan {
  std::string text;
  std::vector<tool_call> calls;  // after the text; empty: the answer is complete
};

// Throws llm::bad_request.
plan make_plan(std::string_view neutral_json);

// Splits a text into chunks of about `size` bytes, never inside a character, preferably after a space.
std::vector<std::string_view> split_into_chunks(std::string_view text, std::size_t size);

}  // namespace offline
