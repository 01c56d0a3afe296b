// Converts the neutral request to a request of the Messages API. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history.hpp"
#include "output_schema.hpp"
#include "request.hpp"
#include "tool_set.hpp"

namespace anthropic {

enum class sampling_parameters { send, omit };

struct request_options {
  std::int64_t max_tokens = 8192;  // if the request has no limit: the API requires one
  // API versions from 2026-10-21 on reject every request with temperature or top_p.
  sampling_parameters sampling = sampling_parameters::omit;
  bool prompt_cache = true;  // mark tools, system prompt and messages for the provider's cache
  boost::json::object extra_body;  // members added to every request
};

struct built_request {
  std::string body;
  std::vector<llm::notice> notices;  // parts that were skipped or changed
  std::shared_ptr<const llm::call_names> names;  // nullptr: nothing was renamed
};

// The API's rules for ids and images.
llm::history_rules history_rules();

// How the thinking effort of a model is set.
enum class thinking_control { none, budget, adaptive };
thinking_control control_of(std::string_view model, sampling_parameters sampling);

// Removes `output_schema` from the request; see llm::take_output_schema().
std::optional<llm::output_format> take_output_schema(boost::json::object& request, llm::schema_passing passing);

// Thinking blocks are returned to the model that produced them if thinking is enabled (reasoning_effort or extra_body).
// A turn that began without thinking continues without it, because the API requires that.
// `request`: the result of llm::parse_request(), without the schema that take_output_schema() has returned as `format`.
// Throws llm::bad_request.
built_request build_request(const boost::json::object& request, const request_options& options,
                            const std::optional<llm::output_format>& format = std::nullopt);

}  // namespace anthropic
