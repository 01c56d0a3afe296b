// The text that states the JSON Schema of an answer to a model whose provider does not support schemas. Pure.
#pragma once

#include <string>
#include <string_view>

namespace llm {

inline std::string output_instruction(std::string_view schema_json) {
  return "Your final answer must be a single JSON value that is valid against the following JSON Schema, without a code "
         "fence and without any other text:\n" +
         std::string(schema_json);
}

}  // namespace llm
