#include "model_check/model_report.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::string_view text_check = "text", streaming_check = "streaming", tool_check = "tool_call";

// A capability: true, false, or null if unknown.
json::value capability(const model_report& r, std::string_view check) {
  const check_result* c = r.find(check);
  if (c == nullptr || c->state == check_state::skipped) return nullptr;
  return c->state == check_state::ok;
}

json::object usage_object(const token_usage& u) {
  return {{"input_tokens", u.input},
          {"output_tokens", u.output},
          {"cached_tokens", u.cached},
          {"cache_write_tokens", u.cache_write}};
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.append(width - out.size(), ' ');
  return out;
}

}  // namespace

const check_result* model_report::find(std::string_view check) const {
  const auto it = std::find_if(checks.begin(), checks.end(), [&](const check_result& c) { return c.name == check; });
  return it == checks.end() ? nullptr : &*it;
}

bool model_report::is_ok(std::string_view check) const {
  const check_result* c = find(check);
  return c != nullptr && c->state == check_state::ok;
}

bool model_report::basics_work() const {
  const check_result* streaming = find(streaming_check);
  const bool streams =
      streaming != nullptr && (streaming->state == check_state::ok || streaming->state == check_state::unsupported);
  return is_ok(text_check) && is_ok(tool_check) && streams;
}

token_usage model_report::usage() const {
  token_usage sum;
  for (const check_result& c : checks) sum += c.usage;
  return sum;
}

std::string_view state_name(check_state s) {
  switch (s) {
    case check_state::ok:
      return "ok";
    case check_state::unsupported:
      return "unsupported";
    case check_state::failed:
      return "failed";
    case check_state::skipped:
      break;
  }
  return "skipped";
}

std::string report_json(const model_report& r) {
  json::array checks;
  for (const check_result& c : r.checks) {
    json::object o{{"name", c.name},
                   {"status", state_name(c.state)},
                   {"detail", c.detail},
                   {"requests", c.requests},
                   {"duration_ms", c.duration_ms}};
    o["first_piece_ms"] = c.first_ms < 0 ? json::value(nullptr) : json::value(c.first_ms);
    o["usage"] = usage_object(c.usage);
    checks.push_back(std::move(o));
  }
  json::object usage = usage_object(r.usage());
  usage["estimated"] = r.estimated_usage;
  const std::int64_t micro = charge_micro(r.costs, r.usage());
  json::array recommended;
  for (const recommendation& x : r.recommended)
    recommended.push_back({{"setting", x.setting},
                           {"value", x.value.empty() ? json::value(nullptr) : json::value(x.value)},
                           {"reason", x.reason}});
  json::array notices;
  for (const std::string& n : r.notices) notices.push_back(json::value(n));
  const json::object out{
      {"model", r.name},
      {"provider", r.provider},
      {"kind", r.kind},
      {"provider_model", r.model},
      {"ok", r.basics_work()},
      {"capabilities",
       {{"text", capability(r, "text")},
        {"streaming", capability(r, "streaming")},
        {"tools", capability(r, "tool_call")},
        {"parallel_tools", capability(r, "parallel_tool_calls")},
        {"vision", capability(r, "image")},
        {"output_limit", capability(r, "output_limit")},
        {"cancellation", capability(r, "cancellation")},
        {"checks_keys", capability(r, "wrong_key")},
        {"reports_usage", r.is_ok("text") ? json::value(!r.estimated_usage) : json::value(nullptr)},
        {"reasoning", r.is_ok("text") ? json::value(r.has_reasoning) : json::value(nullptr)}}},
      {"checks", std::move(checks)},
      {"usage", std::move(usage)},
      {"cost", {{"priced", r.has_price}, {"credits", json::parse(credits_text(micro))}, {"micro_credits", micro}}},
      {"notices", std::move(notices)},
      {"recommended", std::move(recommended)}};
  return escape_line_ends(json::serialize(out));
}

std::string heading_text(const model_report& r) {
  const std::string full = r.provider + "/" + r.model;
  return (r.name == full ? full : r.name + " = " + full) + " (" + r.kind + ")\n\n";
}

std::string check_text(const check_result& c) {
  constexpr std::size_t name_width = 21, state_width = 13, time_width = 10;
  std::string out = "  " + padded(c.name, name_width) + padded(state_name(c.state), state_width) +
                    padded(c.requests == 0 ? "" : std::to_string(c.duration_ms) + " ms", time_width) + c.detail;
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n";
}

std::string summary_text(const model_report& r) {
  const token_usage sum = r.usage();
  std::string out = "\ntokens: " + std::to_string(sum.input) + " in, " + std::to_string(sum.output) + " out";
  if (sum.cached != 0) out += ", " + std::to_string(sum.cached) + " of the input from the cache";
  if (r.estimated_usage) out += " (partly estimated: the provider does not report them all)";
  out += "\ncost: ";
  out += r.has_price ? credits_text(charge_micro(r.costs, sum)) + " credits by the configured price"
                     : "no price is configured";
  for (const std::string& n : r.notices) out += "\nnotice: " + n;
  if (!r.recommended.empty()) out += "\n\nrecommended settings";
  for (const recommendation& x : r.recommended)
    out += "\n  " + x.setting + (x.value.empty() ? "" : " = " + x.value) + "\n    " + x.reason;
  return out + "\n\n" + (r.basics_work() ? "the basics work\n" : "the basics do not work\n");
}

}  // namespace runs
