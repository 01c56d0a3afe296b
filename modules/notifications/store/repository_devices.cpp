// SQL statements for devices that receive push messages.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <ry/cpp/base64.hpp>

#include "store/repository.hpp"

#include "json/members.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::int64_t devices_per_query = 100;
constexpr std::string_view mask = "***";

}  // namespace

std::string masked(std::string text, const std::vector<std::string>& secrets) {
  for (const auto& secret : secrets) {
    if (secret.empty()) continue;
    for (std::size_t at = 0; (at = text.find(secret, at)) != text.npos; at += mask.size())
      text.replace(at, secret.size(), mask);
  }
  return text;
}

ry::task<device_list> repository::decrypt_devices(std::string tokens_json) const {
  device_list out;
  if (tokens_json.empty()) co_return out;
  const auto list = json::parse(tokens_json);
  for (const auto& v : list.as_array()) {
    const auto& o = v.as_object();
    const auto provider = module_json::text_of(o, "provider"), name = module_json::text_of(o, "name"),
               token = module_json::text_of(o, "token");
    const auto type = module_json::text_of(o, "device_type"), sealed = module_json::text_of(o, "sealed");
    device_secret plain{name, token};
    if (sealed.empty()) {
      co_await seal_device(provider, name, token, plain);
    } else {
      const auto bytes = ry::base64_decode(sealed, ry::base64_alphabet::standard, ry::base64_padding::required);
      auto found = vault_.open(provider, name, bytes.value_or(""));
      if (!found && found.status() != RY_DATA_LOSS) throw found.error();
      if (!found) {
        out.unreadable.emplace_back(provider, token, type);
        continue;
      }
      plain = *std::move(found);
    }
    out.readable.emplace_back(provider, std::move(plain.token), type);
    out.names.push_back(std::move(plain.name));
  }
  co_return out;
}

ry::task<std::int64_t> repository::put_device(ry::uuid account, device_request request, std::string name) const {
  const auto name_fingerprint = vault_.fingerprint(name), token_fingerprint = vault_.fingerprint(request.token);
  const device_secret plain{std::move(name), std::move(request.token)};
  const auto sealed = vault_.seal(request.provider, name_fingerprint, plain);
  const auto rows = (co_await ctx_.db().query("select notifications.put_token($1, $2, $3, $4, $5, $6, $7)", account,
                                              request.provider, name_fingerprint, token_fingerprint, request.type,
                                              ry::bytes_view(sealed), vault_.fingerprint_key()))
                        .value();
  co_return rows.front().int64(0);
}

ry::task<std::string> repository::devices_json(ry::uuid account) const {
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY},
                         "select coalesce(json_agg(json_build_object('id', t.name, 'provider', t.provider,"
                         "  'device_type', t.device_type, 'registered_at', notifications.iso(t.seen_at))"
                         "  order by t.seen_at desc, t.name), '[]')::text"
                         "  from notifications.device_token t where t.account_id = $1 and t.sealed is not null",
                         account))
                        .value();
  co_return std::string(rows.front().text(0));
}

ry::task<void> repository::delete_device(ry::uuid account, std::string token, std::string provider) const {
  const auto token_fingerprint = vault_.fingerprint(token);
  (co_await ctx_.db().query(
       "with gone as (delete from notifications.device_token t"
       "  where t.account_id = $1 and ($2 in (t.token, t.name) or $4 = t.name or (t.sealed is null and $4 = t.token))"
       "    and ($3 = '' or lower(t.provider) = $3) returning 1)"
       "select notifications.tell($1) where exists (select 1 from gone)",
       account, token_fingerprint, provider, token))
      .value();
}

ry::task<void> repository::seal_device(std::string provider, std::string stored_name, std::string stored_token,
                                       device_secret plain) const {
  const auto name = vault_.fingerprint(plain.name), token = vault_.fingerprint(plain.token);
  const auto sealed = vault_.seal(provider, name, plain);
  (co_await ctx_.db().query("select notifications.seal_device($1, $2, $3, $4, $5, $6, $7)", provider, stored_name,
                            stored_token, name, token, ry::bytes_view(sealed), vault_.fingerprint_key()))
      .value();
}

ry::task<void> repository::seal_devices() const {
  std::string after_provider, after_name;
  for (;;) {
    const auto rows =
        (co_await ctx_.db().query_with({RY_DB_READ_ONLY},
                                       "select provider, name, token, sealed from notifications.device_token"
                                       " where fingerprint_key is distinct from $1 and (provider, name) > ($2, $3)"
                                       " order by provider, name limit $4",
                                       vault_.fingerprint_key(), after_provider, after_name, devices_per_query))
            .value();
    for (const auto r : rows) {
      after_provider = r.text("provider");
      after_name = r.text("name");
      device_secret plain{after_name, std::string(r.text("token"))};
      if (const auto sealed = r.opt_text("sealed")) {
        auto found = vault_.open(after_provider, after_name, *sealed);
        if (!found && found.status() != RY_DATA_LOSS) throw found.error();
        if (!found) continue;
        plain = *std::move(found);
      }
      co_await seal_device(after_provider, after_name, std::string(r.text("token")), std::move(plain));
    }
    if (rows.size() < static_cast<std::size_t>(devices_per_query)) break;
  }
  co_await seal_deliveries();
}

ry::task<void> repository::seal_deliveries() const {
  for (;;) {
    const auto rows = (co_await ctx_.db().query_with(
                           {RY_DB_READ_ONLY},
                           "select array_agg(id)::text as ids, token from (select id, token from notifications.delivery"
                           "   where token <> '' and token not like 'fp:%' order by id limit $1) d group by token",
                           devices_per_query))
                          .value();
    if (rows.empty()) co_return;
    for (const auto r : rows) {
      (co_await ctx_.db().query("select notifications.seal_deliveries($1::text::bigint[], $2)",
                                std::string(r.text("ids")), vault_.fingerprint(r.text("token"))))
          .value();
    }
  }
}

}  // namespace notifications
