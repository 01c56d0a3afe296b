#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "members.hpp"
#include "types.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

using read_member = std::string (*)(const json::object*, std::string_view, std::size_t);

std::string first_of(const json::object* o, std::initializer_list<const char*> names, std::size_t max_bytes,
                     read_member read = clean_member) {
  for (const char* name : names) {
    auto text = read(o, name, max_bytes);
    if (!text.empty()) return text;
  }
  return {};
}

// Every value except an explicit false means anonymous, because an anonymous user treated as a known one costs credits.
bool is_anonymous(const json::object& claims) {
  if (const auto* v = claims.if_contains("is_anonymous"); v && !is_explicitly_false(*v)) return true;
  return clean_member(object_member(&claims, "firebase"), "sign_in_provider", 64) == "anonymous";
}

bool is_microsoft(std::string_view issuer) {
  constexpr std::string_view scheme = "https://";
  if (!issuer.starts_with(scheme)) return false;
  issuer.remove_prefix(scheme.size());
  const auto host = issuer.substr(0, issuer.find('/'));
  constexpr std::array<std::string_view, 5> all{"login.microsoftonline.com", "login.microsoftonline.us",
                                                "login.partner.microsoftonline.cn", "sts.windows.net",
                                                "sts.chinacloudapi.cn"};
  return std::find(all.begin(), all.end(), host) != all.end() || host.ends_with(".ciamlogin.com");
}

// Entra's optional claim xms_edov states whether the owner of the address's domain is verified. It is documented as a
// boolean, but also arrives as 1 and "1". It counts only for Microsoft's issuers, because no other issuer defines it.
bool is_domain_owner_verified(const json::object& claims) {
  const auto* v = claims.if_contains("xms_edov");
  if (!v || !is_microsoft(clean_member(&claims, "iss", 500))) return false;
  json::error_code ec;
  const bool one = v->is_number() && v->to_number<double>(ec) == 1;
  return one || clean_member(&claims, "xms_edov", 8) == "1" || is_true(&claims, "xms_edov");
}

bool is_verified(const json::object& claims) {
  if (is_true(&claims, "email_verified") || is_true(object_member(&claims, "app_metadata"), "email_verified"))
    return true;
  return !claims.contains("email_verified") && is_domain_owner_verified(claims);
}

// A token of a local log-in has the role of the account.
bool is_own_session(const json::object& claims) {
  return clean_member(&claims, "iss", 64) == "runyard" && claims.contains("sid");
}

std::optional<std::int64_t> numeric_date_us(const json::value& v) {
  json::error_code ec;
  const auto seconds = v.to_number<double>(ec);
  constexpr double year_9999 = 253402300799.0;
  if (ec || !(seconds >= 0) || seconds > year_9999) return std::nullopt;
  return static_cast<std::int64_t>(seconds * 1e6);
}

}  // namespace

identity read_identity(const ry_principal& principal) {
  identity out;
  out.subject = ry::text(principal.subject);
  out.id = ry::uuid::parse(out.subject);
  out.email = ry::text(principal.email);

  const auto text = ry::view(principal.claims_json);
  json::error_code ec;
  const auto doc = json::parse(json::string_view(text.data(), text.size()), ec);
  if (!ec && doc.is_object()) {
    const auto& claims = doc.get_object();
    const auto* user = object_member(&claims, "user_metadata");
    out.name = first_of(user, {"full_name", "name", "display_name"}, 200, name_member);
    if (out.name.empty()) out.name = name_member(&claims, "name", 200);
    out.avatar = first_of(user, {"avatar_url", "picture"}, 1000);
    if (out.avatar.empty()) out.avatar = clean_member(&claims, "picture", 1000);
    out.phone = first_of(&claims, {"phone", "phone_number"}, 64);
    if (out.phone.empty()) out.phone = clean_member(user, "phone", 64);
    out.referral_code = clean_member(user, "referral_code", 64);
    if (ry::view(principal.auth_kind) == "jwt") {
      out.anonymous = is_anonymous(claims);
      if (!is_own_session(claims)) out.role = principal.role;
    }
    if (const auto* iat = claims.if_contains("iat")) out.issued_unix_us = numeric_date_us(*iat);
    out.verified = is_verified(claims);
  }
  if (out.name.empty()) out.name = out.email.substr(0, out.email.find('@'));
  return out;
}

}  // namespace accounts
