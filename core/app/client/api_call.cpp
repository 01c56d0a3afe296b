#include "core/app/client/api_call.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <new>

#include "core/app/client/curl_handle.hpp"
#include "core/app/client/run_view.hpp"

namespace ry::app::client {

namespace json = boost::json;

namespace {

std::size_t take(char* data, std::size_t size, std::size_t n, void* to) {
  static_cast<std::string*>(to)->append(data, size * n);
  return size * n;
}

enum class method { get, post };
api_answer ask(const api_call& call, method how);

}  // namespace

std::string text_of(const json::object& o, const char* key) {
  const auto* v = o.if_contains(key);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

json::value parsed(const std::string& text) {
  boost::system::error_code ec;
  auto v = json::parse(text, ec);
  return ec ? json::value() : v;
}

std::string api_answer::reason() const {
  if (status == 0) return error;
  const auto v = parsed(body);
  const auto* o = v.if_object();
  const auto* detail = o ? o->if_contains("detail") : nullptr;
  if (!detail) return printable(body.substr(0, 500));
  if (detail->is_string()) return printable(detail->get_string());
  if (const auto* d = detail->if_object(); d && !text_of(*d, "message").empty())
    return printable(text_of(*d, "message") + " (" + text_of(*d, "error_code") + ")");
  return printable(json::serialize(*detail));
}

api_answer post(const api_call& call) {
  return ask(call, method::post);
}
api_answer get(const api_call& call) {
  return ask(call, method::get);
}

namespace {

api_answer ask(const api_call& call, method how) {
  api_answer out;
  auto url = call.url;
  while (url.ends_with('/')) url.pop_back();
  url += call.path;
  const std::unique_ptr<CURL, curl_deleter> c(curl_easy_init());
  if (!c) throw std::bad_alloc();
  std::unique_ptr<curl_slist, curl_deleter> fields;
  const auto add = [&](const std::string& line) {
    auto* grown = curl_slist_append(fields.get(), line.c_str());
    if (!grown) throw std::bad_alloc();
    (void)fields.release();
    fields.reset(grown);
  };
  if (!call.token.empty()) add("Authorization: Bearer " + call.token);
  add("Content-Type: application/json");
  add("Expect:");
  curl_easy_setopt(c.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(c.get(), CURLOPT_HTTPHEADER, fields.get());
  if (how == method::post) {
    curl_easy_setopt(c.get(), CURLOPT_POSTFIELDS, call.body.c_str());
    curl_easy_setopt(c.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(call.body.size()));
  }
  curl_easy_setopt(c.get(), CURLOPT_WRITEFUNCTION, &take);
  curl_easy_setopt(c.get(), CURLOPT_WRITEDATA, &out.body);
  curl_easy_setopt(c.get(), CURLOPT_TIMEOUT, static_cast<long>(call.timeout.count()));
  curl_easy_setopt(c.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(c.get(), CURLOPT_NOSIGNAL, 1L);
  apply(call.trust, c.get());
  if (const auto code = curl_easy_perform(c.get()); code != CURLE_OK) {
    out.error =
        "the server " + call.url + " could not be reached: " + curl_easy_strerror(code) + advice(call.trust, code);
    out.cannot_connect = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
  } else {
    curl_easy_getinfo(c.get(), CURLINFO_RESPONSE_CODE, &out.status);
  }
  return out;
}

}  // namespace

}  // namespace ry::app::client
