#include "api/run_filter.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <regex>
#include <ry/cpp/input.hpp>
#include <ry/cpp/text.hpp>
#include <ry/ry.hpp>

#include "text.hpp"
#include "types/run_metadata.hpp"

namespace runs {
namespace {

constexpr std::size_t max_text = 200;

[[noreturn]] void reject(const std::string& message) {
  throw ry::http_error(422, RY_INVALID_ARGUMENT, "runs.invalid_filter", message);
}

std::string read_uuid(const std::string& name, const std::string& value) {
  auto id = canonical_uuid(value);
  if (!id) reject(name + " must be a UUID");
  return *std::move(id);
}

std::string read_time(const std::string& name, const std::string& value) {
  auto time = canonical_time(value);
  if (!time) reject(name + " must be a date or a time as in 2026-11-20 or 2026-11-20T09:30:00Z");
  return *std::move(time);
}

std::string read_text(const std::string& name, const std::string& value) {
  return ry::require_text(name, value, 1, max_text);
}

std::string read_status(const std::string&, const std::string& value) {
  for (const char* known : {"all", "running", "completed", "failed", "stopped"})
    if (ry::lower_ascii(value) == known) return known;
  reject("status must be all, running, completed, failed or stopped");
}

struct parameter {
  const char* name;
  std::optional<std::string> run_filter::*member;
  std::string (*read)(const std::string& name, const std::string& value);
};
constexpr std::array parameters = {
    parameter{"status", &run_filter::status, read_status},
    parameter{"account_id", &run_filter::account, read_uuid},
    parameter{"thread_id", &run_filter::thread, read_uuid},
    parameter{"agent_id", &run_filter::agent, read_uuid},
    parameter{"model", &run_filter::model, read_text},
    parameter{"reason", &run_filter::reason, read_text},
    parameter{"error_code", &run_filter::error_code, read_text},
    parameter{"from", &run_filter::from, read_time},
    parameter{"to", &run_filter::to, read_time},
};

[[noreturn]] void reject_unknown(const std::string& name) {
  std::vector<std::string> known = {"limit", "cursor"};
  for (const parameter& p : parameters) known.emplace_back(p.name);
  known.emplace_back("metadata[KEY]");
  std::string all;
  for (const std::string& k : known) all += (all.empty() ? "" : ", ") + k;
  reject(name.substr(0, max_text) + " is not a known parameter; the parameters are " + all);
}

}  // namespace

std::optional<std::string> run_filter::effective_status() const {
  if (status) return *status == "all" ? std::nullopt : status;
  for (const parameter& p : parameters)
    if (this->*p.member) return std::nullopt;
  return metadata ? std::nullopt : std::optional<std::string>("running");
}

std::string run_filter::text() const {
  std::string out = "admin_runs";
  for (const parameter& p : parameters)
    if (const auto& value = this->*p.member) out += std::string("&") + p.name + "=" + *value;
  if (metadata) out += "&metadata=" + *metadata;
  return out;
}

run_filter read_run_filter(const query_parameters& given) {
  run_filter out;
  for (const auto& [name, value] : given) {
    if (name == "limit" || name == "cursor" || metadata_filter_key(name)) continue;
    const auto known = std::find_if(parameters.begin(), parameters.end(),
                                    [&name = name](const parameter& p) { return name == p.name; });
    if (known == parameters.end()) reject_unknown(name);
    std::optional<std::string>& to = out.*known->member;
    if (to) reject(name + " is given twice");
    to = known->read(name, value);
  }
  metadata_filter metadata = read_metadata_filter(given);
  if (!metadata.error.empty()) reject(metadata.error);
  out.metadata = std::move(metadata.json);
  return out;
}

std::optional<std::string> canonical_time(std::string_view text) {
  static const std::regex form(
      R"((\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?)",
      std::regex::icase);
  const std::string all(text.substr(0, 41));
  std::smatch m;
  if (!std::regex_match(all, m, form)) return std::nullopt;
  const auto number = [&](std::size_t i) { return m[i].matched ? std::stoi(m[i]) : 0; };
  using namespace std::chrono;
  const year_month_day day{year{number(1)}, month{static_cast<unsigned>(number(2))},
                           std::chrono::day{static_cast<unsigned>(number(3))}};
  if (!day.ok() || number(1) == 0 || number(4) > 23 || number(5) > 59 || number(6) > 59) return std::nullopt;
  if (m[7].matched && m[7].length() > 1) {
    const std::string offset = m[7];
    if (std::stoi(offset.substr(1, 2)) > 15 || std::stoi(offset.substr(4, 2)) > 59) return std::nullopt;
  }
  return m[7].matched ? all : all + (m[4].matched ? "Z" : " 00:00:00Z");
}

}  // namespace runs
