#pragma once

#include <string>

namespace ry::db {

// Whether libpq can parse the connection string. Does not contact the server. [any]
bool usable_url(const std::string& url);

}  // namespace ry::db
