// Types that the files of this module share.
#pragma once

#include <ry/svc/agents.h>
#include <ry/cpp/types.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace agents {

// One version of an agent. Immutable once shared.
struct agent {
  ry::uuid id;
  ry::uuid account_id;
  std::string id_text;
  std::string account_id_text;
  std::int32_t version = 0;
  std::int32_t current_version = 0;
  bool is_default = false;
  std::string name;
  std::string description;
  std::string system_prompt;
  std::string model_name;  // empty: the deployment's default
  std::string custom_mcps_json = "[]";  // secrets sealed
  std::string tool_policy_json = "[]";  // rules as rules_json() writes them
  std::string created_at;  // of this version, ISO 8601
};
using agent_ptr = std::shared_ptr<const agent>;

// A change. Members without a value stay unchanged.
struct revision {
  std::int32_t expected_version = 0;  // 0 = any
  std::optional<std::string> name;
  std::optional<std::string> description;
  std::optional<std::string> system_prompt;
  std::optional<std::string> model_name;  // empty: the deployment's default
  std::optional<std::string> custom_mcps_json;
  std::optional<std::string> tool_policy_json;
  std::optional<bool> is_default;
};

// The limits of the account's plan.
struct plan {
  std::string tier_name;
  std::int64_t custom_mcps = 0;
};

inline ry::error unknown_agent() {
  return ry::not_found("agents.not_found", "Worker not found");
}

}  // namespace agents
