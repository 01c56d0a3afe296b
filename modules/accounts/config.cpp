#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>
#include <ry/cpp/settings_check.hpp>

#include "json/credits.hpp"
#include "types.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

constexpr std::int64_t mib = 1024 * 1024;

tier built_in(std::string name, std::int64_t runs, std::int64_t threads, std::int64_t mcps, std::int64_t file_mib,
              std::int64_t files, std::int64_t credits, std::vector<std::string> models) {
  tier t;
  t.name = std::move(name);
  t.all_models = models.empty();
  t.models = std::move(models);
  t.concurrent_runs = runs;
  t.threads = threads;
  t.custom_mcps = mcps;
  t.upload_file_bytes = file_mib * mib;
  t.upload_files = files;
  t.starting_micro = credits * RY_MICRO_PER_CREDIT;
  return t;
}

void read_count(const json::object& o, const std::string& at, const char* name, std::int64_t& out,
                ry::settings_faults& faults) {
  const auto* v = o.if_contains(name);
  if (!v) return;
  constexpr std::int64_t max_value = std::numeric_limits<std::int64_t>::max() / RY_MICRO_PER_CREDIT;
  if (!v->is_int64() || v->get_int64() < 0 || v->get_int64() > max_value) {
    return faults.add(at + "." + name, "must be a whole number of at least 0");
  }
  out = v->get_int64();
}

void read_credits(const json::object& o, const std::string& at, const char* name, std::int64_t& micro,
                  ry::settings_faults& faults) {
  const auto* v = o.if_contains(name);
  if (!v) return;
  constexpr std::int64_t max_value = 1'000'000'000'000 * RY_MICRO_PER_CREDIT;
  const auto amount = module_json::micro_credits(*v, 0, max_value);
  if (!amount) {
    return faults.add(at + "." + name, "must be a number of credits from 0 to 1000000000000 with at most six decimals");
  }
  micro = *amount;
}

void read_tier(const json::object& o, const std::string& at, tier& t, ry::settings_faults& faults) {
  read_count(o, at, "concurrent_runs", t.concurrent_runs, faults);
  read_count(o, at, "threads", t.threads, faults);
  read_count(o, at, "custom_mcps", t.custom_mcps, faults);
  read_count(o, at, "upload_file_bytes", t.upload_file_bytes, faults);
  read_count(o, at, "upload_files", t.upload_files, faults);
  read_credits(o, at, "starting_credits", t.starting_micro, faults);
  read_count(o, at, "api_keys", t.api_keys, faults);
  const auto* models = o.if_contains("models");
  if (!models) return;
  if (!models->is_array()) return faults.add(at + ".models", "must be a list of names, or [\"*\"]");
  t.all_models = false;
  t.models.clear();
  for (const auto& m : models->get_array()) {
    if (!m.is_string() || m.get_string().empty()) {
      return faults.add(at + ".models", "must be a list of names, or [\"*\"]");
    }
    if (m.get_string() == "*") t.all_models = true;
    t.models.emplace_back(m.get_string().c_str(), m.get_string().size());
  }
  if (t.all_models) t.models.clear();
}

std::unique_ptr<const tier> frozen(tier from) {
  auto t = std::make_unique<tier>(std::move(from));
  for (const auto& m : t->models) t->model_views.push_back(ry::str(m));
  t->view = {sizeof(ry_tier_view),  t->all_models ? 1u : 0u, ry::str(t->name), t->model_views.data(),
             t->model_views.size(), t->concurrent_runs,      t->threads,       t->custom_mcps,
             t->upload_file_bytes,  t->upload_files};
  return t;
}

}  // namespace

const tier& config::find(std::string_view name) const {
  const auto it = tiers.find(name);
  return it == tiers.end() ? *default_tier : *it->second;
}

config read_config(std::string_view settings_json, ry::settings_faults& faults) {
  std::map<std::string, tier> all;
  for (auto& t : {built_in("free", 1, 10, 1, 10, 10, 500, {"runyard/basic"}),
                  built_in("pro", 3, 1000, 20, 50, 20, 2000, {"runyard/basic", "runyard/power"}),
                  built_in("enterprise", 10, 100000, 100, 200, 50, 10000, {})}) {
    all.emplace(t.name, t);
  }
  config out;
  std::string default_tier = "free";
  if (!settings_json.empty()) {
    json::error_code ec;
    const auto doc = json::parse(json::string_view(settings_json.data(), settings_json.size()), ec);
    if (ec || !doc.is_object()) throw ry::bad_request("accounts.settings", "the settings of accounts must be a table");
    const auto& o = doc.get_object();
    if (const auto* tiers = o.if_contains("tiers")) {
      static const json::object none;
      if (!tiers->is_object()) faults.add("tiers", "must be a table of tiers");
      for (const auto& [key, value] : tiers->is_object() ? tiers->get_object() : none) {
        const std::string name(key.data(), key.size());
        const std::string at = "tiers." + ry::settings_faults::quoted(name);
        if (!value.is_object()) {
          faults.add(at, "must be a table");
          continue;
        }
        const auto known = all.find(name);
        // An operator-defined tier inherits from the free tier.
        tier t = known != all.end() ? known->second : all.at("free");
        t.name = name;
        read_tier(value.get_object(), at, t, faults);
        all.insert_or_assign(name, std::move(t));
      }
    }
    if (const auto* v = o.if_contains("default_tier"); v && v->is_string()) {
      default_tier.assign(v->get_string().data(), v->get_string().size());
    }
    // The schema has checked the ranges.
    if (const auto* v = o.if_contains("anonymous"); v && v->is_string())
      out.allow_anonymous = v->get_string() == "allow";
    if (const auto* v = o.if_contains("audit_days"); v && v->is_int64()) out.audit_days = v->get_int64();
    if (const auto* v = o.if_contains("new_api_keys_hour"); v && v->is_int64()) out.new_api_keys_hour = v->get_int64();
    if (const auto* v = o.if_contains("low_credit_percent")) {
      if (!v->is_int64() || v->get_int64() < 0 || v->get_int64() > 100) {
        faults.add("low_credit_percent", "must be between 0 and 100");
      } else {
        out.low_credit_percent = v->get_int64();
      }
    }
  }
  for (auto& [name, t] : all) out.tiers.emplace(name, frozen(t));
  const auto it = out.tiers.find(default_tier);
  if (it == out.tiers.end()) faults.add("default_tier", "names no tier of accounts.tiers");
  out.default_tier = it == out.tiers.end() ? out.tiers.at("free").get() : it->second.get();
  return out;
}

std::string limits_json(const tier& t) {
  json::object o;
  o["concurrent_runs"] = t.concurrent_runs;
  o["threads"] = t.threads;
  o["custom_mcps"] = t.custom_mcps;
  o["upload_file_bytes"] = t.upload_file_bytes;
  o["upload_files"] = t.upload_files;
  o["all_models"] = t.all_models;
  json::array models;
  for (const auto& m : t.models) models.emplace_back(m);
  o["models"] = std::move(models);
  return json::serialize(o);
}

}  // namespace accounts
