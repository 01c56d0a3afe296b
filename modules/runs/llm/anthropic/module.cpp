// Driver `anthropic` of llm.provider/1: the messages API.
#include "driver.hpp"
#include "messages_reader.hpp"
#include "messages_request.hpp"
#include "settings.hpp"

namespace {

class driver {
 public:
  static constexpr const char* kind = "anthropic";

  driver(std::string_view name, std::string_view config_json) {
    const auto config = llm::parse_config(config_json, {"max_tokens", "version", "extra_body"});
    at_ = llm::read_endpoint(name, config, "https://api.anthropic.com");
    if (!at_.secret.empty()) at_.headers.emplace_back("x-api-key", at_.secret);
    const auto version = llm::text_setting(config, "version", "2026-10-21");
    at_.headers.emplace_back("anthropic-version", version);
    if (version < "2026-10-21") options_.temperature = anthropic::sampling::send;
    options_.max_tokens = llm::number_setting(config, "max_tokens", 8192, 1, 10'000'000);
    if (const auto* v = config.if_contains("extra_body"); v && !v->is_null()) {
      if (!v->is_object()) throw ry::bad_request("llm.config", "extra_body must be a table");
      options_.extra_body = v->get_object();
    }
    at_.url += at_.url.ends_with("/v1") ? "/messages" : "/v1/messages";
  }

  const llm::endpoint& at() const { return at_; }
  llm::exchange prepare(std::string_view json) const {
    const auto request = llm::parse_request(json);
    return {anthropic::build_request(request, options_),
            std::make_unique<anthropic::messages_reader>(std::string(llm::text_at(request, "model")))};
  }

 private:
  llm::endpoint at_;
  anthropic::request_options options_;
};

using anthropic_module = llm::http_driver_module<driver>;

}  // namespace

RY_MODULE(anthropic_module, "llm_anthropic", "1.0.0", .needs("llm.provider/1", "ry.http_client/1"));
