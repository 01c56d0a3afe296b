#include "core/schema/core_migrations.hpp"

#include "migrations.hpp"

namespace ry::schema {

std::vector<module::migration> core_migrations() {
  std::vector<module::migration> out;
  for (const auto& file : ry_migrations::all) out.push_back({std::string(file.id), std::string(file.sql), file.flags});
  return out;
}

}  // namespace ry::schema
