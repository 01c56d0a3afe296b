#include "settings.hpp"

#include <ry/cpp/settings_check.hpp>

#include "webhook_signature.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

// Types and ranges were checked against the schema, which also has the defaults.
void number(const json::object& o, const char* name, auto& out) {
  if (const auto* v = o.if_contains(name); v && v->is_int64()) {
    out = static_cast<std::decay_t<decltype(out)>>(v->get_int64());
  }
}

bool is_web_address(std::string_view s) {
  return s.substr(0, 8) == "https://" || s.substr(0, 7) == "http://";
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
    if (const auto* list = w->get_object().if_contains("secrets"); list && list->is_array()) {
      for (const auto& s : list->get_array()) {
        const std::string_view text(s.get_string().data(), s.get_string().size());
        auto key = standard_webhooks::read_secret(text);
        if (!key) {
          faults.add("identity_webhook.secrets[" + std::to_string(&s - list->get_array().data()) + "]",
                     "is no \"whsec_\" and base64 of 24 to 64 bytes");
          continue;
        }
        out.webhook_keys.push_back(*std::move(key));
      }
    }
  }

  if (!out.enabled) return out;
  if (out.verify == verification::none && mode != "local") {
    faults.add("login.verify",
               "= \"none\" lets anybody have any address: only with deployment.mode = \"local\"");
  }
  if (out.verify == verification::email && !out.setup_code.empty()) {
    faults.add("login.setup_code", "requires login.verify = \"none\"");
  }
  if (out.verify == verification::email && !is_web_address(out.app_url)) {
    faults.add("local_login",
               "needs the address that links in mails begin with: set http.public_url or "
               "accounts.login.app_url (https://...)");
  }
  return out;
}

}  // namespace accounts
