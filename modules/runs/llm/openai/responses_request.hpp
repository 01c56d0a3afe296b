// The neutral request as a request of the Responses API. Pure.
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
  std::string provider;              // its configured name; reasoning items go back to the provider that made them only
  std::string deployment;            // of Azure, sent as the model; empty: the model of the request
  bool encrypted_reasoning = true;   // ask for reasoning items with their content, and send them back
  bool reasoning_text = true;        // send items back that have readable content only, as open models give them
  bool images_in_results = false;    // a result may hold images; otherwise they follow as a message of the user
  bool alternate_roles = true;       // insert short messages so that user and assistant take turns
  bool known_models = false;         // leave out parameters that the models of OpenAI refuse
  std::int64_t least_output_tokens = 1;
  llm::history_rules history;
  llm::tool_rules tools;
  boost::json::object extra_body;    // members added to every request
};
responses_options responses_options_of(dialect d);

struct built_responses_request : built_request {
  std::vector<reasoning_refusals::mark> reasoning;  // the items that are sent back
};

// `request` as llm::parse_request() gave it. Throws llm::bad_request.
built_responses_request build_responses_request(const boost::json::object& request, const responses_options& options,
                                                const reasoning_refusals& refusals);

}  // namespace openai
