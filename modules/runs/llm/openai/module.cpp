// Driver `openai` of llm.provider/1: the chat completions API, of OpenAI and of all that speak it.
#include "chat_reader.hpp"
#include "chat_request.hpp"
#include "driver.hpp"
#include "settings.hpp"

namespace {

class driver {
 public:
  static constexpr const char* kind = "openai";

  driver(std::string_view name, std::string_view config_json) {
    const auto config =
        llm::parse_config(config_json, {"max_tokens_field", "stream_usage", "send_reasoning", "extra_body"});
    at_ = llm::read_endpoint(name, config, "https://api.openai.com/v1");
    if (!at_.secret.empty()) at_.headers.emplace_back("Authorization", "Bearer " + at_.secret);
    const bool own = at_.url.starts_with("https://api.openai.com");
    options_.max_tokens_field =
        llm::text_setting(config, "max_tokens_field", own ? "max_completion_tokens" : "max_tokens");
    for (auto [key, flag] : {std::pair("stream_usage", &options_.stream_usage),
                             std::pair("send_reasoning", &options_.send_reasoning)}) {
      const auto* v = config.if_contains(key);
      if (!v || v->is_null()) continue;
      if (!v->is_bool())
        throw ry::bad_request("llm.config", std::string(key) + " must be true or false");
      *flag = v->get_bool();
    }
    if (const auto* v = config.if_contains("extra_body"); v && !v->is_null()) {
      if (!v->is_object()) throw ry::bad_request("llm.config", "extra_body must be a table");
      options_.extra_body = v->get_object();
    }
    at_.url += "/chat/completions";
  }

  const llm::endpoint& at() const { return at_; }
  llm::exchange prepare(std::string_view json) const {
    const auto request = llm::parse_request(json);
    std::string keep_for = options_.send_reasoning ? std::string(llm::text_at(request, "model")) : "";
    return {openai::build_request(request, options_),
            std::make_unique<openai::chat_reader>(std::move(keep_for))};
  }

 private:
  llm::endpoint at_;
  openai::request_options options_;
};

using openai_module = llm::http_driver_module<driver>;

}  // namespace

RY_MODULE(openai_module, "llm_openai", "1.0.0", .needs("llm.provider/1", "ry.http_client/1"));
