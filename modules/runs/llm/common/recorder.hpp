// A receiver that records an answer, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "answer.hpp"

namespace llm::test {

class recorder final : public receiver {
 public:
  void text(std::string_view s) override { answer_text += s, ++pieces; }
  void reasoning(std::string_view s) override { reasoning_text += s; }
  void tool_call(std::string_view id, std::string_view name, std::string_view args) override {
    calls.push_back(std::string(id) + " " + std::string(name) + " " + std::string(args));
  }
  void reasoning_block(std::string_view json) override { blocks.emplace_back(json); }
  std::string answer_text, reasoning_text;
  std::vector<std::string> blocks;
  std::vector<std::string> calls;
  int pieces = 0;
};

}  // namespace llm::test
