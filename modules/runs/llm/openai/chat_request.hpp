// Converts the neutral request to a request of the Chat Completions API. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect.hpp"
#include "history.hpp"
#include "output_schema.hpp"
#include "request.hpp"
#include "tool_set.hpp"

namespace openai {

struct request_options {
  std::string max_tokens_field = "max_tokens";  // newer OpenAI models require max_completion_tokens
  bool stream_usage = true;  // request the usage chunk
  bool send_reasoning = false;  // return reasoning to its model, with its calls
  bool alternate_roles = true;  // strictly alternate user and assistant, as chat templates require
  std::string required_choice = "required";  // the value of tool_choice for "any tool"
  bool known_models = false;  // omit parameters that OpenAI's models reject
  bool sign_calls = false;  // calls without a thought signature get the placeholder that skips the check
  llm::history_rules history;
  llm::tool_rules tools;
  boost::json::object extra_body;  // members added to every request
};
request_options options_of(dialect d);

// Removes `output_schema` from the request; see llm::take_output_schema().
std::optional<llm::output_format> take_output_schema(boost::json::object& request, dialect d,
                                                     llm::schema_passing passing);

struct built_request {
  std::string body;
  std::vector<llm::notice> notices;  // parts that were skipped or changed
  std::shared_ptr<const llm::call_names> names;  // nullptr: nothing was renamed
};

// `request`: the result of llm::parse_request(), without the schema that take_output_schema() has returned as `format`.
// Throws llm::bad_request.
built_request build_request(const boost::json::object& request, const request_options& options,
                            const std::optional<llm::output_format>& format = std::nullopt);

}  // namespace openai
