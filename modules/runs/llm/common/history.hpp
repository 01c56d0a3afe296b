// Converts the messages of a neutral request to turns that every provider accepts: results follow their calls, no text
// is blank, ids and names are valid, images have their real type. Stored messages are not changed. Pure.
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
  std::string_view stored_id;  // as in the request
  std::string id, name;  // as sent to the provider
  boost::json::object arguments;
  call_result result;
};

struct turn {
  enum class speaker { user, assistant };
  speaker role = speaker::user;
  std::string text;  // empty or not blank
  std::vector<shown_image> images;  // of a user turn
  std::vector<past_call> calls;  // of an assistant turn, each with its result
  std::vector<const boost::json::object*> reasoning;  // blocks as in the request
};

// The first turn is a user turn. No turn is empty. Assistant turns are consecutive only after calls; user turns may be
// consecutive. The last turn is a user turn or has calls.
std::vector<turn> read_history(const boost::json::object& request, const history_rules& rules, tool_set& tools,
                               std::vector<notice>& notices);

}  // namespace llm
