// Driver `openai` of llm.provider/1: the Chat Completions API and the Responses API, of OpenAI and of compatible
// servers.
#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "chat_reader.hpp"
#include "chat_request.hpp"
#include "dialect.hpp"
#include "driver.hpp"
#include "reasoning_items.hpp"
#include "responses_reader.hpp"
#include "responses_request.hpp"
#include "settings.hpp"

namespace {

class driver {
 public:
  static constexpr const char* kind = "openai";

  driver(std::string_view name, std::string_view config_json) {
    const auto config = llm::parse_config(
        config_json, {"wire", "max_tokens_field", "stream_usage", "send_reasoning", "encrypted_reasoning", "extra_body",
                      "dialect", "alternate_roles", "max_tools", "max_tool_description", "output_schema"});
    at_ = llm::read_endpoint(name, config, "https://api.openai.com/v1");
    if (!at_.secret.empty()) {
      const bool azure = openai::is_azure(at_.url);
      llm::add_header(at_, azure ? "api-key" : "Authorization", azure ? at_.secret : "Bearer " + at_.secret);
    }
    const auto named = llm::text_setting(config, "dialect", "auto");
    const auto dialect = openai::read_dialect(named, at_.url);
    if (!dialect) throw ry::bad_request("llm.config", "dialect must be auto, compatible, openai, mistral or gemini");
    dialect_ = *dialect;
    const auto wire = llm::text_setting(config, "wire", "chat");
    if (wire != "chat" && wire != "responses") throw ry::bad_request("llm.config", "wire must be chat or responses");
    reject_keys_of_other_wire(config, wire);
    output_schema_ = llm::schema_passing_setting(config);
    if (wire == "chat")
      use_chat(config, *dialect);
    else
      use_responses(config, *dialect);
  }

  const llm::endpoint& at() const { return at_; }
  ry_llm_limits limits() const { return llm::limits_of(options_.tools.count, options_.history.images); }
  llm::exchange prepare(std::string_view json) const {
    auto request = llm::parse_request(json);
    const auto format = openai::take_output_schema(request, dialect_, output_schema_);
    std::string model(llm::text_at(request, "model"));
    if (responses_) {
      auto built = openai::build_responses_request(request, *responses_, *refusals_, format);
      auto reader = std::make_unique<openai::responses_reader>(openai::reasoning_origin{at_.name, std::move(model)},
                                                               refusals_, std::move(built.reasoning));
      return {std::move(built.body), std::move(reader), std::move(built.names), std::move(built.notices)};
    }
    auto built = openai::build_request(request, options_, format);
    auto reader = std::make_unique<openai::chat_reader>(std::move(model), options_.send_reasoning);
    return {std::move(built.body), std::move(reader), std::move(built.names), std::move(built.notices)};
  }

 private:
  static void reject_keys_of_other_wire(const boost::json::object& config, std::string_view wire) {
    const std::pair<std::string_view, std::string_view> keys[] = {{"max_tokens_field", "chat"},
                                                                  {"stream_usage", "chat"},
                                                                  {"send_reasoning", "chat"},
                                                                  {"encrypted_reasoning", "responses"}};
    for (const auto& [key, of] : keys)
      if (of != wire && config.contains(key))
        throw ry::bad_request("llm.config", std::string(key) + " applies to wire = \"" + std::string(of) + "\" only");
  }

  // Settings for the rules that both wire protocols share.
  template <class Options>
  static void read_rules(const boost::json::object& config, Options& options) {
    options.alternate_roles = llm::flag_setting(config, "alternate_roles", options.alternate_roles);
    const auto count = [&config](std::string_view key, std::size_t default_value) {
      constexpr std::int64_t max_count = 1'000'000;
      return static_cast<std::size_t>(
          llm::number_setting(config, key, static_cast<std::int64_t>(default_value), 0, max_count));
    };
    options.tools.count = count("max_tools", options.tools.count);
    options.tools.description_chars = count("max_tool_description", options.tools.description_chars);
    options.extra_body = llm::extra_body_setting(config);
  }

  void use_chat(const boost::json::object& config, openai::dialect dialect) {
    options_ = openai::options_of(dialect);
    const bool is_openai = dialect == openai::dialect::openai;
    options_.max_tokens_field =
        llm::text_setting(config, "max_tokens_field", is_openai ? "max_completion_tokens" : "max_tokens");
    options_.stream_usage = llm::flag_setting(config, "stream_usage", true);
    options_.send_reasoning = llm::flag_setting(config, "send_reasoning", openai::is_deepseek(at_.url));
    read_rules(config, options_);
    at_.url = llm::with_path(at_.url, "/chat/completions");
  }

  void use_responses(const boost::json::object& config, openai::dialect dialect) {
    auto options = openai::responses_options_of(dialect);
    options.provider = at_.name;
    options.encrypted_reasoning = llm::flag_setting(config, "encrypted_reasoning", true);
    read_rules(config, options);
    if (auto deployment = openai::split_deployment(at_.url)) {
      at_.url = std::move(deployment->base_url);
      options.deployment = std::move(deployment->deployment);
    }
    at_.url = llm::with_path(at_.url, "/responses");
    responses_ = std::move(options);
    refusals_ = std::make_shared<openai::reasoning_refusals>();
  }

  llm::endpoint at_;
  openai::dialect dialect_ = openai::dialect::compatible;
  llm::schema_passing output_schema_ = llm::schema_passing::automatic;
  openai::request_options options_;  // for the wire "chat"
  std::optional<openai::responses_options> responses_;  // for the wire "responses"; nullopt: the wire is "chat"
  std::shared_ptr<openai::reasoning_refusals> refusals_;
};

using openai_module = llm::http_driver_module<driver>;

}  // namespace

RY_MODULE(openai_module, "llm_openai", "1.0.0", .needs("llm.provider/1", "ry.http_client/1"));
