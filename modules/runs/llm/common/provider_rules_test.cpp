// Property test: requests built from random conversations, including those of other providers, obey the rules that each
// provider enforces. The rules are restated here, independently of the code under test.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "anthropic/messages_request.hpp"
#include "image_type.hpp"
#include "openai/chat_request.hpp"
#include "openai/responses_request.hpp"
#include "request.hpp"
#include "test_images.hpp"

namespace {

namespace json = boost::json;
using llm::array_at;
using llm::object_at;
using llm::text_at;

// ---- conversations ---------------------------------------------------------------------------------

class random_conversation {
 public:
  explicit random_conversation(std::uint32_t seed) : random_(seed) {}

  json::object request() {
    json::object out{{"model", "m"}, {"messages", messages()}};
    if (chance(2)) out["system"] = text();
    if (chance(3)) out["tools"] = tools();
    if (chance(4)) out["tool_choice"] = "auto";
    return out;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  template <class T, std::size_t N>
  const T& one_of(const T (&list)[N]) {
    return list[below(N)];
  }

  std::string text() {
    static const std::string texts[] = {"",      " ",           "\n\n",      "\u200b",   "\u00a0\u3000",
                                        "hello", "two\nlines ", "Error: no", "  spaced", "\u4e2d\u6587"};
    return one_of(texts);
  }
  std::string id() {
    static const std::string ids[] = {"",
                                      "1",
                                      "call_1",
                                      "call_2",
                                      "list:1",
                                      "list.1",
                                      "toolu_01A",
                                      "abcDEF123",
                                      "abcDEF124",
                                      "a b",
                                      "\u00e9",
                                      "functions.list_files:0",
                                      std::string(41, 'x'),
                                      std::string(64, 'x'),
                                      std::string(65, 'x'),
                                      "----"};
    return one_of(ids);
  }
  std::string name() {
    static const std::string names[] = {
        "f", "g", "21st__search", "a.b", "a b", "", "\u63a2\u3059", std::string(70, 'n'), "plain"};
    return one_of(names);
  }
  json::value image() {
    using namespace llm::test;
    static const std::string bytes[] = {png(5, 5),
                                        png(2001, 5),
                                        png(8001, 5),
                                        jpeg(5, 5),
                                        jpeg(5, 9000),
                                        gif(5, 5),
                                        gif(5, 5, 2),
                                        webp(5, 5),
                                        png(5, 5).substr(0, 40),
                                        jpeg(5, 5).substr(0, 30),
                                        "<svg/>",
                                        "",
                                        "\xff\xd8\xff\xe0",
                                        png(5, 5, 4u << 20)};
    static const std::string types[] = {"image/png", "image/jpg", "image/jpeg", "image/svg+xml", "", "application/pdf"};
    const std::size_t n = below(std::size(bytes));
    std::string data =
        n + 1 == std::size(bytes) && !chance(100) ? llm::encode_base64(bytes[0]) : llm::encode_base64(bytes[n]);
    if (chance(10)) data += "*";
    return json::object{{"type", "image"}, {"media_type", one_of(types)}, {"data", data}};
  }
  json::value content() {
    if (!chance(4)) return json::value(text());
    json::array parts;
    for (std::size_t n = chance(40) ? 30 : below(4); n > 0; --n) {
      if (chance(2))
        parts.push_back(image());
      else
        parts.push_back(json::object{{"type", "text"}, {"text", text()}});
    }
    return parts;
  }
  json::value arguments() {
    static const char* const values[] = {
        "{}", R"({"a":1})", R"({"filter[name]":{"$top":[1]}})", R"("broken")", R"("{\"a\":1}")", "[]", "null"};
    return json::parse(one_of(values));
  }
  json::array reasoning(std::string_view call_id) {
    static const std::string models[] = {"m", "other"};
    const auto& model = one_of(models);
    switch (below(6)) {
      case 4:
      case 5:
        return {responses_items(model, call_id)};
      case 0:
        return {json::object{
            {"driver", "anthropic"}, {"model", model}, {"type", "thinking"}, {"thinking", "t"}, {"signature", "s"}}};
      case 1:
        return {json::object{{"driver", "openai"}, {"model", model}, {"reasoning_content", "t"}}};
      case 2:
        return {json::object{
            {"driver", "openai"}, {"model", model}, {"reasoning_details", json::array{json::object{{"type", "x"}}}}}};
      default:
        return {json::object{
            {"driver", "openai"},
            {"model", model},
            {"calls", json::array{json::object{{"id", call_id},
                                               {"extra_content", {{"google", {{"thought_signature", "sig"}}}}}}}}}};
    }
  }
  // Items stored with an answer of the Responses API; they may not match this message.
  json::object responses_items(std::string_view model, std::string_view call_id) {
    static const char* const items[] = {
        R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e1"})",
        R"({"type":"reasoning","id":"rs_2","summary":[],"content":[{"type":"reasoning_text","text":"t"}]})",
        R"({"type":"message","at":0,"size":5,"phase":"commentary"})",
        R"({"type":"message","at":1,"size":2})",
        R"({"type":"message","at":-1,"size":1e300})",
        R"({"type":"message"})",
        R"({"type":"function_call","call_id":"call_1"})",
        R"({"type":"function_call","call_id":"1"})",
        R"({"type":"function_call"})",
        R"({"type":"x"})",
        "1"};
    static const std::string providers[] = {"p", "another"};
    json::array list;
    for (std::size_t n = below(6); n > 0; --n) {
      list.push_back(json::parse(one_of(items)));
      if (chance(3)) list.push_back(json::object{{"type", "function_call"}, {"call_id", call_id}});
    }
    return {{"driver", "openai"},
            {"model", model},
            {"provider", one_of(providers)},
            {"wire", "responses"},
            {"items", list}};
  }
  json::array messages() {
    json::array out;
    std::vector<std::string> open;
    for (std::size_t n = 1 + below(12); n > 0; --n) {
      switch (below(5)) {
        case 0:
        case 1:
          out.push_back(json::object{{"role", "user"}, {"content", content()}});
          break;
        case 2:
        case 3: {
          json::object m{{"role", "assistant"}, {"content", text()}};
          json::array calls;
          for (std::size_t k = below(4); k > 0; --k) {
            open.push_back(id());
            calls.push_back(json::object{{"id", open.back()}, {"name", name()}, {"arguments", arguments()}});
          }
          if (chance(2)) m["reasoning"] = reasoning(calls.empty() ? "" : open.back());
          if (!calls.empty()) m["tool_calls"] = std::move(calls);
          out.push_back(std::move(m));
          break;
        }
        default:
          for (std::size_t k = below(4); k > 0; --k) {
            const std::string to = open.empty() || chance(8) ? id() : open[below(open.size())];
            out.push_back(json::object{{"role", "tool"},
                                       {"tool_call_id", to},
                                       {"name", name()},
                                       {"content", content()},
                                       {"is_error", chance(3)}});
          }
      }
    }
    if (out.empty()) out.push_back(json::object{{"role", "user"}, {"content", text()}});
    return out;
  }
  json::array tools() {
    static const char* const schemas[] = {
        "null",
        "[]",
        "{}",
        R"({"type":"string"})",
        R"({"properties":[]})",
        R"({"properties":{"filter[name]":{"type":"string"},"$top":{}},"required":{}})",
        R"({"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"名":{"type":["string","null"]}}}]})",
        R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"l":{"type":"array"}}}}})",
        R"({"type":"object","properties":{"t":{"type":"array","items":[{"type":"string"},{"const":1}]}},"required":["x"],"not":{},"$schema":"s"})",
        R"({"type":"object","properties":{"e":{"enum":[1,"a",null]},"o":{"oneOf":[{"type":"null"},{"type":"object","properties":null}]}}})"};
    json::array out;
    for (std::size_t n = chance(20) ? 200 : below(5), i = 0; i < n; ++i)
      out.push_back(json::object{{"name", n > 5 ? "t" + std::to_string(i) : name()},
                                 {"description", std::string(below(3) * 700, 'd')},
                                 {"parameters", json::parse(one_of(schemas))}});
    return out;
  }

  std::mt19937 random_;
};

// ---- rules -----------------------------------------------------------------------------------------

using violation_list = std::vector<std::string>;

void check_image(std::string_view type, std::string_view data, std::uint32_t side, std::size_t encoded,
                 violation_list& out) {
  const auto bytes = llm::decode_base64(data);
  if (!bytes || data.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") !=
                    std::string_view::npos)
    return out.push_back("the data of an image is not base64");
  const bool matches_type = (type == "image/png" && bytes->starts_with("\x89PNG")) ||
                            (type == "image/jpeg" && bytes->starts_with("\xff\xd8")) ||
                            (type == "image/gif" && bytes->starts_with("GIF8")) ||
                            (type == "image/webp" && bytes->starts_with("RIFF"));
  if (!matches_type) out.push_back("wrong media type of an image: " + std::string(type));
  const auto h = llm::read_image_header(*bytes);
  if (!h.complete) out.push_back("a damaged image");
  if (std::max(h.width, h.height) > side) out.push_back("an image is too large");
  if (data.size() > encoded) out.push_back("an image has too many bytes");
}

void check_schema(const json::value& v, bool top, violation_list& out) {
  const auto* s = v.if_object();
  if (s == nullptr) return out.push_back("a schema is not an object");
  for (const char* key : {"$ref", "$defs", "$schema", "definitions", "dependencies"})
    if (s->contains(key)) out.push_back(std::string(key) + " in a schema");
  if (top) {
    if (text_at(*s, "type") != "object" || !object_at(*s, "properties"))
      out.push_back("the top level of a schema is not an object with properties");
    for (const char* key : {"anyOf", "oneOf", "allOf", "not", "enum"})
      if (s->contains(key)) out.push_back(std::string(key) + " at the top level");
  }
  const auto* type = s->if_contains("type");
  if (type && *type == json::value("array") && !object_at(*s, "items")) out.push_back("an array without items");
  if (const auto* p = s->if_contains("properties")) {
    if (!p->is_object()) return out.push_back("properties is not an object");
    static const std::regex name("[a-zA-Z0-9_.-]{1,64}");
    for (const auto& member : p->get_object()) {
      if (!std::regex_match(std::string(member.key()), name))
        out.push_back("invalid property name " + std::string(member.key()));
      check_schema(member.value(), false, out);
    }
  }
  if (const auto* r = s->if_contains("required")) {
    if (!r->is_array()) return out.push_back("required is not an array");
    for (const auto& n : r->get_array())
      if (!s->at("properties").get_object().contains(n.as_string()))
        out.push_back("required names an unknown property");
  }
  for (const char* key : {"anyOf", "oneOf", "allOf"})
    if (const auto* list = s->if_contains(key)) {
      if (!list->is_array() || list->get_array().empty()) return out.push_back(std::string(key) + " is not a list");
      for (const auto& variant : list->get_array()) check_schema(variant, false, out);
    }
  if (const auto* items = s->if_contains("items")) check_schema(*items, false, out);
}

void check_gemini_schema(const json::value& v, violation_list& out) {
  static const std::set<std::string_view> known{
      "type",      "format",   "title",      "description", "nullable",      "enum",          "items",
      "minItems",  "maxItems", "properties", "required",    "minProperties", "maxProperties", "minLength",
      "maxLength", "pattern",  "anyOf",      "minimum",     "maximum"};
  const auto& s = v.get_object();
  for (const auto& member : s)
    if (!known.contains(std::string_view(member.key().data(), member.key().size())))
      out.push_back("Gemini does not support the keyword " + std::string(member.key()));
  if (const auto* type = s.if_contains("type"); type && !type->is_string()) out.push_back("type is a list");
  if (!s.contains("type") && !s.contains("anyOf")) out.push_back("type is missing");
  if (const auto* p = object_at(s, "properties"))
    for (const auto& member : *p) check_gemini_schema(member.value(), out);
  if (const auto* list = array_at(s, "anyOf"))
    for (const auto& variant : *list) check_gemini_schema(variant, out);
  if (const auto* items = s.if_contains("items")) check_gemini_schema(*items, out);
}

violation_list anthropic_violations(const json::object& body) {
  violation_list out;
  static const std::regex id("[a-zA-Z0-9_-]{1,64}"), name("[a-zA-Z0-9_-]{1,128}");
  std::set<std::string> ids, pending;
  std::vector<std::pair<std::string, std::string>> images;
  std::string last = "assistant";
  const auto collect_image = [&](const json::object& block) {
    const auto& source = block.at("source").as_object();
    images.emplace_back(text_at(source, "media_type"), text_at(source, "data"));
  };
  const auto check_text = [&](const json::object& block) {
    if (llm::is_blank(text_at(block, "text"))) out.push_back("a blank text block");
  };
  for (const auto& m : body.at("messages").as_array()) {
    const std::string role(text_at(m.as_object(), "role"));
    if (role == last) out.push_back("roles do not alternate");
    last = role;
    const auto* blocks = array_at(m.as_object(), "content");
    if (!blocks || blocks->empty()) {
      out.push_back("an empty message");
      continue;
    }
    bool after_other_block = false;
    for (const auto& b : *blocks) {
      const auto& block = b.as_object();
      const auto type = text_at(block, "type");
      if (type == "text") check_text(block);
      if (type == "image") collect_image(block);
      if (type == "tool_use") {
        const std::string call(text_at(block, "id"));
        if (!std::regex_match(call, id) || !ids.insert(call).second) out.push_back("invalid or duplicate id " + call);
        if (!std::regex_match(std::string(text_at(block, "name")), name)) out.push_back("invalid name of a call");
        if (!object_at(block, "input")) out.push_back("input is not an object");
        if (!body.contains("tools")) out.push_back("calls without tools");
        pending.insert(call);
      }
      if (type == "tool_result") {
        if (after_other_block) out.push_back("a tool result after other blocks");
        if (pending.erase(std::string(text_at(block, "tool_use_id"))) == 0) out.push_back("a result without a call");
        const auto* list = array_at(block, "content");
        if (list && list->empty()) out.push_back("an empty result");
        if (!list && llm::is_blank(text_at(block, "content"))) out.push_back("a blank result");
        if (list)
          for (const auto& inner : *list) {
            if (text_at(inner.as_object(), "type") == "image") {
              collect_image(inner.as_object());
              if (llm::flag_at(block, "is_error")) out.push_back("an image in a failed result");
            } else {
              check_text(inner.as_object());
            }
          }
      } else {
        after_other_block = true;
      }
    }
    if (role == "user" && !pending.empty()) out.push_back("calls without results");
  }
  if (last != "user") out.push_back("the last message is not a user message");
  for (const auto& [type, data] : images) check_image(type, data, images.size() > 20 ? 2000 : 8000, 5u << 20, out);
  if (const auto* tools = array_at(body, "tools"))
    for (const auto& t : *tools) {
      if (!std::regex_match(std::string(text_at(t.as_object(), "name")), name)) out.push_back("invalid name of a tool");
      check_schema(t.as_object().at("input_schema"), true, out);
    }
  std::size_t breakpoints = 0;
  const std::string text = json::serialize(body);
  for (auto at = text.find("\"cache_control\""); at != std::string::npos; at = text.find("\"cache_control\"", at + 1))
    ++breakpoints;
  if (breakpoints > 4) out.push_back("too many cache breakpoints");
  return out;
}

struct chat_rules {
  const char* name;
  openai::dialect dialect;
  std::regex ids, names;
  bool alternate, no_user_after_tool, signatures;
};

violation_list chat_violations(const json::object& body, const chat_rules& rules) {
  violation_list out;
  std::set<std::string> ids, pending;
  std::string last;
  for (const auto& v : body.at("messages").as_array()) {
    const auto& m = v.as_object();
    const std::string role(text_at(m, "role"));
    if (role != "tool" && !pending.empty()) out.push_back("calls without results");
    if (rules.alternate && role == last && role != "tool") out.push_back("roles do not alternate");
    if (rules.alternate && role == "assistant" && (last.empty() || last == "system"))
      out.push_back("the first message is an assistant message");
    if (rules.no_user_after_tool && role == "user" && last == "tool")
      out.push_back("a user message follows a tool message");
    last = role;
    if (role == "tool") {
      if (pending.erase(std::string(text_at(m, "tool_call_id"))) == 0) out.push_back("a result without a call");
      if (llm::is_blank(text_at(m, "content"))) out.push_back("a blank result");
      continue;
    }
    const auto* calls = array_at(m, "tool_calls");
    if (role == "assistant" && llm::is_blank(text_at(m, "content")) && (!calls || calls->empty()))
      out.push_back("an empty assistant message");
    if (role == "user" || role == "system") {
      const auto* parts = array_at(m, "content");
      if (!parts && llm::is_blank(text_at(m, "content"))) out.push_back("a blank message");
      if (parts && parts->empty()) out.push_back("a message without parts");
      if (parts)
        for (const auto& p : *parts) {
          if (text_at(p.as_object(), "type") == "text") {
            if (llm::is_blank(text_at(p.as_object(), "text"))) out.push_back("a blank part");
            continue;
          }
          const auto url = text_at(p.at("image_url").as_object(), "url");
          const auto type = url.substr(5, url.find(';') - 5);
          if (rules.dialect == openai::dialect::gemini && type == "image/gif") out.push_back("a GIF");
          check_image(type, url.substr(url.find(',') + 1), 100'000, 20u << 20, out);
        }
    }
    if (!calls) continue;
    for (std::size_t i = 0; i < calls->size(); ++i) {
      const auto& call = (*calls)[i].as_object();
      const std::string id(text_at(call, "id"));
      if (!std::regex_match(id, rules.ids) || !ids.insert(id).second) out.push_back("invalid or duplicate id " + id);
      pending.insert(id);
      const auto& function = call.at("function").as_object();
      if (!std::regex_match(std::string(text_at(function, "name")), rules.names))
        out.push_back("invalid name of a call");
      boost::system::error_code bad;
      if (!json::parse(text_at(function, "arguments"), bad).is_object()) out.push_back("arguments are not an object");
      if (rules.signatures && i == 0 && !call.contains("extra_content")) out.push_back("a call without a signature");
    }
  }
  if (!pending.empty()) out.push_back("calls without results at the end");
  if (last != "user" && last != "tool") out.push_back("the last message is an assistant message");
  if (const auto* tools = array_at(body, "tools")) {
    if (tools->size() > 128) out.push_back("too many tools");
    std::set<std::string> names;
    for (const auto& t : *tools) {
      const auto& function = t.at("function").as_object();
      const std::string name(text_at(function, "name"));
      if (!std::regex_match(name, rules.names) || !names.insert(name).second)
        out.push_back("invalid name of the tool " + name);
      if (text_at(function, "description").size() > 1026) out.push_back("the description of a tool is too long");
      check_schema(function.at("parameters"), true, out);
      if (rules.dialect == openai::dialect::gemini) check_gemini_schema(function.at("parameters"), out);
    }
  } else if (body.contains("tool_choice")) {
    out.push_back("tool_choice without tools");
  }
  return out;
}

violation_list responses_violations(const json::object& body, openai::dialect dialect, bool alternate) {
  violation_list out;
  static const std::regex id("[!-~]{1,40}"), name("[a-zA-Z_][a-zA-Z0-9_-]{0,63}");
  std::set<std::string> ids, pending;
  std::string last;
  const auto check_parts = [&](const json::value& content) {
    if (const auto* text = content.if_string()) {
      if (llm::is_blank(*text)) out.push_back("a blank content");
      return;
    }
    if (content.as_array().empty()) out.push_back("a content without parts");
    for (const auto& v : content.as_array()) {
      const auto& part = v.as_object();
      if (text_at(part, "type") == "input_text") {
        if (llm::is_blank(text_at(part, "text"))) out.push_back("a blank part");
        continue;
      }
      if (text_at(part, "type") != "input_image") out.push_back("a part of an unknown type");
      const auto url = text_at(part, "image_url");
      if (!url.starts_with("data:")) return out.push_back("an image without data");
      check_image(url.substr(5, url.find(';') - 5), url.substr(url.find(',') + 1), 100'000, 20u << 20, out);
    }
  };
  for (const auto& v : body.at("input").as_array()) {
    const auto& item = v.as_object();
    const auto type = text_at(item, "type");
    const std::string kind(type == "message" ? text_at(item, "role") : type);
    if (last == "reasoning" && kind != "reasoning" && kind != "assistant" && kind != "function_call")
      out.push_back("reasoning without the item that it belongs to");
    if (!pending.empty() && kind != "function_call" && kind != "function_call_output" && kind != "reasoning" &&
        kind != "assistant")
      out.push_back("calls without results");
    if (alternate && kind == "user" && (last == "user" || last == "function_call_output"))
      out.push_back("roles do not alternate");
    last = kind;
    if (kind == "reasoning") {
      for (const auto& member : item)
        if (member.key() != "type" && member.key() != "id" && member.key() != "summary" &&
            member.key() != "encrypted_content" && member.key() != "content")
          out.push_back("reasoning with " + std::string(member.key()));
      if (!array_at(item, "summary")) out.push_back("reasoning without a summary");
      if (text_at(item, "encrypted_content").empty() &&
          (dialect == openai::dialect::openai || !array_at(item, "content")))
        out.push_back("reasoning without content that the provider can use");
    } else if (kind == "user" || kind == "assistant") {
      check_parts(item.at("content"));
      if (kind == "assistant" && !item.at("content").is_string())
        out.push_back("the content of an assistant message is not a string");
      if (const auto phase = text_at(item, "phase");
          item.contains("phase") && phase != "commentary" && phase != "final_answer")
        out.push_back("invalid phase");
    } else if (kind == "function_call") {
      const std::string call(text_at(item, "call_id"));
      if (!std::regex_match(call, id) || !ids.insert(call).second) out.push_back("invalid or duplicate id " + call);
      if (!std::regex_match(std::string(text_at(item, "name")), name)) out.push_back("invalid name of a call");
      boost::system::error_code bad;
      if (!json::parse(text_at(item, "arguments"), bad).is_object()) out.push_back("arguments are not an object");
      pending.insert(call);
    } else if (kind == "function_call_output") {
      if (pending.erase(std::string(text_at(item, "call_id"))) == 0) out.push_back("a result without a call");
      check_parts(item.at("output"));
    } else {
      out.push_back("unknown type of item: " + kind);
    }
  }
  if (!pending.empty()) out.push_back("calls without results at the end");
  if (last != "user" && last != "function_call_output") out.push_back("the last message is an assistant message");
  for (const char* key : {"messages", "stop", "max_tokens", "stream_options"})
    if (body.contains(key)) out.push_back(std::string(key) + " belongs to another API");
  if (!body.at("stream").as_bool() || body.at("store").as_bool()) out.push_back("wrong value of stream or store");
  if (const auto* tools = array_at(body, "tools")) {
    if (tools->size() > 128) out.push_back("too many tools");
    std::set<std::string> names;
    for (const auto& v : *tools) {
      const auto& tool = v.as_object();
      const std::string tool_name(text_at(tool, "name"));
      if (text_at(tool, "type") != "function" || !tool.contains("strict") || tool.contains("function"))
        out.push_back("invalid structure of the tool " + tool_name);
      if (!std::regex_match(tool_name, name) || !names.insert(tool_name).second)
        out.push_back("invalid name of the tool " + tool_name);
      check_schema(tool.at("parameters"), true, out);
    }
  } else if (body.contains("tool_choice")) {
    out.push_back("tool_choice without tools");
  }
  return out;
}

// ---- tests -----------------------------------------------------------------------------------------

constexpr std::uint32_t conversations = 3000;

std::string description_of(std::uint32_t seed, const violation_list& violations, const json::object& neutral,
                           const std::string& body) {
  std::string out = "seed " + std::to_string(seed) + ":";
  for (const auto& w : violations) out += "\n  " + w;
  return out + "\n  request " + json::serialize(neutral).substr(0, 4000) + "\n  became " + body.substr(0, 4000);
}

TEST(provider_rules, anthropic_accepts_any_conversation) {
  for (std::uint32_t seed = 1; seed <= conversations; ++seed) {
    const auto neutral = random_conversation(seed).request();
    for (const bool thinking : {false, true}) {
      anthropic::request_options o;
      if (thinking) o.extra_body["thinking"] = {{"type", "enabled"}, {"budget_tokens", 1024}};
      const auto built = anthropic::build_request(neutral, o);
      const auto violations = anthropic_violations(json::parse(built.body).as_object());
      ASSERT_TRUE(violations.empty()) << description_of(seed, violations, neutral, built.body);
    }
  }
}

TEST(provider_rules, chat_providers_accept_any_conversation) {
  const chat_rules all[] = {{"openai", openai::dialect::openai, std::regex("[!-~]{1,40}"),
                             std::regex("[a-zA-Z0-9_-]{1,64}"), false, false, false},
                            {"compatible", openai::dialect::compatible, std::regex("[!-~]{1,40}"),
                             std::regex("[a-zA-Z_][a-zA-Z0-9_-]{0,63}"), true, true, false},
                            {"mistral", openai::dialect::mistral, std::regex("[a-zA-Z0-9]{9}"),
                             std::regex("[a-zA-Z0-9_-]{1,64}"), true, true, false},
                            {"gemini", openai::dialect::gemini, std::regex("[!-~]{1,40}"),
                             std::regex("[a-zA-Z_][a-zA-Z0-9_-]{0,63}"), false, false, true}};
  for (const auto& rules : all)
    for (std::uint32_t seed = 1; seed <= conversations; ++seed) {
      const auto neutral = random_conversation(seed).request();
      const auto built = openai::build_request(neutral, openai::options_of(rules.dialect));
      const auto violations = chat_violations(json::parse(built.body).as_object(), rules);
      ASSERT_TRUE(violations.empty()) << rules.name << ", " << description_of(seed, violations, neutral, built.body);
    }
}

TEST(provider_rules, the_responses_api_accepts_any_conversation) {
  std::size_t kept = 0;
  for (const auto dialect : {openai::dialect::openai, openai::dialect::compatible})
    for (std::uint32_t seed = 1; seed <= conversations / 3; ++seed) {
      const auto neutral = random_conversation(seed).request();
      auto options = openai::responses_options_of(dialect);
      options.provider = "p";
      const auto built = openai::build_responses_request(neutral, options, {});
      const auto violations =
          responses_violations(json::parse(built.body).as_object(), dialect, options.alternate_roles);
      ASSERT_TRUE(violations.empty()) << description_of(seed, violations, neutral, built.body);
      kept += built.reasoning.size();
    }
  EXPECT_GT(kept, conversations / 100) << "some conversations contain reasoning that is sent back";
}

TEST(provider_rules, the_same_conversation_produces_the_same_request) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const auto neutral = random_conversation(seed).request();
    const auto o = openai::options_of(openai::dialect::mistral);
    EXPECT_EQ(openai::build_request(neutral, o).body, openai::build_request(neutral, o).body);
  }
}

TEST(provider_rules, the_checks_detect_violations) {
  const auto body =
      json::parse(R"({"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a:b","name":"f","input":[]}]},
    {"role":"user","content":[{"type":"text","text":" "},{"type":"tool_result","tool_use_id":"x","content":"","is_error":true}]}]})")
          .as_object();
  EXPECT_GE(anthropic_violations(body).size(), 7u);
  const chat_rules strict{
      "strict", openai::dialect::gemini, std::regex("[a-zA-Z0-9]{9}"), std::regex("[a-z]+"), true, true, true};
  const auto chat =
      json::parse(
          R"({"tool_choice":"auto","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"1","arguments":"x"}}]},
    {"role":"user","content":""},{"role":"user","content":[]},{"role":"tool","tool_call_id":"b","content":""},{"role":"user","content":"a"}]})")
          .as_object();
  EXPECT_GE(chat_violations(chat, strict).size(), 10u);
  const auto responses =
      json::parse(
          R"({"stream":true,"store":true,"stop":["x"],"tool_choice":"auto","input":[{"type":"reasoning","id":"r","status":"completed"},{"type":"message","role":"user","content":""},
    {"type":"function_call","call_id":"a b","name":"1","arguments":"x"},{"type":"message","role":"user","content":[]},{"type":"function_call_output","call_id":"c","output":" "},{"type":"x"},
    {"type":"message","role":"assistant","content":"a","phase":"last"}]})")
          .as_object();
  EXPECT_GE(responses_violations(responses, openai::dialect::openai, true).size(), 17u);
}

}  // namespace
