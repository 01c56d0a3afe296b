#include "core/db/url.hpp"

#include <libpq-fe.h>

namespace ry::db {

bool usable_url(const std::string& url) {
  char* why = nullptr;
  auto* options = PQconninfoParse(url.c_str(), &why);
  // Dropped: the message quotes the text, which may contain a password.
  PQfreemem(why);
  PQconninfoFree(options);
  return options != nullptr;
}

}  // namespace ry::db
