// The module's figures for /metrics. What is counted for each run, request of a model or piece of a stream has
// its handles from the beginning; label values are those of this code and of the configuration, never a
// caller's.
//
// Thread: any. Lifetime: as long as the module. Two generations that live beside each other count into the same
// series.
#pragma once
#include <initializer_list>
#include <map>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "settings.hpp"

namespace runs {

// A counter for each value of a label that is known beforehand, and one for all others.
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

// Of one configured provider of models.
struct provider_figures {
  counters requests;                     // by outcome_of()
  ry::metric seconds;                    // of requests, to the end of the answer
  ry::metric same_again, next_model;     // attempts that failed and were followed by another
  ry::metric input, output, cached;      // tokens

  // What a request's end is called.
  static const char* outcome_of(ry_status st);
};

class figures {
 public:
  figures(const ry::context& ctx, const settings& s);

  ry::metric live;                                // runs that this node works on
  ry::metric queued;                              // that wait for a place on any node
  ry::metric queue_wait, first_token, duration;   // seconds from the start of a run
  counters starts;                                // by outcome
  counters ended;                                 // by reason, each with its status
  counters stops;                                 // by how the run ended
  counters taken_over;                            // by why another worker had left it
  counters left;                                  // by why this worker left it
  ry::metric streams, stream_events, stream_gaps;

  // Of a name that is not configured: counts nothing.
  const provider_figures& provider(std::string_view name) const;
  // driver: of the tool, "none" when there is none of that name.
  void tool_call(std::string_view driver, std::string_view outcome, double seconds) const;

 private:
  const ry::context& ctx_;
  std::map<std::string, provider_figures, std::less<>> providers_;
};

// Counts one up while it lives.
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
