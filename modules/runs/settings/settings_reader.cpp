#include "settings/settings_reader.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <optional>
#include <ry/cpp/settings_check.hpp>
#include <stdexcept>

#include "json/members.hpp"
#include "settings/model_names.hpp"
#include "webhook_signature.hpp"

namespace runs {

namespace json = boost::json;

namespace {

json::object object_at(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v != nullptr && v->is_object() ? v->as_object() : json::object();
}

std::string in_quotes(std::string_view name) {
  return '"' + std::string(name) + '"';
}

// The settings key of an entry: key_in("models", "a/b") is models."a/b".
std::string key_in(std::string_view table, std::string_view name) {
  return std::string(table) + (table.empty() ? "" : ".") + ry::settings_faults::quoted(name);
}

bool is_price_unit(std::int64_t v) {
  return v >= 0 && v <= 1'000'000'000'000'000;
}

// A number of seconds, or a number with a unit: 3000s, 50m, 2h, 30d. nullopt: neither.
std::optional<std::int64_t> duration_of(std::string_view text, std::int64_t max) {
  const char* end = text.data() + text.size();
  std::int64_t count = 0;
  const auto read = std::from_chars(text.data(), end, count);
  const std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
  const std::int64_t scale = unit.empty() || unit == "s" ? 1
                             : unit == "m"               ? 60
                             : unit == "h"               ? 3600
                             : unit == "d"               ? 86'400
                                                         : 0;
  if (read.ec != std::errc() || scale == 0) return std::nullopt;
  return count > max / scale ? max + 1 : count * scale;
}

// Reads the settings one by one. Reports invalid values as faults and continues without them.
class settings_parser {
 public:
  explicit settings_parser(ry::settings_faults& faults) : faults_(faults) {}

  settings read(std::string_view text);

 private:
  void fault(std::string key, std::string message) { faults_.add(std::move(key), std::move(message)); }
  std::int64_t integer(const json::object& o, std::string_view table, std::string_view key, std::int64_t default_value);
  std::int64_t seconds(const json::object& o, std::string_view key, std::int64_t default_value, std::int64_t min,
                       std::int64_t max);
  void read_provider(settings& out, std::string_view name, json::object config);
  void read_models(settings& out, const json::object& o);
  void read_model_options(settings& out, const json::object& all);
  // Reports a fault if the key of a table of models is not a known model.
  void check_model(const settings& s, std::string_view table, std::string_view name);
  void read_prices(settings& out, const json::object& prices);
  void read_fallbacks(settings& out, const json::object& fallbacks);
  void read_webhook(settings& out, std::string_view name, const json::object& o);
  void read_limits(settings& out, const json::object& o);

  ry::settings_faults& faults_;
};

std::int64_t settings_parser::integer(const json::object& o, std::string_view table, std::string_view key,
                                      std::int64_t default_value) {
  const json::value* v = o.if_contains(key);
  if (v == nullptr) return default_value;
  if (v->is_int64()) return v->as_int64();
  if (v->is_uint64()) return static_cast<std::int64_t>(v->as_uint64());
  fault(key_in(table, key), "must be an integer");
  return default_value;
}

std::int64_t settings_parser::seconds(const json::object& o, std::string_view key, std::int64_t default_value,
                                      std::int64_t min, std::int64_t max) {
  const json::value* v = o.if_contains(key);
  if (v == nullptr) return default_value;
  std::optional<std::int64_t> value;
  if (v->is_int64()) value = v->as_int64();
  if (v->is_string()) value = duration_of(v->as_string(), max);
  if (!value)
    fault(std::string(key), "must be a number of seconds or a duration such as 3000s, 50m, 2h or 30d");
  else if (*value < min || *value > max)
    fault(std::string(key), "must be from " + std::to_string(min) + " to " + std::to_string(max) + " seconds");
  else
    return *value;
  return default_value;
}

void settings_parser::read_provider(settings& out, std::string_view name, json::object config) {
  const std::string key = key_in("providers", name);
  if (name.find('/') != std::string_view::npos)
    return fault(key, "must have a name without '/': models are called <provider>/<model>");
  // The driver receives its own options together with the common keys.
  if (const json::value* options = config.if_contains("options"); options && options->is_object()) {
    const json::object driver_options = options->as_object();
    config.erase("options");
    for (const auto& option : driver_options) {
      if (is_provider_key(option.key()))
        fault(key_in(key + ".options", option.key()), "belongs in the provider's table, not in `options`");
      else
        config.insert_or_assign(option.key(), option.value());
    }
  }
  provider_settings p{std::string(name), module_json::text_of(config, "kind"), json::serialize(config)};
  if (p.kind.empty()) fault(key + ".kind", "is missing");
  out.providers.push_back(std::move(p));
}

void settings_parser::read_models(settings& out, const json::object& o) {
  const json::object models = object_at(o, "models");
  for (const auto& item : models)
    if (item.value().is_string()) out.models.emplace(std::string(item.key()), std::string(item.value().as_string()));
  out.models.emplace("runyard/basic", "offline/basic");
  out.models.emplace("runyard/power", out.models.at("runyard/basic"));
  for (const auto& [alias, full] : out.models)
    if (models.contains(alias) && !out.target(alias))
      fault(key_in("models", alias), "is " + in_quotes(full) +
                                         ": it must be \"<provider>/<model>\" with a provider of runs.providers" +
                                         did_you_mean(out, full));

  out.downgrades.emplace("runyard/power", "runyard/basic");
  const json::object downgrades = object_at(o, "downgrades");
  for (const auto& item : downgrades)
    if (item.value().is_string())
      out.downgrades.insert_or_assign(std::string(item.key()), std::string(item.value().as_string()));
  out.default_model = module_json::text_of(o, "default_model", "runyard/basic");
  if (o.contains("default_model") && !out.models.contains(out.default_model) && !out.target(out.default_model))
    fault("default_model",
          in_quotes(out.default_model) + " is not a known model" + did_you_mean(out, out.default_model));

  for (const auto& item : downgrades)
    for (const std::string_view name : {std::string_view(item.key()), std::string_view(out.downgrades[item.key()])})
      if (!out.target(name))
        fault(key_in("downgrades", item.key()), in_quotes(name) + " is not a known model" + did_you_mean(out, name));

  const json::object windows = object_at(o, "context_tokens");
  for (const auto& item : windows) {
    check_model(out, "context_tokens", item.key());
    const std::int64_t tokens = integer(windows, "context_tokens", item.key(), 1024);
    if (tokens < 1024) fault(key_in("context_tokens", item.key()), "must be at least 1024");
    out.context_tokens.emplace(std::string(item.key()), tokens);
  }
  const json::object max_tools = object_at(o, "max_tools");
  for (const auto& item : max_tools) {
    check_model(out, "max_tools", item.key());
    const std::int64_t tools = integer(max_tools, "max_tools", item.key(), 1);
    if (tools < 1) fault(key_in("max_tools", item.key()), "must be at least 1");
    out.max_tools.emplace(std::string(item.key()), std::max<std::int64_t>(tools, 1));
  }
  const json::object vision = object_at(o, "vision");
  for (const auto& item : vision) {
    check_model(out, "vision", item.key());
    if (item.value().is_bool())
      out.vision.emplace(std::string(item.key()), item.value().as_bool());
    else
      fault(key_in("vision", item.key()), "must be true or false");
  }
}

void settings_parser::check_model(const settings& s, std::string_view table, std::string_view name) {
  if (!s.target(name))
    fault(key_in(table, name),
          "is not a known model: neither an alias in runs.models nor \"<provider>/<model>\" with a "
          "provider of runs.providers" +
              did_you_mean(s, name));
}

void settings_parser::read_model_options(settings& out, const json::object& all) {
  for (const auto& item : all) {
    const std::string key = key_in("model_options", item.key());
    check_model(out, "model_options", item.key());
    if (!item.value().is_object()) {
      fault(key, "must be a table");
      continue;
    }
    model_parameters& options = out.model_options[std::string(item.key())];
    for (const auto& option : item.value().as_object()) {
      const json::value& v = option.value();
      const std::string text = v.is_string() ? std::string(v.as_string()) : json::serialize(v);
      const std::string error = is_model_parameter(option.key()) ? set_parameter(options, option.key(), text)
                                                                 : std::string("is not a model parameter");
      if (!error.empty()) fault(key_in(key, option.key()), error);
    }
  }
}

void settings_parser::read_prices(settings& out, const json::object& prices) {
  for (const auto& item : prices) {
    if (!item.value().is_object()) continue;
    const json::object& p = item.value().as_object();
    const std::string key = key_in("prices", item.key());
    check_model(out, "prices", item.key());
    price value{integer(p, key, "input", 0), integer(p, key, "output", 0)};
    value.cached_input = integer(p, key, "cached_input", value.input);
    value.cache_write = integer(p, key, "cache_write", value.input);
    if (!is_price_unit(value.input) || !is_price_unit(value.output) || !is_price_unit(value.cached_input) ||
        !is_price_unit(value.cache_write))
      fault(key, "is out of range");
    out.prices.emplace(std::string(item.key()), value);
  }
}

void settings_parser::read_fallbacks(settings& out, const json::object& fallbacks) {
  for (const auto& item : fallbacks) {
    const std::string key = key_in("fallbacks", item.key());
    check_model(out, "fallbacks", item.key());
    if (!item.value().is_array()) {
      fault(key, "must be a list of models");
      continue;
    }
    std::vector<std::string>& list = out.fallbacks[std::string(item.key())];
    for (const json::value& name : item.value().as_array()) {
      const std::string entry = key + "[" + std::to_string(&name - item.value().as_array().data()) + "]";
      if (!name.is_string())
        fault(entry, "must be the name of a model");
      else if (!out.target(name.as_string()))
        fault(entry, in_quotes(name.as_string()) + " is not a known model" + did_you_mean(out, name.as_string()));
      else
        list.emplace_back(name.as_string());
    }
  }
}

void settings_parser::read_webhook(settings& out, std::string_view name, const json::object& o) {
  const std::string at = key_in("webhooks", name);
  webhook_endpoint hook{std::string(name), module_json::text_of(o, "url"), {}, {}};
  if (!hook.url.starts_with("https://") && !hook.url.starts_with("http://"))
    fault(at + ".url", "must begin with https:// or http://");
  std::optional<std::string> key = standard_webhooks::read_secret(module_json::text_of(o, "secret"));
  if (!key) fault(at + ".secret", "must be \"whsec_\" and 24 to 64 bytes in Base64");
  hook.key = key.value_or(std::string());
  if (const json::value* statuses = o.if_contains("statuses"); statuses != nullptr && statuses->is_array()) {
    for (const json::value& v : statuses->as_array()) {
      const std::string status = v.is_string() ? std::string(v.as_string()) : std::string();
      if (status != "completed" && status != "failed" && status != "stopped")
        fault(at + ".statuses[" + std::to_string(hook.statuses.size()) + "]", "must be completed, failed or stopped");
      hook.statuses.push_back(status);
    }
  }
  out.webhooks.push_back(std::move(hook));
}

void settings_parser::read_limits(settings& out, const json::object& o) {
  out.sandbox_driver = module_json::text_of(o, "sandbox");
  out.system_prompt = module_json::text_of(o, "system_prompt");
  out.code_instructions = module_json::text_of(o, "code_instructions");
  out.timeout_seconds =
      integer(o, "", "timeout_seconds", seconds(o, "run_timeout", out.timeout_seconds, 1, 7 * 86'400));
  out.max_steps = integer(o, "", "max_steps", out.max_steps);
  out.max_attempts = integer(o, "", "max_attempts", out.max_attempts);
  out.max_continuations = integer(o, "", "max_continuations", out.max_continuations);
  out.max_waiting_runs = integer(o, "", "max_waiting_runs", out.max_waiting_runs);
  out.max_pending_prompts = integer(o, "", "max_pending_prompts", out.max_pending_prompts);
  out.pending_prompt_bytes = integer(o, "", "pending_prompt_bytes", out.pending_prompt_bytes);
  out.max_crashes = integer(o, "", "max_crashes", out.max_crashes);
  out.default_context_tokens = integer(o, "", "default_context_tokens", out.default_context_tokens);
  out.max_parallel_tools = integer(o, "", "max_parallel_tools", out.max_parallel_tools);
  out.tool_timeout_seconds = integer(o, "", "tool_timeout_seconds", out.tool_timeout_seconds);
  out.tool_search_from = integer(o, "", "tool_search_from", out.tool_search_from);
  out.repeat_limit = integer(o, "", "repeat_limit", out.repeat_limit);
  out.drain_seconds = integer(o, "", "drain_seconds", out.drain_seconds);
  out.event_retention_seconds = seconds(o, "event_retention", out.event_retention_seconds, 60, 36'500LL * 86'400);
  out.max_output_tokens = integer(o, "", "max_output_tokens", 0);
  out.upload_total_bytes = integer(o, "", "upload_total_bytes", 1 << 30);
  out.upload_text_bytes = integer(o, "", "upload_text_bytes", 2 << 20);
  out.upload_read_seconds = integer(o, "", "upload_read_seconds", 60);
  out.image_cache_bytes = integer(o, "", "image_cache_bytes", 64 << 20);
  out.extract_program = module_json::text_of(o, "extract_program");
  out.workspace_bytes = integer(o, "", "workspace_bytes", 2LL << 30);
  out.workspace_file_bytes = integer(o, "", "workspace_file_bytes", 512LL << 20);
  out.workspace_files = integer(o, "", "workspace_files", 20000);
  const auto by_tier = [&](const char* name, std::map<std::string, std::int64_t> defaults) {
    const json::object given = object_at(o, name);
    for (const auto& item : given) defaults[std::string(item.key())] = integer(given, name, item.key(), 0);
    return defaults;
  };
  out.account_workspace_bytes =
      by_tier("account_workspace_bytes", {{"free", 4LL << 30}, {"pro", 32LL << 30}, {"enterprise", 256LL << 30}});
  out.account_workspace_files =
      by_tier("account_workspace_files", {{"free", 100'000}, {"pro", 500'000}, {"enterprise", 2'000'000}});
  out.account_prompt_bytes =
      by_tier("account_prompt_bytes", {{"free", 256LL << 20}, {"pro", 2LL << 30}, {"enterprise", 16LL << 30}});
  out.max_live_runs = integer(o, "", "max_live_runs", out.max_live_runs);
  out.sandboxes = integer(o, "", "sandboxes", out.sandboxes);
  out.account_sandboxes = integer(o, "", "account_sandboxes", out.account_sandboxes);
  out.approval_timeout_seconds = seconds(o, "approval_timeout", out.approval_timeout_seconds, 1, 90 * 86'400);
  out.approval_on_timeout = module_json::text_of(o, "approval_on_timeout", out.approval_on_timeout);
  out.ask_user = module_json::flag_at(o, "ask_user", out.ask_user);
  out.elicitation = module_json::flag_at(o, "elicitation", out.elicitation);
  out.question_hold_seconds = integer(o, "", "question_hold_seconds", out.question_hold_seconds);
  out.max_questions = integer(o, "", "max_questions", out.max_questions);
  out.park_slot_seconds = integer(o, "", "park_slot_seconds", out.park_slot_seconds);
  out.max_remembered_approvals = integer(o, "", "max_remembered_approvals", out.max_remembered_approvals);
  out.decision_requests_per_hour = integer(o, "", "decision_requests_per_hour", out.decision_requests_per_hour);
  out.max_queued_runs = integer(o, "", "max_queued_runs", out.max_queued_runs);
  const json::object percents = object_at(o, "queue_percent");
  for (const auto& item : percents)
    out.queue_percent[std::string(item.key())] = integer(percents, "queue_percent", item.key(), 100);
}

settings settings_parser::read(std::string_view text) {
  settings out;
  const json::value root = text.empty() ? json::value(json::object()) : json::parse(text);
  if (!root.is_object()) throw std::invalid_argument("the settings of runs must be a table");
  const json::object& o = root.as_object();

  const json::object providers = object_at(o, "providers");
  for (const auto& item : providers) {
    if (item.value().is_object())
      read_provider(out, item.key(), item.value().as_object());
    else
      fault(key_in("providers", item.key()), "must be a table");
  }
  bool has_offline = false;
  for (const provider_settings& p : out.providers) has_offline = has_offline || p.name == "offline";
  if (!has_offline) out.providers.push_back({"offline", "offline", R"({"kind":"offline"})"});

  read_models(out, o);
  read_model_options(out, object_at(o, "model_options"));
  read_prices(out, object_at(o, "prices"));
  read_fallbacks(out, object_at(o, "fallbacks"));
  read_limits(out, o);
  if (const json::value* rules = o.if_contains("tool_policy")) {
    // The text begins with the key.
    const std::string problem = read_tool_rules("tool_policy", *rules, out.tools.rules);
    if (const std::size_t end = problem.find(' '); end != std::string::npos)
      fault(problem.substr(0, end), problem.substr(end + 1));
  }
  if (module_json::text_of(o, "tool_default") == "risk") out.tools.otherwise = tool_default::risk;
  const json::object webhooks = object_at(o, "webhooks");
  for (const auto& item : webhooks)
    if (item.value().is_object()) read_webhook(out, item.key(), item.value().as_object());
  return out;
}

}  // namespace

bool is_provider_key(std::string_view key) {
  return key == "kind" || key == "base_url" || key == "api_key" || key == "headers" || key == "timeout_seconds" ||
         key == "idle_timeout_seconds" || key == "proxy" || key == "ca_file" || key == "options";
}

settings parse_settings(std::string_view text, ry::settings_faults& faults) {
  return settings_parser(faults).read(text);
}

}  // namespace runs
