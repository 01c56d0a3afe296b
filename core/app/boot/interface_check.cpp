#include "core/app/boot/interface_check.hpp"

#include "core/db/function_catalog.hpp"
#include "core/schema/sql_interfaces.hpp"

namespace ry::app {
namespace {

std::string fault_of(const schema::sql_function& wanted, const std::multimap<std::string, std::string>& present) {
  const auto [begin, end] = present.equal_range(wanted.name);
  if (begin == end) return wanted.name + wanted.signature + " is missing";
  for (auto f = begin; f != end; ++f)
    if (f->second == wanted.signature) return {};
  return wanted.name + begin->second + " must be " + wanted.name + wanted.signature;
}

}  // namespace

std::vector<interface_fault> check_sql_interfaces(const db::connect_settings& connect,
                                                  const std::vector<module::provided_services>& provided) {
  std::vector<interface_fault> out;
  const auto present = db::function_signatures(connect);
  for (const auto& [module, services] : provided)
    for (const auto& service : services)
      for (const auto& wanted : schema::functions_of_service(service))
        if (const auto fault = fault_of(wanted, present); !fault.empty())
          out.push_back(
              {module, "provides " + service + ", but its SQL function " + fault + ": modules that call it fail"});
  return out;
}

}  // namespace ry::app
