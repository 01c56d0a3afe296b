// Driver `anthropic` of llm.provider/1: the Messages API.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "driver.hpp"
#include "messages_reader.hpp"
#include "messages_request.hpp"
#include "settings.hpp"

namespace {

class driver {
 public:
  static constexpr const char* kind = "anthropic";

  driver(std::string_view name, std::string_view config_json) {
    const auto config =
        llm::parse_config(config_json, {"max_tokens", "version", "prompt_cache", "extra_body", "output_schema"});
    at_ = llm::read_endpoint(name, config, "https://api.anthropic.com");
    if (!at_.secret.empty()) llm::add_header(at_, "x-api-key", at_.secret);
    const auto version = llm::text_setting(config, "version", "2026-10-21");
    llm::add_header(at_, "anthropic-version", version);
    if (version < "2026-10-21") options_.sampling = anthropic::sampling_parameters::send;
    options_.max_tokens = llm::number_setting(config, "max_tokens", 8192, 1, 10'000'000);
    options_.prompt_cache = llm::flag_setting(config, "prompt_cache", true);
    options_.extra_body = llm::extra_body_setting(config);
    output_schema_ = llm::schema_passing_setting(config);
    const auto path = std::string_view(at_.url).substr(0, at_.url.find('?'));
    const bool versioned = path.ends_with("/v1") || path.ends_with("/messages");
    at_.url = llm::with_path(at_.url, versioned ? "/messages" : "/v1/messages");
  }

  const llm::endpoint& at() const { return at_; }
  ry_llm_limits limits() const { return llm::limits_of(0, anthropic::history_rules().images); }
  llm::exchange prepare(std::string_view json) const {
    auto request = llm::parse_request(json);
    const auto format = anthropic::take_output_schema(request, output_schema_);
    auto built = anthropic::build_request(request, options_, format);
    auto reader = std::make_unique<anthropic::messages_reader>(std::string(llm::text_at(request, "model")));
    return {std::move(built.body), std::move(reader), std::move(built.names), std::move(built.notices)};
  }

 private:
  llm::endpoint at_;
  anthropic::request_options options_;
  llm::schema_passing output_schema_ = llm::schema_passing::automatic;
};

using anthropic_module = llm::http_driver_module<driver>;

}  // namespace

RY_MODULE(anthropic_module, "llm_anthropic", "1.0.0", .needs("llm.provider/1", "ry.http_client/1"));
