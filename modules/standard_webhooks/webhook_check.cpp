// webhook_check: reads one JSON object per line of standard input and prints one result per line.
//   {"secrets": [...], "headers": {...}, "body": text, "now": seconds}  -> the id of the message, or null
//   {"secret": text, "id": text, "timestamp": seconds, "body": text}    -> its signature
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <string>

#include "webhook_signature.hpp"

namespace json = boost::json;

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const json::value parsed = json::parse(line);
    const json::object& o = parsed.as_object();
    const std::string body(o.at("body").as_string());
    json::value result;
    if (o.contains("secrets")) {
      std::vector<std::string> keys;
      for (const auto& s : o.at("secrets").as_array()) {
        if (auto key = standard_webhooks::read_secret(std::string(s.as_string()))) keys.push_back(*std::move(key));
      }
      const json::object& headers = o.at("headers").as_object();
      const auto header = [&](std::string_view name) -> std::string_view {
        const auto* v = headers.if_contains(name);
        return v == nullptr ? std::string_view() : std::string_view(v->get_string().data(), v->get_string().size());
      };
      const auto id = standard_webhooks::verified(keys, header, body, o.at("now").as_int64());
      if (id) result = *id;
    } else {
      const auto key = standard_webhooks::read_secret(std::string(o.at("secret").as_string()));
      if (key) {
        result =
            standard_webhooks::signature(*key, std::string(o.at("id").as_string()), o.at("timestamp").as_int64(), body);
      }
    }
    std::cout << json::serialize(result) << std::endl;
  }
  return 0;
}
