// The messages of a neutral request as turns that every provider takes: results stand with their calls, nothing is
// blank, ids and names fit, images are what they say. What is stored is not changed. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "image_type.hpp"
#include "request.hpp"
#include "tool_ids.hpp"
#include "tool_set.hpp"

namespace llm {

struct history_rules {
  id_form ids = id_form::compatible;
  image_limits images;
};

struct shown_image {
  std::string_view media_type;
  std::string data;
};

struct call_result {
  std::string text;  // not blank, unless there are images
  std::vector<shown_image> images;
  bool failed = false;
};

struct past_call {
  std::string_view stored_id;  // of the request
  std::string id, name;        // for the provider
  boost::json::object arguments;
  call_result result;
};

struct turn {
  enum class speaker { user, assistant };
  speaker by = speaker::user;
  std::string text;                                   // empty or not blank
  std::vector<shown_image> images;                    // a user's
  std::vector<past_call> calls;                       // an assistant's, each with its result
  std::vector<const boost::json::object*> reasoning;  // as the request has it
};

// The first turn is a user's. Every turn has something to say. Two turns of an assistant follow each other only behind
// calls; turns of a user may. The last one is a user's or has calls.
std::vector<turn> read_history(const boost::json::object& request, const history_rules& rules, tool_set& tools,
                               std::vector<notice>& notices);

}  // namespace llm
