// Driver `openai` of llm.provider/1: the chat completions API, of OpenAI and of all that speak it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "chat_reader.hpp"
#include "chat_request.hpp"
#include "dialect.hpp"
#include "driver.hpp"
#include "settings.hpp"

namespace {

class driver {
 public:
  static constexpr const char* kind = "openai";

  driver(std::string_view name, std::string_view config_json) {
    const auto config = llm::parse_config(
        config_json, {"max_tokens_field", "stream_usage", "send_reasoning", "extra_body", "dialect", "alternate_roles",
                      "max_tools", "max_tool_description"});
    at_ = llm::read_endpoint(name, config, "https://api.openai.com/v1");
    if (!at_.secret.empty()) {
      const bool azure = openai::is_azure(at_.url);
      at_.headers.emplace_back(azure ? "api-key" : "Authorization", azure ? at_.secret : "Bearer " + at_.secret);
    }
    const auto named = llm::text_setting(config, "dialect", "auto");
    const auto dialect = openai::read_dialect(named, at_.url);
    if (!dialect) throw ry::bad_request("llm.config", "dialect must be auto, compatible, openai, mistral or gemini");
    options_ = openai::options_of(*dialect);
    const bool own = *dialect == openai::dialect::openai;
    options_.max_tokens_field =
        llm::text_setting(config, "max_tokens_field", own ? "max_completion_tokens" : "max_tokens");
    options_.stream_usage = llm::flag_setting(config, "stream_usage", true);
    options_.send_reasoning = llm::flag_setting(config, "send_reasoning", false);
    options_.alternate_roles = llm::flag_setting(config, "alternate_roles", options_.alternate_roles);
    const auto count = [&config](std::string_view key, std::size_t standard) {
      constexpr std::int64_t most = 1'000'000;
      return static_cast<std::size_t>(llm::number_setting(config, key, static_cast<std::int64_t>(standard), 0, most));
    };
    options_.tools.count = count("max_tools", options_.tools.count);
    options_.tools.description_chars = count("max_tool_description", options_.tools.description_chars);
    options_.extra_body = llm::extra_body_setting(config);
    at_.url = llm::with_path(at_.url, "/chat/completions");
  }

  const llm::endpoint& at() const { return at_; }
  llm::exchange prepare(std::string_view json) const {
    const auto request = llm::parse_request(json);
    auto built = openai::build_request(request, options_);
    auto reader = std::make_unique<openai::chat_reader>(std::string(llm::text_at(request, "model")),
                                                        options_.send_reasoning);
    return {std::move(built.body), std::move(reader), std::move(built.names), std::move(built.notices)};
  }

 private:
  llm::endpoint at_;
  openai::request_options options_;
};

using openai_module = llm::http_driver_module<driver>;

}  // namespace

RY_MODULE(openai_module, "llm_openai", "1.0.0", .needs("llm.provider/1", "ry.http_client/1"));
