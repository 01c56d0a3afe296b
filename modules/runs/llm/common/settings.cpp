#include "settings.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <ry/cpp/text.hpp>
#include <utility>

namespace llm {

namespace json = boost::json;

namespace {

constexpr std::string_view secret_words[] = {"auth",   "key",      "token",     "secret",
                                             "cookie", "password", "signature", "sig"};

std::string known_keys(std::initializer_list<std::string_view> keys) {
  std::string out;
  for (const auto key : keys) out.append(out.empty() ? "; its options are " : ", ").append(key);
  return out;
}

// Rejects headers that the host would reject in every request.
void check_header(std::string_view name, std::string_view value) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  const bool token = !name.empty() && std::all_of(name.begin(), name.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || marks.find(static_cast<char>(c)) != std::string_view::npos;
  });
  const bool printable =
      std::all_of(value.begin(), value.end(), [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
  if (token && printable) return;
  throw ry::bad_request("llm.config", "headers." + std::string(name) +
                                          (token ? " contains a control character" : " is not a header name"));
}

// Error messages never contain the value, which may include a password.
void read_proxy(endpoint& e, const json::object& config) {
  if (!config.contains("proxy")) return;
  e.proxy = text_setting(config, "proxy", "environment");
  if (e.proxy == "environment") return e.proxy.clear();
  if (e.proxy.empty() || e.proxy == "none") {
    e.proxied = endpoint::proxy_from::none;
    return e.proxy.clear();
  }
  std::string_view rest = e.proxy;
  const bool known = rest.starts_with("http://");
  if (known) rest.remove_prefix(7);
  const bool plain = std::all_of(rest.begin(), rest.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (!known || !plain || host_of(e.proxy).empty())
    throw ry::bad_request("llm.config",
                          "proxy must be http://[user:password@]host[:port], environment or none; other "
                          "kinds of proxies are not supported");
  e.proxied = endpoint::proxy_from::setting;
}

void read_ca_file(endpoint& e, const json::object& config) {
  constexpr std::size_t max_bytes = 4 * 1024 * 1024;
  const std::string path = text_setting(config, "ca_file", "");
  if (path.empty()) return;
  std::ifstream file(path, std::ios::binary);
  std::string text(max_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad() || text.empty())
    throw ry::bad_request("llm.config", "ca_file cannot be read, or is empty: " + path);
  if (text.size() > max_bytes) throw ry::bad_request("llm.config", "ca_file is larger than 4 MiB: " + path);
  e.ca_pem = std::move(text);
}

// Whether the name of a header or a query parameter suggests a secret value.
bool names_a_secret(std::string_view name) {
  std::string lower = ry::lower_ascii(name);
  return std::any_of(std::begin(secret_words), std::end(secret_words),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

void add_secrets_of_url(std::vector<std::string>& to, std::string_view url) {
  const auto query_at = std::min(url.find('?'), url.size());
  for (auto query = url.substr(query_at); !query.empty();) {
    query.remove_prefix(1);
    const auto pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size());
    const auto equals = std::min(pair.find('='), pair.size());
    if (equals < pair.size() && names_a_secret(pair.substr(0, equals))) to.emplace_back(pair.substr(equals + 1));
  }
  const auto begin = url.find("://");
  const auto authority = begin == std::string_view::npos ? std::string_view() : url.substr(begin + 3);
  const auto user = authority.substr(0, authority.substr(0, authority.find('/')).rfind('@'));
  const auto colon = user.find(':');
  if (user.size() < authority.size() && colon != std::string_view::npos) to.emplace_back(user.substr(colon + 1));
}

// The secrets to mask in the provider's messages.
std::vector<std::string> secrets_of(const endpoint& e) {
  constexpr std::size_t min_length = 4;  // a shorter value is not a secret, and masking it would damage other words
  std::vector<std::string> out{e.secret};
  for (const auto& [name, value] : e.headers) {
    if (!names_a_secret(name)) continue;
    out.push_back(value);
    if (const auto blank = value.find(' '); blank != std::string::npos) out.push_back(value.substr(blank + 1));
  }
  add_secrets_of_url(out, e.url);
  add_secrets_of_url(out, e.proxy);
  std::erase_if(out, [](const std::string& s) { return s.size() < min_length; });
  // Longest first: one secret may be part of another.
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return out;
}

}  // namespace

json::object parse_config(std::string_view text, std::initializer_list<std::string_view> driver_keys) {
  constexpr std::string_view common[] = {
      "kind", "base_url", "api_key", "headers", "timeout_seconds", "idle_timeout_seconds", "proxy", "ca_file"};
  boost::system::error_code ec;
  json::value v = json::parse(text.empty() ? std::string_view("{}") : text, ec);
  if (ec || !v.is_object()) throw ry::bad_request("llm.config", "the provider's settings are not a JSON object");
  json::object config = std::move(v.get_object());
  for (const auto& [key, value] : config) {
    const std::string_view name(key.data(), key.size());
    if (std::find(std::begin(common), std::end(common), name) == std::end(common) &&
        std::find(driver_keys.begin(), driver_keys.end(), name) == driver_keys.end())
      throw ry::bad_request("llm.config", std::string(name) + " is not known to the driver" + known_keys(driver_keys));
  }
  return config;
}

schema_passing schema_passing_setting(const json::object& config) {
  const std::string value = text_setting(config, "output_schema", "auto");
  if (value == "auto") return schema_passing::automatic;
  if (value == "native") return schema_passing::native;
  if (value == "prompt") return schema_passing::prompt;
  throw ry::bad_request("llm.config", "output_schema must be auto, native or prompt");
}

std::string text_setting(const json::object& config, std::string_view key, std::string_view default_value) {
  const auto* v = config.if_contains(key);
  if (!v || v->is_null()) return std::string(default_value);
  if (!v->is_string()) throw ry::bad_request("llm.config", std::string(key) + " must be a string");
  return std::string(v->get_string());
}

bool flag_setting(const json::object& config, std::string_view key, bool default_value) {
  const auto* v = config.if_contains(key);
  if (!v || v->is_null()) return default_value;
  if (!v->is_bool()) throw ry::bad_request("llm.config", std::string(key) + " must be true or false");
  return v->get_bool();
}

json::object extra_body_setting(const json::object& config) {
  const auto* v = config.if_contains("extra_body");
  if (!v || v->is_null()) return {};
  if (!v->is_object()) throw ry::bad_request("llm.config", "extra_body must be a table");
  return v->get_object();
}

std::string with_path(std::string_view url, std::string_view path) {
  const auto query_at = std::min(url.find('?'), url.size());
  const auto query = url.substr(query_at);
  std::string out(url.substr(0, query_at));
  while (out.ends_with('/')) out.pop_back();
  if (!out.ends_with(path)) out += path;
  return out.append(query);
}

std::string host_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (const auto at = url.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
  std::string host =
      ry::lower_ascii(url.starts_with('[') ? url.substr(0, url.find(']') + 1) : url.substr(0, url.find(':')));
  return host;
}

std::int64_t number_setting(const json::object& config, std::string_view key, std::int64_t default_value,
                            std::int64_t min, std::int64_t max) {
  const auto* v = config.if_contains(key);
  if (!v || v->is_null()) return default_value;
  boost::system::error_code ec;
  const auto n = v->to_number<std::int64_t>(ec);
  if (ec || n < min || n > max)
    throw ry::bad_request("llm.config", std::string(key) + " must be a whole number from " + std::to_string(min) +
                                            " to " + std::to_string(max));
  return n;
}

endpoint read_endpoint(std::string_view name, const json::object& config, std::string_view default_base) {
  endpoint e;
  e.name = name;
  e.url = text_setting(config, "base_url", default_base);
  if (e.url.empty()) e.url = default_base;
  if (!e.url.starts_with("http://") && !e.url.starts_with("https://"))
    throw ry::bad_request("llm.config", "base_url must begin with http:// or https://");
  e.url = with_path(e.url.substr(0, e.url.find('#')), "");
  e.secret = text_setting(config, "api_key", "");
  e.total_ms = static_cast<std::uint64_t>(number_setting(config, "timeout_seconds", 600, 1, 86'400)) * 1000;
  e.idle_ms = static_cast<std::uint64_t>(number_setting(config, "idle_timeout_seconds", 120, 1, 86'400)) * 1000;
  if (const auto* h = config.if_contains("headers"); h && !h->is_null()) {
    if (!h->is_object()) throw ry::bad_request("llm.config", "headers must be an object of strings");
    for (const auto& [key, value] : h->get_object()) {
      if (!value.is_string()) throw ry::bad_request("llm.config", "headers." + std::string(key) + " must be a string");
      check_header(key, value.get_string());
      e.headers.emplace_back(std::string(key), std::string(value.get_string()));
    }
  }
  read_proxy(e, config);
  read_ca_file(e, config);
  e.secrets = secrets_of(e);
  return e;
}

void add_header(endpoint& at, std::string_view name, std::string value) {
  for (const auto& [known, given] : at.headers)
    if (ry::iequals(known, name)) return;
  at.headers.emplace_back(std::string(name), std::move(value));
}

}  // namespace llm
