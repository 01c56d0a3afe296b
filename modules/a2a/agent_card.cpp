#include "agent_card.hpp"

#include <boost/json/array.hpp>

namespace a2a {

namespace json = boost::json;

json::object agent_card(const card_subject& of) {
  const json::array input{"text/plain", "application/json", "application/octet-stream"};
  const json::array output{"text/plain"};
  const std::string& description = of.description.empty() ? of.name : of.description;
  const json::object skill{
      {"id", "task"},        {"name", of.name},      {"description", description}, {"tags", json::array{"assistant"}},
      {"inputModes", input}, {"outputModes", output}};
  const json::object scheme{
      {"httpAuthSecurityScheme",
       json::object{{"scheme", "Bearer"},
                    {"description", "An API key of a user, or a JWT of the identity provider of this server"}}}};
  return {
      {"name", of.name},
      {"description", description},
      {"version", of.version},
      {"supportedInterfaces",
       json::array{json::object{{"url", of.rpc_url}, {"protocolBinding", "JSONRPC"}, {"protocolVersion", "1.0"}},
                   json::object{{"url", of.rest_url}, {"protocolBinding", "HTTP+JSON"}, {"protocolVersion", "1.0"}}}},
      {"capabilities", json::object{{"streaming", true}, {"pushNotifications", false}, {"extendedAgentCard", true}}},
      {"securitySchemes", json::object{{"bearer", scheme}}},
      {"securityRequirements",
       json::array{json::object{{"schemes", json::object{{"bearer", json::object{{"list", json::array{}}}}}}}}},
      {"defaultInputModes", input},
      {"defaultOutputModes", output},
      {"skills", json::array{skill}}};
}

}  // namespace a2a
