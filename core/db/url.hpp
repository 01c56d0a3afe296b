#pragma once

#include <string>

namespace ry::db {

// Whether libpq can read it as a connection string. Says nothing of a server behind it. [any]
bool usable_url(const std::string& url);

}  // namespace ry::db
