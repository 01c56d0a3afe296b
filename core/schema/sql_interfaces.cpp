#include "core/schema/sql_interfaces.hpp"

#include "sql_interface_files.hpp"

namespace ry::schema {

std::vector<sql_function> declared_functions(std::string_view text) {
  constexpr std::string_view before = "create function ";
  std::vector<sql_function> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(before)) continue;
    line.remove_prefix(before.size());
    if (line.ends_with(';')) line.remove_suffix(1);
    const auto open = line.find('(');
    out.push_back({std::string(line.substr(0, open)), std::string(line.substr(open))});
  }
  return out;
}

std::vector<sql_function> functions_of_service(std::string_view service) {
  std::string file(service);  // "accounts/1" is declared in accounts.v1.sql
  if (const auto slash = file.find('/'); slash != file.npos) file.replace(slash, 1, ".v");
  file += ".sql";
  for (const auto& f : ry_sql_interfaces::all)
    if (f.name == file) return declared_functions(f.text);
  return {};
}

}  // namespace ry::schema
