// The results of `runyard model check`, as JSON and as text. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "settings/settings.hpp"

namespace runs {

enum class check_state {
  ok,
  unsupported,  // not a capability of the model or its provider; other checks are not affected
  failed,
  skipped,
};

struct check_result {
  std::string name;
  check_state state = check_state::skipped;
  std::string detail;  // for operators
  std::int64_t duration_ms = 0,
               first_ms = -1;  // first_ms: until the first chunk of the last answer; -1: there was none
  int requests = 0;
  token_usage usage;
};

struct recommendation {
  std::string setting;
  std::string value;  // in TOML syntax; empty: the operator must choose it
  std::string reason;
};

struct model_report {
  std::string name, provider, kind,
      model;  // name: as requested; provider and kind: in the settings; model: the provider's name
  std::vector<check_result> checks;
  std::vector<std::string> notices;  // parts of requests that drivers skipped or changed
  std::vector<recommendation> recommended;
  bool has_reasoning = false;
  bool estimated_usage = false;  // at least once, the provider did not report it
  bool has_price = false;
  price costs;

  const check_result* find(std::string_view check) const;
  bool is_ok(std::string_view check) const;
  // Text and tool calls work, and streaming does not fail: the minimum for an agent.
  bool basics_work() const;
  token_usage usage() const;
};

std::string_view state_name(check_state s);
// One JSON object on one line.
std::string report_json(const model_report& r);
// The sections of the text report, each of complete lines.
std::string heading_text(const model_report& r);
std::string check_text(const check_result& c);
std::string summary_text(const model_report& r);

}  // namespace runs
