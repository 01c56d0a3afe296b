// The module's figures for /metrics. Any thread. Label values are names of transports that are loaded and
// words of this code.
#pragma once

#include <ry/ry.hpp>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace mcp {

class figures {
 public:
  explicit figures(const ry::context& ctx);

  // A transport is there: its figures are told from now on.
  void know(const std::string& transport) const;
  // A gauge of the sessions that are open by this transport.
  ry::metric sessions(const std::string& transport) const;
  // A call or a listing has ended; `why`: RY_OK, or how it failed. transport: "none" when it is not loaded.
  enum class operation { call, list };
  void ended(operation what, const std::string& transport, const ry::error& why, std::int64_t us) const;

  // Tried once more, because:
  ry::metric unsent;       // a connection that waited had ended
  ry::metric revision;     // the server speaks another revision than before
  ry::metric credentials;  // they were refused, and others are known
  ry::metric session;      // the server does not know the session any more

 private:
  ry::metric requests(operation what, const std::string& transport, std::string_view outcome) const;

  const ry::context& ctx_;
  std::array<ry::metric, 2> seconds_;  // by operation
  // The registry finds a figure by all of its labels; what was found there is kept.
  mutable std::mutex mutex_;
  mutable std::map<std::string, ry::metric> sessions_;  // by transport
  mutable std::map<std::pair<std::string, std::string_view>, ry::metric> requests_[2];  // by transport and outcome
};

}  // namespace mcp
