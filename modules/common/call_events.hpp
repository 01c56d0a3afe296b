// Applies the events of runs/1 to the states of a run's calls. Pure.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <common/call_states.hpp>
#include <json/members.hpp>
#include <string_view>

namespace tool_calls {

inline void apply_event(call_states& to, const boost::json::object& event) {
  const std::string_view type = module_json::text_at(event, "type");
  const std::string_view call = module_json::text_at(event, "tool_call_id");
  if (type == "llm_response_start" || type == "turn_aborted") {
    to.begin_answer();
  } else if (type == "tool_call") {
    if (module_json::text_at(event, "source") != "client") to.called(call);
  } else if (type == "approval_requested") {
    to.approval_requested(call);
  } else if (type == "approval_resolved") {
    to.approval_resolved(call);
  } else if (type == "tool_result") {
    to.finished(call);
  } else if (type == "tool_results_requested") {
    if (const boost::json::array* ids = module_json::array_at(event, "tool_call_ids"))
      for (const boost::json::value& id : *ids)
        if (id.is_string()) to.result_requested(id.get_string());
  }
}

}  // namespace tool_calls
