#include "settings/known_models.hpp"

#include <algorithm>
#include <cctype>
#include <ry/cpp/text.hpp>
#include <string>

namespace runs {

namespace {

struct family {
  std::string_view name;  // prefix of the model's name, or of the part after a vendor
  model_abilities abilities;
};

// The first match counts, so special cases come before their families. Windows are those of the vendors' services, the
// smallest of a family. For a local server with a smaller window, the operator sets runs.context_tokens.
constexpr family families[] = {
    // OpenAI
    {"gpt-4o-audio", {128'000, false}},
    {"gpt-4o", {128'000, true}},
    {"chatgpt-4o", {128'000, true}},
    {"gpt-4.1", {1'047'576, true}},
    {"gpt-4.5", {128'000, true}},
    {"gpt-4-turbo", {128'000, true}},
    {"gpt-4-32k", {32'768, false}},
    {"gpt-4", {8'192, false}},
    {"gpt-3.5", {16'385, false}},
    {"gpt-5-chat", {128'000, true}},
    {"gpt-5", {400'000, true}},
    {"gpt-oss", {131'072, false}},
    {"o1-mini", {128'000, false}},
    {"o1-preview", {128'000, false}},
    {"o1", {200'000, true}},
    {"o3-mini", {200'000, false}},
    {"o3", {200'000, true}},
    {"o4-mini", {200'000, true}},
    // Anthropic
    {"claude-2", {100'000, false}},
    {"claude-instant", {100'000, false}},
    {"claude-3-5-haiku", {200'000, true}},
    {"claude", {200'000, true}},
    // Google
    {"gemini-2.5-flash-image", {32'768, true}},
    {"gemini-1.0", {32'760, false}},
    {"gemini", {1'000'000, true}},
    {"gemma-3-1b", {32'768, false}},
    {"gemma3:1b", {32'768, false}},
    {"gemma-3", {128'000, true}},
    {"gemma3", {128'000, true}},
    {"gemma", {8'192, false}},
    // Mistral
    {"pixtral", {128'000, true}},
    {"codestral", {32'000, false}},
    {"magistral", {40'000, false}},
    {"devstral", {128'000, false}},
    {"ministral", {128'000, false}},
    {"mistral-large", {128'000, false}},
    {"mistral-medium", {128'000, true}},
    {"mistral-small", {32'000, false}},
    {"mixtral-8x22b", {64'000, false}},
    {"mixtral", {32'000, false}},
    {"mistral", {32'000, false}},
    // DeepSeek, xAI, Moonshot, Z.ai
    {"deepseek", {64'000, false}},
    {"grok-2-vision", {32'768, true}},
    {"grok-4", {256'000, true}},
    {"grok-code", {256'000, false}},
    {"grok", {131'072, false}},
    {"kimi-k2", {128'000, false}},
    {"kimi-vl", {128'000, true}},
    {"glm-4.5v", {64'000, true}},
    {"glm-4.6v", {128'000, true}},
    {"glm-4", {128'000, false}},
    // open weights
    {"llama-4", {128'000, true}},
    {"llama4", {128'000, true}},
    {"llama-3.2-11b-vision", {128'000, true}},
    {"llama-3.2-90b-vision", {128'000, true}},
    {"llama3.2-vision", {128'000, true}},
    {"llama-3.1", {128'000, false}},
    {"llama-3.2", {128'000, false}},
    {"llama-3.3", {128'000, false}},
    {"llama3.1", {128'000, false}},
    {"llama3.2", {128'000, false}},
    {"llama3.3", {128'000, false}},
    {"llama-3", {8'192, false}},
    {"llama3", {8'192, false}},
    {"qwen2.5-vl", {32'768, true}},
    {"qwen2.5vl", {32'768, true}},
    {"qwen2-vl", {32'768, true}},
    {"qwen3-vl", {128'000, true}},
    {"qwen-vl", {32'768, true}},
    {"qwen", {32'768, false}},
    {"qwq", {32'768, false}},
    {"phi-4-multimodal", {128'000, true}},
    {"phi-4", {16'384, false}},
    {"phi4", {16'384, false}},
    {"command-a", {256'000, false}},
    {"command-r", {128'000, false}},
    {"llava", {4'096, true}}};

}  // namespace

std::optional<model_abilities> known_model(std::string_view model) {
  std::string name = ry::lower_ascii(model);
  std::string_view base_name = name;
  // "meta-llama/Llama-3.1-8B-Instruct", "us.anthropic.claude-sonnet-4", "meta-llama-3.1", "accounts/x/models/y"
  if (const auto slash = base_name.rfind('/'); slash != std::string_view::npos) base_name.remove_prefix(slash + 1);
  for (std::string_view vendor : {"anthropic.", "meta-"})
    if (const auto at = base_name.find(vendor); at != std::string_view::npos)
      base_name.remove_prefix(at + vendor.size());
  for (const family& f : families) {
    // Called in every step of a run: comparing the first letter avoids most of the string comparisons.
    if (base_name.empty() || base_name.front() != f.name.front() || !base_name.starts_with(f.name)) continue;
    // "o1" is a family; "o1x" and "o10" do not belong to it. "gpt-4" does not match "gpt-42".
    const char next = base_name.size() == f.name.size() ? '-' : base_name[f.name.size()];
    const bool ends_with_digit = std::isdigit(static_cast<unsigned char>(f.name.back())) != 0;
    if (ends_with_digit && std::isalnum(static_cast<unsigned char>(next)) != 0) continue;
    return f.abilities;
  }
  return std::nullopt;
}

}  // namespace runs
