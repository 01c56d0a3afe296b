#include "model_routes.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "errors.hpp"
#include "ids.hpp"
#include "json/members.hpp"

namespace openai_api {
namespace {

namespace json = boost::json;

json::object model_object(const std::string& id, std::int64_t created, const char* owner, std::string_view name) {
  json::object o;
  o["id"] = id;
  o["object"] = "model";
  o["created"] = created;
  o["owned_by"] = owner;
  o["name"] = name;
  return o;
}

}  // namespace

void model_routes::add_to(ry::registrar& reg) {
  reg.route("GET", "/v1/models", 0, this, &model_routes::list);
  // Names of models contain a slash, which some clients do not encode.
  reg.route("GET", "/v1/models/{id...}", 0, this, &model_routes::show);
}

ry::task<ry::response> model_routes::list(ry::request r) {
  return with_errors(ctx_, list_models(std::move(r)));
}
ry::task<ry::response> model_routes::show(ry::request r) {
  return with_errors(ctx_, show_model(std::move(r)));
}

ry::task<json::array> model_routes::all(ry::uuid account) {
  json::array out;
  for (const std::string& name : co_await access_.models(account))
    out.push_back(model_object(name, 0, "runyard", name));
  out.push_back(model_object("agent", 0, "account", "The default agent"));
  for (const agent_entry& a : co_await access_.agents(account)) {
    const std::optional<ry::uuid> id = ry::uuid::parse(a.id);
    out.push_back(model_object("agent/" + a.id, id ? created_ms(*id) / 1000 : 0, "account", a.name));
  }
  co_return out;
}

ry::task<ry::response> model_routes::list_models(ry::request r) {
  const ry::uuid account = co_await access_.account_of(r);
  json::object page;
  page["object"] = "list";
  page["data"] = co_await all(account);
  co_return ry::response::json(json::serialize(page));
}

ry::task<ry::response> model_routes::show_model(ry::request r) {
  const ry::uuid account = co_await access_.account_of(r);
  const std::string id(r.param("id"));
  const json::array models = co_await all(account);
  for (const json::value& v : models)
    if (module_json::text_at(v.get_object(), "id") == id) co_return ry::response::json(json::serialize(v));
  throw unknown_model(id);
}

}  // namespace openai_api
