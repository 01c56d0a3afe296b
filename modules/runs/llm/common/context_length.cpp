#include "context_length.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <ry/cpp/text.hpp>
#include <string>

namespace llm {

namespace {

// Phrases as sequences of words; `*` matches any words, # a number. The comments name the providers that use them.
constexpr std::string_view too_long[] = {
    "maximum context length",  // OpenAI, Azure, vLLM, OpenRouter, DeepSeek, Mistral, Fireworks
    "max context length",  // Ollama
    "context length exceeded",  // OpenAI
    "exceeds * context length",  // Ollama, SGLang
    "exceed * context length",  // vLLM
    "exceeded * context length",  // Ollama
    "longer than * context length",  // SGLang
    "greater than the context length",  // LM Studio
    "context length of only # tokens",  // vLLM, LM Studio
    "context length is only # tokens",  // vLLM
    "reached context length of # tokens",  // LM Studio
    "when context the overflows",  // LM Studio
    "n keep # n ctx #",  // LM Studio
    "longer than the maximum model length",  // vLLM
    "exceeds the context window",  // OpenAI
    "exceed the context window",  // OpenAI
    "exceed context window",  // llama-cpp-python
    "exceeded * context window",  // Cloudflare
    "exceeds * context window",  // AWS
    "context window exceeds limit",  // MiniMax
    "context window is full",  // others
    "context window exceeded",  // others
    "input tokens exceed the configured limit",  // OpenAI
    "input tokens exceeds",  // OpenAI
    "reduce the length of the messages",  // OpenAI, Groq, Cerebras
    "reduce the length of your prompt",  // Groq
    "prompt is too long",  // Anthropic, Fireworks
    "prompt too long",  // Ollama
    "exceed context limit",  // Anthropic
    "exceeds context limit",  // Anthropic
    "request exceeds the maximum size",  // Anthropic
    "input token count * exceeds the maximum",  // Gemini
    "input token count * but model only supports up to",  // Vertex AI
    "request payload size exceeds the limit",  // Gemini
    "input is too long",  // Bedrock
    "too many input tokens",  // Bedrock
    "expected maxlength # actual #",  // Bedrock
    "exceed * available context size",  // llama.cpp
    "exceeds * available context size",  // llama.cpp
    "context size has been exceeded",  // llama.cpp
    "larger than the max context size",  // llama.cpp
    "inputs tokens max new tokens must be",  // TGI
    "inputs must have less than # tokens",  // TGI
    "maximum prompt length is # but",  // xAI
    "too large for model with # maximum",  // Mistral
    "exceeded model token limit",  // Moonshot
    "range of input length should be",  // DashScope
    "prompt exceeds max length",  // Zhipu
    "prompt token count * exceeds the limit",  // GitHub
    "total number of tokens in the prompt cannot exceed",  // Cohere
    "conversation is too long",  // others
    "exceeds maximum input length",  // DeepInfra
    "exceeds the maximum input length",  // others
    "exceed * maximum sequence length",  // others
    "exceeds * maximum sequence length",  // others
    "maximum supported sequence length",  // SambaNova
    "less than max seq len",  // SiliconFlow
    "greater than max seq len",  // TabbyAPI
    "exceeds max seq len",  // ExLlama
    "too many tokens size limit exceeded",  // Cohere
    "exceed max message tokens",  // Volcengine
    "exceeds maximum allowed token size",  // Databricks
    "exceeds maximum allowed content length",  // Databricks
    "prompt tokens too long",  // Baidu
    "max input characters is",  // Baidu
    "contextwindowexceedederror",  // LiteLLM
    "prompt exceeds * context",  // others
    "context window of # tokens",  // others
    "context overflow",  // others
    "not fit * context",  // others
};

// Words of rate and quota errors, which are temporary.
constexpr std::string_view rate_limit_words[] = {"rate limit", "per minute", "per min", "per second", "per hour",
                                                 "per day",    "tpm",        "rpm",     "quota",      "try again in"};

constexpr std::string_view codes[] = {
    "context_length_exceeded",
    "context_window_exceeded",
    "context_window_overflow",
    "contextwindowexceedederror",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "model_max_prompt_tokens_exceeded",
    "request_too_large",
    "max_tokens_exceeded_context",
    "prompt_too_long",
    "input_too_long",
    "context_too_long",
};

// OpenAI: a string in the request is too long. Strings other than messages (names, ids) have much lower limits.
constexpr std::string_view text_too_long = "string too long * maximum length";
constexpr std::uint64_t min_message_limit = 10'000;
// Zhipu: the prompt is too long.
constexpr std::string_view prompt_too_long_in_chinese = "\u8d85\u957f";

// Converts to lower case, with single spaces between words and # for each number.
std::string normalised_words(std::string_view text) {
  std::string out = " ";
  for (const char raw : text.substr(0, 4096)) {
    const auto c = static_cast<unsigned char>(raw);
    if (std::isdigit(c) != 0) {
      if (!out.ends_with('#')) out += out.ends_with(' ') ? "#" : " #";
    } else if (std::isalpha(c) != 0) {
      if (out.ends_with('#')) out += ' ';
      out += ry::lower_ascii(raw);
    } else if (raw != '\'' && (raw != ',' || !out.ends_with('#')) && !out.ends_with(' ')) {
      out += ' ';
    }
  }
  out += ' ';
  return out;
}

bool contains_phrase(std::string_view text, std::string_view words) {
  std::size_t at = 0;
  while (!words.empty()) {
    const auto star = words.find(" * ");
    const std::string part = " " + std::string(words.substr(0, star)) + " ";
    at = text.find(part, at);
    if (at == std::string_view::npos) return false;
    at += part.size() - 1;
    words = star == std::string_view::npos ? std::string_view() : words.substr(star + 3);
  }
  return true;
}

// Returns the number after "maximum length"; 0 if there is none.
std::uint64_t text_limit_in(std::string_view message) {
  constexpr std::string_view label = "maximum length ";
  const auto at = message.find(label);
  std::uint64_t n = 0;
  if (at != std::string_view::npos)
    std::from_chars(message.data() + at + label.size(), message.data() + message.size(), n);
  return n;
}

}  // namespace

bool says_context_too_long(std::string_view message) {
  const std::string text = normalised_words(message);
  if (contains_phrase(text, text_too_long)) return text_limit_in(message) >= min_message_limit;
  // OpenAI, Groq: this request alone has more tokens than a minute's limit, so waiting does not help.
  if (contains_phrase(text, "request too large for") && contains_phrase(text, "must be reduced")) return true;
  if (std::any_of(std::begin(rate_limit_words), std::end(rate_limit_words),
                  [&](std::string_view r) { return contains_phrase(text, r); }))
    return false;
  return std::any_of(std::begin(too_long), std::end(too_long),
                     [&](std::string_view w) { return contains_phrase(text, w); }) ||
         message.find(prompt_too_long_in_chinese) != std::string_view::npos;
}

bool names_context_too_long(std::string_view code) {
  std::string lower = ry::lower_ascii(code.substr(0, 100));
  return std::find(std::begin(codes), std::end(codes), lower) != std::end(codes);
}

}  // namespace llm
