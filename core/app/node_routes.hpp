// GET /admin/nodes shows the nodes of the deployment; POST /admin/nodes/{id}/drain asks one to take no
// more jobs, .../undrain to take them again. For admins.
//
// Lifetime: the rooms outlive the server's routes. Threads: the routes run on blocking threads and wait
// for the database.
#pragma once

#include "core/app/rooms.hpp"

namespace ry::app {

// Before the server listens.
void add_node_routes(rooms& r, workshop& w);

}  // namespace ry::app
