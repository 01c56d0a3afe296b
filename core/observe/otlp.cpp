#include "core/observe/otlp.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <ry/cpp/utf8.hpp>

#include "core/observe/log.hpp"
#include "core/observe/log_line.hpp"

namespace ry::observe {

namespace {

namespace json = boost::json;

std::string sound(std::string_view text) {
  auto out = to_valid_utf8(masked(text));
  if (out.size() > max_span_text) {
    std::size_t end = max_span_text;
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
    out.resize(end);
  }
  return out;
}

json::object attribute(std::string_view key, const std::variant<std::string, std::int64_t>& value) {
  json::object v;
  if (const auto* text = std::get_if<std::string>(&value))
    v["stringValue"] = sound(*text);
  else
    v["intValue"] = std::to_string(std::get<std::int64_t>(value));
  return {{"key", key}, {"value", std::move(v)}};
}

json::object as_json(const span& s) {
  // Bit 8: whether the parent is remote is known. Bit 9: the parent is remote.
  const std::int64_t flags = s.flags | 0x100 | (s.parent_id && s.remote_parent ? 0x200 : 0);
  json::object out{{"traceId", hex(s.trace_id)},
                   {"spanId", hex(s.span_id)},
                   {"flags", flags},
                   {"name", sound(s.name)},
                   {"kind", static_cast<int>(s.kind)},
                   {"startTimeUnixNano", std::to_string(s.begun_ns)},
                   {"endTimeUnixNano", std::to_string(s.ended_ns)}};
  if (s.parent_id) out["parentSpanId"] = hex(*s.parent_id);
  if (!s.state.empty()) out["traceState"] = s.state;
  json::array attributes;
  for (const auto& a : s.attributes) attributes.push_back(attribute(a.key, a.value));
  if (!attributes.empty()) out["attributes"] = std::move(attributes);
  if (s.failed) out["status"] = json::object{{"code", 2}};
  return out;
}

}  // namespace

std::string otlp_request(const otlp_resource& resource, std::string_view version, std::span<const span> spans) {
  json::array about, list;
  for (const auto& [key, value] : resource) about.push_back(attribute(key, value));
  for (const auto& s : spans) list.push_back(as_json(s));
  json::object scope{{"scope", json::object{{"name", "runyard"}, {"version", version}}}, {"spans", std::move(list)}};
  json::object one{{"resource", json::object{{"attributes", std::move(about)}}},
                   {"scopeSpans", json::array{std::move(scope)}}};
  return json::serialize(json::object{{"resourceSpans", json::array{std::move(one)}}});
}

otlp_refusal otlp_refused(std::string_view answer) {
  otlp_refusal out;
  boost::system::error_code bad;
  const json::value v = json::parse(answer, bad);
  if (bad || !v.is_object()) return out;
  const auto* partial = v.get_object().if_contains("partialSuccess");
  if (!partial || !partial->is_object()) return out;
  const auto& p = partial->get_object();
  if (const auto* n = p.if_contains("rejectedSpans")) {
    if (n->is_int64() && n->get_int64() > 0) out.spans = static_cast<std::uint64_t>(n->get_int64());
    if (n->is_string()) {
      const auto& text = n->get_string();
      std::from_chars(text.data(), text.data() + text.size(), out.spans);
    }
  }
  if (const auto* why = p.if_contains("errorMessage"); why && why->is_string())
    out.why = std::string(why->get_string()).substr(0, max_span_text);
  return out;
}

}  // namespace ry::observe
