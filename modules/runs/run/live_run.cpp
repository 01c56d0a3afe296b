#include "run/live_run.hpp"

#include "text.hpp"

namespace runs {

void live_run::note_cause(std::string text) {
  constexpr std::size_t max_causes = 10, max_bytes = 2000;
  if (progress.causes.size() == max_causes) progress.causes.erase(progress.causes.begin());
  progress.causes.push_back({ctx_.now_unix_us(), progress.step + 1, shorten(text, max_bytes)});
}

void live_run::end(event_broadcaster::ending how) {
  events.end(how);
  progress.files.reset();  // slow readers may keep this object for a long time
}

}  // namespace runs
