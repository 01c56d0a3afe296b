#include "core/db/url.hpp"

#include <libpq-fe.h>

namespace ry::db {

bool usable_url(const std::string& url) {
  char* why = nullptr;
  auto* options = PQconninfoParse(url.c_str(), &why);
  // The reason quotes the text, which may hold a password.
  PQfreemem(why);
  PQconninfoFree(options);
  return options != nullptr;
}

}  // namespace ry::db
