// Helpers of the tests: a run, its events, and requests.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "body.hpp"
#include "chat_builder.hpp"
#include "chat_request.hpp"
#include "errors.hpp"
#include "ids.hpp"
#include "json/members.hpp"
#include "response_builder.hpp"
#include "response_request.hpp"

namespace openai_api {
inline const ry::uuid run = *ry::uuid::parse("01a22065-22ed-7042-95d7-ca62042f131d");
inline const ry::uuid thread = *ry::uuid::parse("01a22065-22ec-7f47-84fb-360325c85436");

inline json::object object(std::string_view text) {
  return json::parse(json::string_view(text.data(), text.size())).as_object();
}
inline response_request request(std::string_view text) {
  return read_response_request(object(text), {});
}
template <class F>
api_error error_of(F f) {
  try {
    f();
  } catch (const api_error& e) {
    return e;
  }
  ADD_FAILURE() << "no error";
  return invalid("", "");
}
inline std::string field(const start_input& input, std::string_view name) {
  for (const auto& [n, v] : input.fields)
    if (n == name) return v;
  return "";
}
inline std::string field(const start_fields& fields, std::string_view name) {
  for (const auto& [n, v] : fields)
    if (n == name) return v;
  return "";
}

inline response_builder builder() {
  return response_builder({run, thread, true, object(R"({"model":"m"})")});
}
using numbered = std::vector<std::pair<std::uint64_t, std::string>>;
inline std::vector<json::object> apply(response_builder& to, const numbered& events) {
  std::vector<json::object> out;
  for (const auto& [n, text] : events) to.apply(n, text, out);
  return out;
}
inline std::vector<std::string> types_of(const std::vector<json::object>& events) {
  std::vector<std::string> out;
  for (const json::object& e : events) out.push_back(module_json::text_of(e, "type"));
  return out;
}
inline std::vector<std::string> item_types(const json::object& response) {
  std::vector<std::string> out;
  for (const json::value& i : response.at("output").as_array())
    out.push_back(module_json::text_of(i.as_object(), "type"));
  return out;
}

inline const std::string running = R"({"type":"status","status":"running"})";
inline const std::string answer_1 = R"({"type":"llm_response_start","step":1,"attempt":1})";
inline const std::string answer_1_again = R"({"type":"llm_response_start","step":1,"attempt":2})";
inline const std::string hello = R"({"type":"llm_response_chunk","content":"Hello"})";
inline const std::string end_stop =
    R"({"type":"llm_response_end","step":1,"finish":"stop","usage":{"input_tokens":3,"output_tokens":2,"cached_tokens":1}})";
inline const std::string completed =
    R"({"type":"status","status":"completed","reason":"ok","duration_ms":2500,"usage":{"input_tokens":3,"output_tokens":2,"cached_tokens":1}})";

}  // namespace openai_api
