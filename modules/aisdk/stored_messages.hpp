// Maps the stored messages of a thread to UI messages of the AI SDK. Pure.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>

namespace aisdk {

// `messages`: those of a thread, oldest first, as ry_runs_v1::messages returns them. The ids of assistant messages are
// the ids that the streams of the runs use.
boost::json::array ui_messages_of(const boost::json::array& messages);

// Marks the calls of the newest message that wait for an approval. run: the object of ry_runs_v1::list.
void mark_waiting_calls(const boost::json::object& run, boost::json::array& messages);

}  // namespace aisdk
