#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "members.hpp"
#include "types.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

bool is_true(const json::object* o, std::string_view name) {
  const auto* v = o ? o->if_contains(json::string_view(name.data(), name.size())) : nullptr;
  return v && v->is_bool() && v->get_bool();
}

}  // namespace

identity read_identity(const ry_principal& who) {
  identity out;
  out.subject = ry::text(who.subject);
  out.id = ry::uuid::parse(out.subject);
  out.email = ry::text(who.email);

  const auto text = ry::view(who.claims_json);
  json::error_code ec;
  const auto doc = json::parse(json::string_view(text.data(), text.size()), ec);
  if (!ec && doc.is_object()) {
    const auto& claims = doc.get_object();
    const auto* user = object_member(&claims, "user_metadata");
    for (const char* name : {"full_name", "name", "display_name"}) {
      if (out.name.empty()) out.name = clean_member(user, name, 200);
    }
    if (out.name.empty()) out.name = clean_member(&claims, "name", 200);
    out.referral_code = clean_member(user, "referral_code", 64);
    out.verified = is_true(&claims, "email_verified") ||
                   is_true(object_member(&claims, "app_metadata"), "email_verified");
  }
  if (out.name.empty()) out.name = out.email.substr(0, out.email.find('@'));
  return out;
}

}  // namespace accounts
