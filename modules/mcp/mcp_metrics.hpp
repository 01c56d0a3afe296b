// The module's metrics. Any thread. Label values are limited to names of loaded transports and constants of this code.
#pragma once

#include <ry/ry.hpp>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace mcp {

class mcp_metrics {
 public:
  explicit mcp_metrics(const ry::context& ctx);

  // Registers the metrics of a loaded transport, so that its series start at 0.
  void register_transport(const std::string& transport) const;
  // A gauge of the open sessions of this transport.
  ry::metric sessions(const std::string& transport) const;
  enum class request_kind { call, list };
  // Records the end of a request. outcome: RY_OK or the error. transport: "none" if it is not loaded.
  void record_request(request_kind kind, const std::string& transport, const ry::error& outcome, std::int64_t us) const;

  // Counters of retries, by reason:
  ry::metric unsent_retries;  // a pooled connection had been closed
  ry::metric revision_retries;  // the server changed its protocol revision
  ry::metric credentials_retries;  // the credentials were rejected, and others are available
  ry::metric session_retries;  // the server no longer knows the session

 private:
  ry::metric requests(request_kind kind, const std::string& transport, std::string_view outcome) const;

  const ry::context& ctx_;
  std::array<ry::metric, 2> seconds_;  // by request kind
  // The registry looks up a metric by all of its labels; these maps cache the results.
  mutable std::mutex mutex_;
  mutable std::map<std::string, ry::metric> sessions_;  // by transport
  mutable std::map<std::pair<std::string, std::string_view>, ry::metric> requests_[2];  // by transport and outcome
};

}  // namespace mcp
