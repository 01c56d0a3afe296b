#include "settings.hpp"

#include <ry/cpp/settings_check.hpp>
#include <ry/cpp/text.hpp>

#include "../types.hpp"
#include "webhook_signature.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

constexpr std::size_t min_token_length = 32;

// The schema, which also has the defaults, has checked types and ranges.
void number(const json::object& o, const char* name, auto& out) {
  if (const auto* v = o.if_contains(name); v && v->is_int64()) {
    out = static_cast<std::decay_t<decltype(out)>>(v->get_int64());
  }
}

std::string_view text_of(const json::value& v) {
  return v.is_string() ? std::string_view(v.get_string().data(), v.get_string().size()) : std::string_view();
}

const json::array& list_in(const json::object& o, const char* name) {
  static const json::array none;
  const auto* v = o.if_contains(name);
  return v && v->is_array() ? v->get_array() : none;
}

webhook_sender read_sender(const json::object& o, const std::string& at, ry::settings_faults& faults) {
  webhook_sender out;
  const auto key_of = [&at](const char* list, std::size_t i) {
    return at + "." + list + "[" + std::to_string(i) + "]";
  };
  const auto& secrets = list_in(o, "secrets");
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    auto key = standard_webhooks::read_secret(text_of(secrets[i]));
    if (key) {
      out.keys.push_back(*std::move(key));
    } else {
      faults.add(key_of("secrets", i), "must be \"whsec_\" and base64 of 24 to 64 bytes");
    }
  }
  const auto& tokens = list_in(o, "tokens");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto token = text_of(tokens[i]);
    if (token.size() < min_token_length)
      faults.add(key_of("tokens", i), "must have at least 32 characters; a shorter one can be guessed");
    out.tokens.push_back(hash_secret(token));
  }
  return out;
}

void read_senders(const json::object& o, std::vector<webhook_sender>& out, ry::settings_faults& faults) {
  const auto add = [&out](webhook_sender s) {
    if (!s.keys.empty() || !s.tokens.empty()) out.push_back(std::move(s));
  };
  add(read_sender(o, "identity_webhook", faults));
  const auto* issuers = o.if_contains("issuers");
  if (!issuers || !issuers->is_object()) return;
  for (const auto& [key, value] : issuers->get_object()) {
    if (!value.is_object()) continue;
    const std::string name(key.data(), key.size());
    auto sender =
        read_sender(value.get_object(), "identity_webhook.issuers." + ry::settings_faults::quoted(name), faults);
    const auto* prefix = value.get_object().if_contains("subject_prefix");
    sender.subject_prefix = prefix ? std::string(text_of(*prefix)) : name + ":";
    add(std::move(sender));
  }
}

}  // namespace

login_settings read_login_settings(const json::object& settings, std::string_view public_url,
                                   std::string_view base_path, std::string_view mode, ry::settings_faults& faults) {
  login_settings out;
  if (const auto* v = settings.if_contains("local_login"); v && v->is_bool()) {
    out.enabled = v->get_bool();
  }
  if (const auto* l = settings.if_contains("login"); l && l->is_object()) {
    const auto& o = l->get_object();
    if (const auto* v = o.if_contains("verify"); v && v->is_string() && v->get_string() == "none") {
      out.verify = verification::none;
    }
    if (const auto* v = o.if_contains("app_url"); v && v->is_string()) {
      out.app_url.assign(v->get_string().data(), v->get_string().size());
    }
    if (const auto* v = o.if_contains("setup_code"); v && v->is_string()) {
      out.setup_code.assign(v->get_string().data(), v->get_string().size());
    }
    std::int64_t memory_mib = 64;
    number(o, "min_password", out.min_password);
    number(o, "hash_passes", out.cost.passes);
    number(o, "hash_memory_mib", memory_mib);
    out.cost.memory_bytes = static_cast<std::size_t>(memory_mib) << 20;
    number(o, "hash_parallel", out.hash_parallel);
    number(o, "access_seconds", out.access_seconds);
    number(o, "session_days", out.session_days);
    number(o, "verify_hours", out.verify_hours);
    number(o, "reset_minutes", out.reset_minutes);
    number(o, "attempts_per_network", out.attempts_per_network);
  }
  if (out.app_url.empty() && !public_url.empty()) {
    while (public_url.back() == '/') public_url.remove_suffix(1);
    out.app_url = std::string(public_url) + std::string(base_path);
  }
  while (!out.app_url.empty() && out.app_url.back() == '/') out.app_url.pop_back();

  if (const auto* w = settings.if_contains("identity_webhook"); w && w->is_object()) {
    read_senders(w->get_object(), out.webhook_senders, faults);
  }

  if (!out.enabled) return out;
  if (out.verify == verification::none && mode != "local") {
    faults.add("login.verify",
               "= \"none\" lets anyone sign up with any address: allowed only with deployment.mode = \"local\"");
  }
  if (out.verify == verification::email && !out.setup_code.empty()) {
    faults.add("login.setup_code", "requires login.verify = \"none\"");
  }
  if (out.verify == verification::email && !ry::has_http_scheme(out.app_url)) {
    faults.add("local_login",
               "needs the base URL of the links in e-mails: set http.public_url or "
               "accounts.login.app_url (https://...)");
  }
  return out;
}

}  // namespace accounts
