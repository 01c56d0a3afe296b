// The stream of server-sent events of a response.
#pragma once
#include <boost/json/object.hpp>
#include <ry/cpp/http.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace openai_api {

class event_stream {
 public:
  explicit event_stream(const ry::request& r);

  // Queues an event; flush() sends the queued ones.
  void add(const boost::json::object& event, std::string_view name = {});
  void add_done();  // the end marker
  // Waits while the client reads slowly. False: the client has disconnected.
  ry::task<bool> flush();
  // RY_REASON_* if the client has disconnected or the host drains; otherwise 0.
  std::int32_t why_cancelled() const { return sse_.cancel().why(); }

 private:
  ry::sse sse_;
  std::string pending_;
};

}  // namespace openai_api
