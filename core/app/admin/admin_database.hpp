// Database access of the host's own admin routes.
#pragma once

#include <functional>
#include <string>

#include "core/db/database.hpp"
#include "core/http/server.hpp"

namespace ry::app {

http::host_answer error_answer(std::uint32_t status, const std::string& why);

// Runs `work` on a database worker and returns its answer. A failure is logged and answered with 503. Blocks; must
// not be called on a loop.
http::host_answer run_on_database(db::database* database, std::function<http::host_answer(db::connection&)> work);

// Reports an administrator's action to the audit log, in the background. `detail`: JSON. [any]
void publish_audit_event(db::database& database, const std::string& actor, const std::string& action,
                         const std::string& detail);

}  // namespace ry::app
