// The module's metrics. Metrics that count per run, per model request or per stream event are registered at the start.
// Label values come from this code and the configuration, never from a client.
//
// Thread: any. Lifetime: as long as the module. Two instances of the module that exist at the same time use the same
// series.
#pragma once
#include <initializer_list>
#include <map>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "settings/settings.hpp"

namespace runs {

// One counter for each known value of a label, and one for all other values.
class counters {
 public:
  counters() = default;
  template <class Make>  // ry::metric(const char* value)
  counters(std::initializer_list<const char*> values, const Make& make) : other_(make("other")) {
    for (const char* value : values) by_.emplace(value, make(value));
  }
  void add(std::string_view value) const {
    const auto found = by_.find(value);
    (found == by_.end() ? other_ : found->second).add();
  }

 private:
  std::map<std::string, ry::metric, std::less<>> by_;
  ry::metric other_;
};

// Metrics of one configured model provider.
struct provider_metrics {
  counters requests;  // by outcome_of()
  ry::metric seconds;  // from the request to the end of the response
  ry::metric same_again, next_model;  // failed attempts that were retried, with the same model or the next one
  ry::metric input, output, cached;  // tokens

  // The label value for the end of a request.
  static const char* outcome_of(ry_status st);
};

class run_metrics {
 public:
  run_metrics(const ry::context& ctx, const settings& s);

  ry::metric live;  // runs that this node executes
  ry::metric queued;  // runs that wait for a slot on any node
  ry::metric queue_wait, first_token, duration;  // seconds since the start of a run
  counters starts;  // by outcome
  counters ended;  // by reason, each with its status
  counters stops;  // by outcome
  counters claimed;  // by the reason why the previous worker no longer executed the run
  counters released;  // by the reason why this worker no longer executes the run
  ry::metric streams, stream_events, stream_gaps;

  // For a name that is not configured, returns metrics that count nothing.
  const provider_metrics& provider(std::string_view name) const;
  // driver: the tool's driver, or "none" if there is no tool with that name.
  void tool_call(std::string_view driver, std::string_view outcome, double seconds) const;

 private:
  const ry::context& ctx_;
  std::map<std::string, provider_metrics, std::less<>> providers_;
};

// Increments a gauge while this object exists.
class counted {
 public:
  explicit counted(ry::metric m) : m_(m) { m_.add(1); }
  ~counted() { m_.add(-1); }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

 private:
  const ry::metric m_;
};

}  // namespace runs
