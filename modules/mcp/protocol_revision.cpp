#include "protocol_revision.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "elicitation.hpp"
#include "remote_task.hpp"

namespace mcp {
namespace {

// 2024-10-07 has the same messages as 2024-11-05.
constexpr std::array<std::string_view, 5> legacy_revisions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05",
                                                              "2024-10-07"};

json::object client_info(std::string_view version) {
  return {{"name", "runyard"}, {"version", jv(version)}};
}

revision_verdict verdict_for_revisions(std::vector<std::string> offered) {
  revision_verdict v;
  const auto has = [&](auto&& test) { return std::any_of(offered.begin(), offered.end(), test); };
  if (offered.empty() || has([](const auto& s) { return s == modern_revision; })) {
    v.outcome = revision_verdict::kind::modern;
  } else if (has([](const auto& s) { return is_legacy_revision(s); })) {
    v.outcome = revision_verdict::kind::legacy;
  } else {
    v.outcome = revision_verdict::kind::incompatible;
  }
  v.offered = std::move(offered);
  return v;
}

}  // namespace

bool is_legacy_revision(std::string_view revision) noexcept {
  return std::find(legacy_revisions.begin(), legacy_revisions.end(), revision) != legacy_revisions.end();
}

bool is_revision_setting(std::string_view text) noexcept {
  return text == automatic_revision || text == modern_revision || is_legacy_revision(text);
}

std::string revision_settings() {
  std::string out = "\"" + std::string(automatic_revision) + "\", \"" + std::string(modern_revision) + "\"";
  for (const auto each : legacy_revisions) out += ", \"" + std::string(each) + "\"";
  return out;
}

std::vector<std::string> offered_revisions(const json::value& body) {
  std::vector<std::string> out;
  const auto* o = body.if_object();
  if (o == nullptr) return out;
  const auto* list = array_at(*o, "supportedVersions");
  if (const auto* data = object_at(*o, "data"); list == nullptr && data != nullptr) {
    list = array_at(*data, "supported");
  }
  if (list == nullptr) return out;
  for (const auto& v : *list) {
    if (v.is_string() && out.size() < 32) out.emplace_back(sv(v.get_string()).substr(0, 32));
  }
  return out;
}

revision_verdict detect_revision(const probe_result& p) {
  revision_verdict v;
  if (p.answered && !p.failed) {
    // supportedVersions identifies a modern server. Legacy servers may respond to an unknown method with other results.
    const auto* o = p.body.if_object();
    if (o != nullptr && o->contains("supportedVersions")) return verdict_for_revisions(offered_revisions(p.body));
    v.outcome = revision_verdict::kind::legacy;
    return v;
  }
  if (p.answered) {
    const auto code = code_of(p.body);
    if (code == unsupported_revision) return verdict_for_revisions(offered_revisions(p.body));
    if (is_modern_error(code)) {
      v.outcome = revision_verdict::kind::modern;
      return v;
    }
  }
  if (p.http_status == 401 || p.http_status == 403 || p.http_status == 408 || p.http_status == 429) return v;
  // A legacy server may fail on an unknown message; 502 to 504 come from a gateway.
  if (p.http_status > 501 && !p.answered) return v;
  if (p.answered || p.http_status != 0) v.outcome = revision_verdict::kind::legacy;
  return v;
}

json::object modern_meta(std::string_view version, bool tasks, bool elicitation) {
  json::object offered;
  if (elicitation) offered["elicitation"] = elicitation_capability();
  if (tasks) offered["extensions"] = json::object{{jv(tasks_extension), json::object()}};
  return {{"io.modelcontextprotocol/protocolVersion", jv(modern_revision)},
          {"io.modelcontextprotocol/clientInfo", client_info(version)},
          {"io.modelcontextprotocol/clientCapabilities", std::move(offered)}};
}

json::object initialize_params(std::string_view version, std::string_view revision, bool elicitation) {
  json::object offered;
  if (elicitation) offered["elicitation"] = elicitation_capability();
  return {
      {"protocolVersion", jv(revision)}, {"capabilities", std::move(offered)}, {"clientInfo", client_info(version)}};
}

}  // namespace mcp
