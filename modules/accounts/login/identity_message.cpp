#include "identity_message.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <ry/cpp/text.hpp>

#include "../body.hpp"
#include "../members.hpp"
#include "address.hpp"
#include "network.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

constexpr std::size_t max_link = 2000;

// "2026-01-02T03:04:05Z" or "2026-01-02 03:04:05+00". Year 1 is the zero value of Go's time, not a confirmation.
bool is_timestamp(std::string_view text) {
  constexpr std::string_view pattern = "dddd-dd-dd";
  if (text.size() < pattern.size() || text < "1970") return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == 'd' ? !digit : text[i] != pattern[i]) return false;
  }
  return true;
}

bool has_verified_address(const json::object& user) {
  if (user.contains("email_verified")) return is_true(&user, "email_verified");
  return is_timestamp(clean_member(&user, "email_confirmed_at", 64));
}

std::optional<bool> anonymity(const json::object& user) {
  const auto* v = user.if_contains("is_anonymous");
  if (!v || v->is_null()) return std::nullopt;
  return !is_explicitly_false(*v);
}

struct mailbox {
  std::string email;
  bool verified = false;
};

// Clerk sends a list of addresses and the id of the primary one.
mailbox primary_mailbox(const json::object& user) {
  const auto* list = user.if_contains("email_addresses");
  const auto primary_id = clean_member(&user, "primary_email_address_id", 200);
  if (!list || !list->is_array()) return {};
  for (const auto& item : list->get_array()) {
    const auto* o = item.if_object();
    if (!o || (!primary_id.empty() && clean_member(o, "id", 200) != primary_id)) continue;
    return {clean_member(o, "email_address", 320),
            clean_member(object_member(o, "verification"), "status", 32) == "verified"};
  }
  return {};
}

const json::object* user_in(const json::object& doc) {
  const auto* data = object_member(&doc, "data");
  for (const auto* o :
       {object_member(data, "user"), data, object_member(&doc, "user"), object_member(&doc, "record")}) {
    if (o && o->contains("id")) return o;
  }
  return nullptr;
}

std::string subject_of(const json::object& user) {
  auto id = clean_member(&user, "id", 255);
  if (id.empty()) throw body::invalid("id", "must be a string of 1 to 255 bytes");
  return id;
}

std::string name_of(const json::object& user, const json::object* own, const json::object* raw) {
  for (const auto* o : {&user, own, raw}) {
    for (const char* name : {"full_name", "name", "display_name"}) {
      auto text = name_member(o, name, 200);
      if (!text.empty()) return text;
    }
  }
  const auto first = name_member(&user, "first_name", 100), last = name_member(&user, "last_name", 100);
  return first + (first.empty() || last.empty() ? "" : " ") + last;
}

identity read_user(const json::object& user) {
  identity out;
  out.subject = subject_of(user);
  out.id = ry::uuid::parse(out.subject);
  mailbox box{clean_member(&user, "email", 320), has_verified_address(user)};
  if (box.email.empty()) box = primary_mailbox(user);
  if (!box.email.empty()) {
    const auto a = parse_address(box.email);
    if (!a) throw body::invalid("email", "must be an e-mail address");
    out.email = a->text;
    out.verified = box.verified;
  }
  out.anonymous = anonymity(user);
  const auto* own = object_member(&user, "user_metadata");
  const auto* raw = object_member(&user, "raw_user_meta_data");
  out.name = name_of(user, own, raw);
  if (out.name.empty()) out.name = out.email.substr(0, out.email.find('@'));
  for (const auto* o : {own, raw, object_member(&user, "unsafe_metadata"), object_member(&user, "public_metadata")}) {
    if (out.referral_code.empty()) out.referral_code = clean_member(o, "referral_code", 64);
  }
  return out;
}

// The link that Supabase Auth itself would send. `site_url` is the URL of its API.
std::string verify_link(const json::object& data, const std::string& hash) {
  auto site = clean_member(&data, "site_url", max_link);
  if (hash.empty() || !ry::has_http_scheme(site)) return {};
  while (site.ends_with('/')) site.pop_back();
  return site + "/verify?token=" + ry::percent_encoded(hash) +
         "&type=" + ry::percent_encoded(clean_member(&data, "email_action_type", 32)) +
         "&redirect_to=" + ry::percent_encoded(clean_member(&data, "redirect_to", max_link));
}

std::vector<provider_mail> read_mails(const json::object& data, const json::object& user) {
  const auto text = [&data](const char* name) { return clean_member(&data, name, 256); };
  const auto action = text("email_action_type");
  const auto address = clean_member(&user, "email", 320), next = clean_member(&user, "new_email", 320);
  const auto mail = [&](const std::string& to, const char* code, const char* hash) {
    // A reauthentication has a code but no page.
    return provider_mail{to, action, text(code), action == "reauthentication" ? "" : verify_link(data, text(hash))};
  };
  if (action != "email_change") return {mail(address, "token", "token_hash")};
  std::vector<provider_mail> out;
  // If both addresses must confirm, Supabase swaps the names: token_hash_new belongs to the current address.
  const bool both = !text("token_hash_new").empty();
  if (both) out.push_back(mail(address, "token", "token_hash_new"));
  out.push_back(mail(next.empty() ? address : next, both ? "token_new" : "token", "token_hash"));
  return out;
}

std::string client_address(const json::object& doc) {
  const auto* request = object_member(object_member(&doc, "event_attributes"), "http_request");
  const auto clerk = clean_member(request, "client_ip", 64);
  return clerk.empty() ? clean_member(object_member(&doc, "metadata"), "ip_address", 64) : clerk;
}

// The name of the hook of Supabase Auth; empty if the message is of another kind.
std::string hook_name(const json::object& doc) {
  if (!object_member(&doc, "user")) return {};
  if (object_member(&doc, "email_data")) return "send-email";
  return clean_member(object_member(&doc, "metadata"), "name", 100);
}

bool creates_or_updates_user(std::string_view type) {
  constexpr std::string_view types[] = {"user.created",        "user.updated",       "INSERT",    "UPDATE",
                                        "before-user-created", "after-user-created", "send-email"};
  return std::find(std::begin(types), std::end(types), type) != std::end(types);
}

// Whether the row belongs to the table of users. Other tables may also have ids and addresses, which users may be able
// to write.
bool is_user_row(const json::object& doc) {
  const auto schema = clean_member(&doc, "schema", 64);
  return clean_member(&doc, "table", 64) == "users" && (schema.empty() || schema == "auth");
}

bool is_row(std::string_view type) {
  return type == "INSERT" || type == "UPDATE" || type == "DELETE";
}

std::string deleted_subject(const json::object& doc, std::string_view type) {
  const json::object* user = nullptr;
  if (type == "user.deleted") {
    user = user_in(doc);
  } else if (type == "DELETE" && is_user_row(doc)) {
    user = object_member(&doc, "old_record");
  } else {
    return {};
  }
  if (user == nullptr) throw body::invalid("data", "must contain a user with an id");
  return subject_of(*user);
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
  if (out.type.empty()) out.type = hook_name(o);
  out.deleted = deleted_subject(o, out.type);
  if (!creates_or_updates_user(out.type) || (is_row(out.type) && o.contains("table") && !is_user_row(o))) return out;
  const auto* user = user_in(o);
  if (user == nullptr) throw body::invalid("data", "must contain a user with an id");
  out.who = read_user(*user);
  out.who->network = network_block_of(client_address(o));
  if (out.type == "send-email") out.mails = read_mails(*object_member(&o, "email_data"), *user);
  return out;
}

}  // namespace accounts
