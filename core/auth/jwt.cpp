#include "core/auth/jwt.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <cmath>
#include <limits>
#include <ry/cpp/text.hpp>

#include "core/auth/base64url.hpp"

namespace ry::auth {
namespace {

namespace json = boost::json;

std::optional<json::object> parse_object(std::string_view text) {
  json::error_code ec;
  auto v = json::parse(json::string_view(text.data(), text.size()), ec);
  if (ec || !v.is_object()) return std::nullopt;
  return std::move(v.get_object());
}

std::string_view string_member(const json::object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  if (!v || !v->is_string()) return {};
  return {v->get_string().data(), v->get_string().size()};
}

// All spellings of a UUID are one subject.
std::string normal_subject(std::string subject) {
  if (subject.size() != 36) return subject;
  for (std::size_t i = 0; i < subject.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? subject[i] != '-' : !std::isxdigit(static_cast<unsigned char>(subject[i]))) return subject;
  }
  return lower_ascii(subject);
}

bool has_control(std::string_view s) {
  return std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool names_audience(const json::object& claims, const std::vector<std::string>& wanted) {
  const auto is_wanted = [&](const json::value& v) {
    return v.is_string() && std::find(wanted.begin(), wanted.end(),
                                      std::string_view(v.get_string().data(), v.get_string().size())) != wanted.end();
  };
  const auto* aud = claims.if_contains("aud");
  if (!aud) aud = claims.if_contains("client_id");
  if (!aud) return false;
  if (aud->is_array()) {
    const auto& all = aud->get_array();
    return std::any_of(all.begin(), all.end(), is_wanted);
  }
  return is_wanted(*aud);
}

unverified_token refused(const char* why) {
  unverified_token t;
  t.refused = why;
  return t;
}

}  // namespace

std::string_view to_string(role r) noexcept {
  switch (r) {
    case role::super_admin:
      return "super_admin";
    case role::admin:
      return "admin";
    case role::user:
      break;
  }
  return "user";
}

bool looks_like_jwt(std::string_view text) noexcept {
  return !text.empty() && text.front() == 'e' && std::count(text.begin(), text.end(), '.') == 2;
}

unverified_token parse_token(std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes) return refused("token too long");
  const auto first = text.find('.');
  if (first == text.npos) return refused("not three segments");
  const auto second = text.find('.', first + 1);
  if (second == text.npos || text.find('.', second + 1) != text.npos) {
    return refused("not three segments");
  }

  const auto header_text = base64url_decode(text.substr(0, first));
  auto payload = base64url_decode(text.substr(first + 1, second - first - 1));
  auto signature = base64url_decode(text.substr(second + 1));
  if (!header_text || !payload || !signature) return refused("not base64url");
  const auto header = parse_object(*header_text);
  if (!header) return refused("header is not a JSON object");
  if (header->contains("crit")) return refused("critical header extensions are not supported");

  unverified_token t;
  const auto alg = string_member(*header, "alg");
  const auto known = algorithm_by_name(alg);
  if (!known) return refused("the algorithm is not supported");
  t.alg = *known;
  t.kid = string_member(*header, "kid");
  t.typ = string_member(*header, "typ");
  t.signing_input = text.substr(0, second);
  t.signature = *std::move(signature);
  t.payload = *std::move(payload);
  return t;
}

bool verify(const verification_key& key, const unverified_token& token) {
  return !token.refused && key.verify(token.alg, token.signing_input, token.signature);
}

std::string sign_hs256(std::string_view secret, std::string_view typ, const json::object& claims) {
  json::object header;
  header["alg"] = "HS256";
  header["typ"] = json::string_view(typ.data(), typ.size());
  std::string token = base64url_encode(json::serialize(header));
  token.push_back('.');
  token += base64url_encode(json::serialize(claims));
  const auto mac = hmac_sha256(secret, token);
  token.push_back('.');
  token += base64url_encode(mac);
  return token;
}

std::optional<std::int64_t> numeric_date_us(const json::value& v) {
  double seconds = 0;
  if (v.is_int64()) {
    seconds = static_cast<double>(v.get_int64());
  } else if (v.is_uint64()) {
    seconds = static_cast<double>(v.get_uint64());
  } else if (v.is_double()) {
    seconds = v.get_double();
  } else {
    return std::nullopt;
  }
  constexpr double year_9999 = 253402300799.0;
  if (!std::isfinite(seconds) || seconds < 0 || seconds > year_9999) return std::nullopt;
  return static_cast<std::int64_t>(seconds * 1e6);
}

std::string unverified_issuer(const unverified_token& token) {
  const auto claims = parse_object(token.payload);
  return claims ? std::string(string_member(*claims, "iss")) : std::string();
}

checked_claims check_claims(std::string_view payload, const claim_rules& rules, std::int64_t now_unix_us) {
  checked_claims c;
  auto claims = parse_object(payload);
  if (!claims) {
    c.refused = "claims are not a JSON object";
    return c;
  }
  const auto leeway_us = rules.leeway_s * 1'000'000;
  const auto* exp = claims->if_contains("exp");
  const auto expires = exp ? numeric_date_us(*exp) : std::nullopt;
  if (!expires) {
    c.refused = "exp is missing or not a date";
    return c;
  }
  if (*expires + leeway_us <= now_unix_us) {
    c.refused = "expired";
    return c;
  }
  if (const auto* nbf = claims->if_contains("nbf")) {
    const auto from = numeric_date_us(*nbf);
    if (!from || *from - leeway_us > now_unix_us) {
      c.refused = "not valid yet";
      return c;
    }
  }
  if (!rules.issuer.empty() && string_member(*claims, "iss") != rules.issuer) {
    c.refused = "another issuer";
    return c;
  }
  if (!rules.audiences.empty() && !names_audience(*claims, rules.audiences)) {
    c.refused = "another audience";
    return c;
  }
  const auto subject = string_member(*claims, "sub");
  if (subject.empty() || subject.size() > 255 || has_control(subject)) {
    c.refused = "sub is missing, too long or not printable";
    return c;
  }
  c.who.subject = rules.subject_prefix + normal_subject(std::string(subject));
  if (c.who.subject.size() > 255) {
    c.refused = "sub is too long for the prefix of its issuer";
    return c;
  }
  c.who.issuer = string_member(*claims, "iss");
  if (const auto email = string_member(*claims, "email"); email.size() <= 320 && !has_control(email)) {
    c.who.email = email;
  }
  c.who.role = role_of(*claims, rules.roles);
  if (const auto* iat = claims->if_contains("iat")) c.who.issued_unix_us = numeric_date_us(*iat).value_or(0);
  c.who.auth_kind = "jwt";
  c.who.claims_json = payload;
  c.who.expires_unix_us = *expires;
  c.claims = *std::move(claims);
  return c;
}

std::string session_of(const json::object& claims) {
  const auto sid = string_member(claims, "sid");
  return sid.size() <= 255 && !has_control(sid) ? std::string(sid) : std::string();
}

}  // namespace ry::auth
