#include "identity_message.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "../body.hpp"
#include "../members.hpp"
#include "address.hpp"
#include "network.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

bool is_set(const json::object* o, const char* name) {
  const auto* v = o ? o->if_contains(name) : nullptr;
  return v && !v->is_null() && !(v->is_bool() && !v->get_bool()) &&
         !(v->is_string() && v->get_string().empty());
}

struct mailbox {
  std::string email;
  bool verified = false;
};

// Clerk lists addresses and names the primary one.
mailbox primary_of(const json::object& user) {
  const auto* list = user.if_contains("email_addresses");
  const auto wanted = clean_member(&user, "primary_email_address_id", 200);
  if (!list || !list->is_array()) return {};
  for (const auto& item : list->get_array()) {
    const auto* o = item.if_object();
    if (!o || (!wanted.empty() && clean_member(o, "id", 200) != wanted)) continue;
    return {clean_member(o, "email_address", 320),
            clean_member(object_member(o, "verification"), "status", 32) == "verified"};
  }
  return {};
}

const json::object* user_in(const json::object& doc) {
  const auto* data = object_member(&doc, "data");
  for (const auto* o : {object_member(data, "user"), data, object_member(&doc, "user"),
                        object_member(&doc, "record")}) {
    if (o && o->contains("id")) return o;
  }
  return nullptr;
}

identity read_user(const json::object& user) {
  identity out;
  out.subject = clean_member(&user, "id", 255);
  if (out.subject.empty()) throw body::invalid("id", "must be a string of 1 to 255 bytes");
  out.id = ry::uuid::parse(out.subject);
  mailbox box{clean_member(&user, "email", 320),
              is_set(&user, "email_verified") || is_set(&user, "email_confirmed_at")};
  if (box.email.empty()) box = primary_of(user);
  if (!box.email.empty()) {
    const auto a = parse_address(box.email);
    if (!a) throw body::invalid("email", "must be an e-mail address");
    out.email = a->text;
    out.verified = box.verified;
  }
  const auto* own = object_member(&user, "user_metadata");
  const auto* raw = object_member(&user, "raw_user_meta_data");
  for (const auto* o : {&user, own, raw}) {
    for (const char* name : {"full_name", "name", "display_name"}) {
      if (out.name.empty()) out.name = name_member(o, name, 200);
    }
  }
  if (out.name.empty()) {
    const auto first = name_member(&user, "first_name", 100),
               last = name_member(&user, "last_name", 100);
    out.name = first + (first.empty() || last.empty() ? "" : " ") + last;
  }
  if (out.name.empty()) out.name = out.email.substr(0, out.email.find('@'));
  for (const auto* o : {own, raw, object_member(&user, "unsafe_metadata"),
                        object_member(&user, "public_metadata")}) {
    if (out.referral_code.empty()) out.referral_code = clean_member(o, "referral_code", 64);
  }
  return out;
}

}  // namespace

identity_message read_identity_message(std::string_view text) {
  json::error_code ec;
  const auto doc = json::parse(json::string_view(text.data(), text.size()), ec);
  if (ec || !doc.is_object()) {
    throw ry::bad_request("accounts.body", "The body must be a JSON object");
  }
  const auto& o = doc.get_object();
  identity_message out;
  out.type = clean_member(&o, "type", 100);
  const bool makes = out.type == "user.created" || out.type == "user.updated" ||
                     out.type == "INSERT" || out.type == "UPDATE";
  if (!makes) return out;
  const auto* user = user_in(o);
  if (user == nullptr) throw body::invalid("data", "must hold a user with an id");
  out.who = read_user(*user);
  const auto* request = object_member(object_member(&o, "event_attributes"), "http_request");
  out.who->network = neighbourhood_of(clean_member(request, "client_ip", 64));
  return out;
}

}  // namespace accounts
