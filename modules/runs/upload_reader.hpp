// Looks at the files that came with a start before the model's first answer: their text goes beside them as
// uploads/.text/<name>.txt, images go into the user's message. What parses a file runs in the sandbox.
#pragma once
#include "parts.hpp"
#include "upload_finding.hpp"

namespace runs {

// Does it for the run's files that nobody has looked at; a run that breaks off leaves them to be looked at
// again. False: the run belongs to another worker. On the run's executor.
ry::task<bool> look_at_uploads(parts& p, std::shared_ptr<live_run> run);

}  // namespace runs
