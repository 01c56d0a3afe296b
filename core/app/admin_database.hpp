// What the host's own admin routes do in the database.
#pragma once

#include <functional>
#include <string>

#include "core/db/database.hpp"
#include "core/http/server.hpp"

namespace ry::app {

http::host_answer refusal(std::uint32_t status, const std::string& why);

// Runs `work` on a worker of the database and waits for its answer; what fails is logged and answered with
// 503. Blocks; not on a loop.
http::host_answer ask(db::database* database, std::function<http::host_answer(db::connection&)> work);

// Tells whoever keeps the audit of an admin's act, in the background. `detail`: JSON. [any]
void tell_audit(db::database& database, const std::string& actor, const std::string& action,
                const std::string& detail);

}  // namespace ry::app
