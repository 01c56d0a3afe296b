# Writes OUT: the texts of FILES (*.sql) as `ry_migrations::all`, in order of their names. The id of a
# migration is its file name without ".sql". A first line "-- ry: no_tx" makes it run outside a
# transaction (RY_MIGRATION_NO_TX).
list(SORT FILES)
set(text "#pragma once\n\n#include <cstdint>\n#include <string_view>\n\nnamespace ry_migrations {\n\n")
string(APPEND text "struct file {\n  std::string_view id, sql;\n  std::uint32_t flags;\n};\n\n")
string(APPEND text "inline constexpr file all[] = {\n")
foreach(path IN LISTS FILES)
  get_filename_component(id "${path}" NAME_WE)
  file(READ "${path}" sql)
  set(flags 0)
  if(sql MATCHES "^-- ry: no_tx\n")
    set(flags 1)
  endif()
  string(APPEND text "    {\"${id}\", R\"ry_sql(${sql})ry_sql\", ${flags}},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace ry_migrations\n")
file(WRITE "${OUT}" "${text}")
