// Converts the neutral request to a request of the Responses API. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "chat_request.hpp"
#include "dialect.hpp"
#include "history.hpp"
#include "reasoning_items.hpp"
#include "tool_set.hpp"

namespace openai {

struct responses_options {
  std::string provider;  // configured name; reasoning items are sent back only to the provider that produced them
  std::string deployment;  // Azure deployment, sent as the model; empty: the model of the request
  bool encrypted_reasoning = true;  // request encrypted reasoning items, and send them back
  bool reasoning_text = true;  // also send back items with readable content only, which open models produce
  bool images_in_results = false;  // results may contain images; otherwise these follow as a user message
  bool alternate_roles = true;  // insert short messages so that user and assistant take turns
  bool known_models = false;  // omit parameters that OpenAI's models reject
  std::int64_t min_output_tokens = 1;
  llm::history_rules history;
  llm::tool_rules tools;
  boost::json::object extra_body;  // members added to every request
};
responses_options responses_options_of(dialect d);

struct built_responses_request : built_request {
  std::vector<reasoning_refusals::mark> reasoning;  // the reasoning items that the request contains
};

// `request` and `format` as in build_request(). Throws llm::bad_request.
built_responses_request build_responses_request(const boost::json::object& request, const responses_options& options,
                                                const reasoning_refusals& refusals,
                                                const std::optional<llm::output_format>& format = std::nullopt);

}  // namespace openai
