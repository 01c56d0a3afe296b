#include "settings.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "webhook_signature.hpp"

namespace runs {

namespace json = boost::json;

namespace {

std::string text_at(const json::object& o, std::string_view key, std::string_view otherwise = {}) {
  const json::value* v = o.if_contains(key);
  return v != nullptr && v->is_string() ? std::string(v->as_string()) : std::string(otherwise);
}

// What the schema of a provider names beside its options.
bool is_common(std::string_view key) {
  return key == "kind" || key == "base_url" || key == "api_key" || key == "headers" || key == "timeout_seconds" ||
         key == "idle_timeout_seconds" || key == "options";
}

std::int64_t int_at(const json::object& o, std::string_view key, std::int64_t otherwise) {
  const json::value* v = o.if_contains(key);
  if (v == nullptr) return otherwise;
  if (v->is_int64()) return v->as_int64();
  if (v->is_uint64()) return static_cast<std::int64_t>(v->as_uint64());
  throw std::invalid_argument("runs." + std::string(key) + " must be an integer");
}

// A duration: a number of seconds, or one with a unit: 3000s, 50m, 2h, 30d.
std::int64_t seconds_at(const json::object& o, std::string_view key, std::int64_t otherwise,
                        std::int64_t least, std::int64_t most) {
  const json::value* v = o.if_contains(key);
  if (v == nullptr) return otherwise;
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("runs." + std::string(key) + " " + why);
  };
  std::int64_t seconds = -1;
  if (v->is_int64()) seconds = v->as_int64();
  if (v->is_string()) {
    const std::string_view text = v->as_string();
    const char* end = text.data() + text.size();
    std::int64_t count = 0;
    const auto read = std::from_chars(text.data(), end, count);
    const std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
    const std::int64_t scale = unit.empty() || unit == "s" ? 1
                               : unit == "m"               ? 60
                               : unit == "h"               ? 3600
                               : unit == "d"               ? 86'400
                                                           : 0;
    if (read.ec == std::errc() && scale != 0 && count >= 0 && count <= most)
      seconds = count > most / scale ? most + 1 : count * scale;
    else if (read.ec != std::errc() || scale == 0)
      refuse("must be a number of seconds or a duration such as 3000s, 50m, 2h or 30d");
  }
  if (seconds < least || seconds > most)
    refuse("must be from " + std::to_string(least) + " to " + std::to_string(most) + " seconds");
  return seconds;
}

json::object object_at(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v != nullptr && v->is_object() ? v->as_object() : json::object();
}

bool is_price_unit(std::int64_t v) { return v >= 0 && v <= 1'000'000'000'000'000; }

webhook_endpoint read_webhook(std::string name, const json::object& o) {
  const std::string where = "runs.webhooks." + name;
  webhook_endpoint out{std::move(name), text_at(o, "url"), {}, {}};
  if (!out.url.starts_with("https://") && !out.url.starts_with("http://"))
    throw std::invalid_argument(where + ".url must begin with https:// or http://");
  std::optional<std::string> key = standard_webhooks::read_secret(text_at(o, "secret"));
  if (!key) throw std::invalid_argument(where + ".secret must be \"whsec_\" and 24 to 64 bytes in Base64");
  out.key = *std::move(key);
  if (const json::value* wanted = o.if_contains("statuses"); wanted != nullptr && wanted->is_array()) {
    for (const json::value& v : wanted->as_array()) {
      const std::string status = v.is_string() ? std::string(v.as_string()) : std::string();
      if (status != "completed" && status != "failed" && status != "stopped")
        throw std::invalid_argument(where + ".statuses may hold completed, failed and stopped");
      out.statuses.push_back(status);
    }
  }
  return out;
}

}  // namespace

std::int64_t charge_micro(const price& p, const token_usage& usage) {
  const std::int64_t cached = usage.cached < usage.input ? usage.cached : usage.input;
  const __int128 sum = static_cast<__int128>(usage.input - cached) * p.input +
                       static_cast<__int128>(cached) * p.cached_input +
                       static_cast<__int128>(usage.output) * p.output;
  const __int128 micro = (sum + 500000) / 1000000;
  constexpr std::int64_t most = 1'000'000'000'000'000;
  return micro > most ? most : micro < 0 ? 0 : static_cast<std::int64_t>(micro);
}

std::optional<model_target> settings::target(std::string_view name) const {
  std::string_view full = name;
  if (const auto alias = models.find(name); alias != models.end()) full = alias->second;
  const std::size_t slash = full.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == full.size()) return std::nullopt;
  const std::string_view provider = full.substr(0, slash);
  for (const provider_settings& p : providers)
    if (p.name == provider) return model_target{p.name, std::string(full.substr(slash + 1))};
  return std::nullopt;
}

namespace {

// What stands under the name itself or under what it is an alias of.
template <class Value>
const Value* known_of(const settings& s, const std::map<std::string, Value, std::less<>>& all,
                      std::string_view name) {
  if (const auto found = all.find(name); found != all.end()) return &found->second;
  if (const auto alias = s.models.find(name); alias != s.models.end())
    if (const auto found = all.find(alias->second); found != all.end()) return &found->second;
  return nullptr;
}

}  // namespace

price settings::price_of(std::string_view name) const {
  const price* known = known_of(*this, prices, name);
  return known != nullptr ? *known : price();
}

std::int64_t settings::window_of(std::string_view name) const {
  const std::int64_t* known = known_of(*this, context_tokens, name);
  return known != nullptr ? *known : default_context_tokens;
}

bool settings::sees(std::string_view name) const {
  const bool* known = known_of(*this, vision, name);
  return known != nullptr && *known;
}

std::vector<std::string> settings::chain(std::string_view name) const {
  std::vector<std::string> out = {std::string(name)};
  if (const auto* more = known_of(*this, fallbacks, name))
    for (const std::string& other : *more)
      if (std::find(out.begin(), out.end(), other) == out.end()) out.push_back(other);
  return out;
}

model_choice choose_model(const settings& s, const ry_tier_view& tier, std::string_view wish) {
  const auto may_use = [&](std::string_view name) {
    if (tier.all_models != 0) return true;
    for (std::size_t i = 0; i < tier.n_models; ++i)
      if (std::string_view(tier.models[i].ptr, tier.models[i].len) == name) return true;
    return false;
  };
  if (!s.target(wish)) return {};
  if (may_use(wish)) return {std::string(wish)};
  if (const auto lower = s.downgrades.find(wish); lower != s.downgrades.end())
    if (s.target(lower->second) && may_use(lower->second)) return {lower->second};
  return {};
}

std::vector<std::string> settings::webhooks_for(std::string_view status) const {
  std::vector<std::string> out;
  for (const webhook_endpoint& e : webhooks)
    if (e.statuses.empty() || std::find(e.statuses.begin(), e.statuses.end(), status) != e.statuses.end())
      out.push_back(e.name);
  return out;
}

settings parse_settings(std::string_view text) {
  settings out;
  const json::value root = text.empty() ? json::value(json::object()) : json::parse(text);
  if (!root.is_object()) throw std::invalid_argument("the settings of runs must be a table");
  const json::object& o = root.as_object();

  const json::object providers = object_at(o, "providers");
  for (const auto& item : providers) {
    if (!item.value().is_object())
      throw std::invalid_argument("runs.providers." + std::string(item.key()) + " must be a table");
    json::object config = item.value().as_object();
    // The driver's own keys stand beside the common ones in what it is given.
    if (const json::value* options = config.if_contains("options"); options && options->is_object()) {
      const json::object own = options->as_object();
      config.erase("options");
      for (const auto& option : own) {
        if (is_common(option.key()))
          throw std::invalid_argument("runs.providers." + std::string(item.key()) + ".options." +
                                      std::string(option.key()) + " stands beside options, not in them");
        config.insert_or_assign(option.key(), option.value());
      }
    }
    provider_settings p{std::string(item.key()), text_at(config, "kind"), json::serialize(config)};
    if (p.kind.empty()) throw std::invalid_argument("runs.providers." + p.name + ".kind is missing");
    if (p.name.find('/') != std::string::npos)
      throw std::invalid_argument("runs.providers: the name \"" + p.name + "\" must not contain '/'");
    out.providers.push_back(std::move(p));
  }
  bool has_offline = false;
  for (const provider_settings& p : out.providers) has_offline = has_offline || p.name == "offline";
  if (!has_offline) out.providers.push_back({"offline", "offline", R"({"kind":"offline"})"});

  const json::object models = object_at(o, "models");
  for (const auto& item : models)
    if (item.value().is_string())
      out.models.emplace(std::string(item.key()), std::string(item.value().as_string()));
  out.models.emplace("runyard/basic", "offline/basic");
  out.models.emplace("runyard/power", out.models.at("runyard/basic"));
  for (const auto& [alias, full] : out.models)
    if (!out.target(alias))
      throw std::invalid_argument("runs.models.\"" + alias + "\" is \"" + full +
                                  "\": it must be \"<provider>/<model>\" with a provider that stands "
                                  "under runs.providers");

  const json::object prices = object_at(o, "prices");
  for (const auto& item : prices) {
    if (!item.value().is_object()) continue;
    const json::object& p = item.value().as_object();
    price value{int_at(p, "input", 0), int_at(p, "output", 0), 0};
    value.cached_input = int_at(p, "cached_input", value.input);
    if (!is_price_unit(value.input) || !is_price_unit(value.output) || !is_price_unit(value.cached_input))
      throw std::invalid_argument("runs.prices.\"" + std::string(item.key()) + "\" is out of range");
    out.prices.emplace(std::string(item.key()), value);
  }
  const json::object windows = object_at(o, "context_tokens");
  for (const auto& item : windows) {
    const std::int64_t tokens = int_at(windows, item.key(), 0);
    if (tokens < 1024)
      throw std::invalid_argument("runs.context_tokens.\"" + std::string(item.key()) +
                                  "\" must be at least 1024");
    out.context_tokens.emplace(std::string(item.key()), tokens);
  }
  const json::object vision = object_at(o, "vision");
  for (const auto& item : vision) {
    if (!item.value().is_bool())
      throw std::invalid_argument("runs.vision.\"" + std::string(item.key()) + "\" must be true or false");
    out.vision.emplace(std::string(item.key()), item.value().as_bool());
  }
  const json::object fallbacks = object_at(o, "fallbacks");
  for (const auto& item : fallbacks) {
    const std::string where = "runs.fallbacks.\"" + std::string(item.key()) + "\"";
    if (!item.value().is_array()) throw std::invalid_argument(where + " must be a list of models");
    std::vector<std::string>& list = out.fallbacks[std::string(item.key())];
    for (const json::value& name : item.value().as_array()) {
      if (!name.is_string() || !out.target(name.as_string()))
        throw std::invalid_argument(where + " names something that is no known model");
      list.emplace_back(name.as_string());
    }
  }
  out.downgrades.emplace("runyard/power", "runyard/basic");
  const json::object downgrades = object_at(o, "downgrades");
  for (const auto& item : downgrades)
    if (item.value().is_string())
      out.downgrades.insert_or_assign(std::string(item.key()), std::string(item.value().as_string()));

  out.default_model = text_at(o, "default_model", "runyard/basic");
  if (!out.target(out.default_model))
    throw std::invalid_argument("runs.default_model \"" + out.default_model + "\" is no known model");
  out.sandbox_driver = text_at(o, "sandbox");
  out.system_prompt = text_at(o, "system_prompt");
  out.timeout_seconds = int_at(
      o, "timeout_seconds", seconds_at(o, "run_timeout", out.timeout_seconds, 1, 7 * 86'400));
  out.max_steps = int_at(o, "max_steps", out.max_steps);
  out.max_attempts = int_at(o, "max_attempts", out.max_attempts);
  out.max_waiting_runs = int_at(o, "max_waiting_runs", out.max_waiting_runs);
  out.max_crashes = int_at(o, "max_crashes", out.max_crashes);
  out.default_context_tokens = int_at(o, "default_context_tokens", out.default_context_tokens);
  out.max_parallel_tools = int_at(o, "max_parallel_tools", out.max_parallel_tools);
  out.tool_timeout_seconds = int_at(o, "tool_timeout_seconds", out.tool_timeout_seconds);
  out.repeat_limit = int_at(o, "repeat_limit", out.repeat_limit);
  out.drain_seconds = int_at(o, "drain_seconds", out.drain_seconds);
  out.event_retention_seconds =
      seconds_at(o, "event_retention", out.event_retention_seconds, 60, 36'500LL * 86'400);
  out.max_output_tokens = int_at(o, "max_output_tokens", 0);
  out.upload_total_bytes = int_at(o, "upload_total_bytes", 1 << 30);
  out.upload_text_bytes = int_at(o, "upload_text_bytes", 2 << 20);
  out.upload_read_seconds = int_at(o, "upload_read_seconds", 60);
  out.extract_program = text_at(o, "extract_program");
  out.workspace_bytes = int_at(o, "workspace_bytes", 2LL << 30);
  out.workspace_file_bytes = int_at(o, "workspace_file_bytes", 512LL << 20);
  out.workspace_files = int_at(o, "workspace_files", 20000);
  out.max_live_runs = int_at(o, "max_live_runs", out.max_live_runs);
  out.sandboxes = int_at(o, "sandboxes", out.sandboxes);
  out.account_sandboxes = int_at(o, "account_sandboxes", out.account_sandboxes);
  out.max_queued_runs = int_at(o, "max_queued_runs", out.max_queued_runs);
  const json::object percents = object_at(o, "queue_percent");
  for (const auto& item : percents) out.queue_percent[std::string(item.key())] = int_at(percents, item.key(), 100);
  const json::object webhooks = object_at(o, "webhooks");
  for (const auto& item : webhooks)
    if (item.value().is_object())
      out.webhooks.push_back(read_webhook(std::string(item.key()), item.value().as_object()));
  return out;
}

}  // namespace runs
