// orchestrator_call MODULE.so SETTINGS_JSON [MODE]: loads one driver of notify.orchestrator/1 like the host, with the
// host's egress client and deployment.mode = MODE (default: staging). Standard input has one call per line as JSON:
// {"trigger": {...}}, {"triggers": [...]} (concurrently), {"withdraw": key}, {"put_subscriber": {...}}, {"forget": id},
// {"put_tokens": {...}}, {"follow": [...]}, {"read_report": text}, {"accepts": {...}}. The calls run one after another;
// the result of each is a line of JSON on standard output.
#include <ry/ext/notify_orchestrator.h>
#include <ry/if/http_client.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <deque>
#include <future>
#include <iostream>
#include <string>
#include <vector>

#include "core/exec/blocking_pool.hpp"
#include "core/exec/loop.hpp"
#include "core/exec/op_table.hpp"
#include "core/http/client/client.hpp"
#include "core/module/module_set.hpp"
#include "core/module/registry.hpp"
#include "core/observe/metrics.hpp"

namespace {

namespace json = boost::json;
using ry::core::str;
using ry::core::view;

const ry_notify_orchestrator_v1* table = nullptr;
void* self = nullptr;
ry_exec* exec = nullptr;

ry_str text_of(const json::object& o, const char* key) {
  const auto* v = o.if_contains(key);
  if (v == nullptr || !v->is_string()) return {};
  return {v->get_string().data(), v->get_string().size()};
}
std::int64_t number_of(const json::object& o, const char* key, std::int64_t default_value) {
  const auto* v = o.if_contains(key);
  return v == nullptr ? default_value : v->to_number<std::int64_t>();
}
const json::object& object_of(const json::object& o, const char* key) {
  static const json::object none;
  const auto* v = o.if_contains(key);
  return v == nullptr ? none : v->as_object();
}
ry_notify_subscriber subscriber_of(const json::object& o) {
  return {sizeof(ry_notify_subscriber), 0,
          text_of(o, "account_id"),     text_of(o, "email"),
          text_of(o, "name"),           text_of(o, "first_name"),
          text_of(o, "phone"),          text_of(o, "avatar")};
}
ry_notify_token token_of(const json::object& o) {
  return {sizeof(ry_notify_token), 0, text_of(o, "provider"), text_of(o, "token"), text_of(o, "device_type")};
}
std::vector<ry_notify_token> tokens_of(const json::object& o) {
  std::vector<ry_notify_token> out;
  if (const auto* list = o.if_contains("tokens"))
    for (const auto& t : list->as_array()) out.push_back(token_of(t.as_object()));
  return out;
}

using promise = std::promise<json::object>;

json::object status_object(ry_status st, const ry_error_view* err) {
  json::object o{{"status", st}};
  if (err != nullptr) {
    o["reason"] = str(err->reason);
    o["message"] = str(err->message);
    o["retry_after_s"] = err->retry_after_s;
  }
  return o;
}
void on_results(void* ctx, ry_status st, const ry_notify_result* first, std::size_t n, std::size_t stride,
                const ry_error_view* err) noexcept {
  json::object o = status_object(st, err);
  json::array results;
  const auto* at = reinterpret_cast<const unsigned char*>(first);
  for (std::size_t i = 0; i < n; ++i, at += stride) {
    const auto& r = *reinterpret_cast<const ry_notify_result*>(at);
    json::object result;
    result["channels"] = r.channels;
    result["result"] = r.result;
    result["retry_after_s"] = r.retry_after_s;
    result["provider"] = str(r.provider);
    result["provider_id"] = str(r.provider_id);
    result["token"] = str(r.token);
    result["detail"] = str(r.detail);
    results.push_back(std::move(result));
  }
  o["results"] = std::move(results);
  static_cast<promise*>(ctx)->set_value(std::move(o));
}
void on_withdrawn(void* ctx, ry_status st, std::uint32_t withdrawn, const ry_error_view* err) noexcept {
  json::object o = status_object(st, err);
  o["withdrawn"] = withdrawn;
  static_cast<promise*>(ctx)->set_value(std::move(o));
}
void on_done(void* ctx, ry_status st, const ry_error_view* err) noexcept {
  static_cast<promise*>(ctx)->set_value(status_object(st, err));
}

// Starts a call with f(ctx) and waits for the result that its completion callback delivers.
template <class F>
json::object wait_for(F f) {
  promise p;
  const ry_status st = f(static_cast<void*>(&p));
  if (st != RY_OK) return {{"status", st}, {"not_started", true}};
  return p.get_future().get();
}

json::array trigger_all(const json::array& list) {
  struct pending_call {
    std::string payload;
    std::vector<ry_notify_token> tokens;
    promise result;
    void* call = nullptr;
    ry_status st = RY_OK;
  };
  std::deque<pending_call> calls;
  for (const auto& v : list) {
    const json::object& o = v.as_object();
    pending_call& c = calls.emplace_back();
    c.payload = json::serialize(object_of(o, "payload"));
    c.tokens = tokens_of(o);
    const ry_notify_subscriber to = subscriber_of(object_of(o, "to"));
    const json::object& texts = object_of(o, "content");
    const ry_notify_content content{sizeof content,
                                    0,
                                    text_of(texts, "title"),
                                    text_of(texts, "body"),
                                    text_of(texts, "mail_text"),
                                    text_of(texts, "mail_html"),
                                    text_of(texts, "action_url")};
    ry_notify_trigger t{};
    t.struct_size = sizeof t;
    t.channels = static_cast<std::uint32_t>(number_of(o, "channels", 7));
    t.workflow = text_of(o, "workflow");
    t.key = text_of(o, "key");
    t.epoch = static_cast<std::uint32_t>(number_of(o, "epoch", 0));
    t.attempt = static_cast<std::uint32_t>(number_of(o, "attempt", 1));
    t.payload_json = view(c.payload);
    t.to = &to;
    t.content = &content;
    t.tokens = c.tokens.data();
    t.n_tokens = c.tokens.size();
    t.token_stride = sizeof(ry_notify_token);
    t.timeout_ms = static_cast<std::uint64_t>(number_of(o, "timeout_ms", 10'000));
    c.st = table->trigger(self, &t, exec, &on_results, &c.result, &c.call);
  }
  json::array out;
  for (auto& c : calls) {
    if (c.st == RY_OK) {
      out.push_back(c.result.get_future().get());
    } else {
      out.push_back(json::object{{"status", c.st}, {"not_started", true}});
    }
  }
  return out;
}

json::value execute_call(const json::object& line) {
  const auto& [name, value] = *line.begin();
  const std::string op(name);
  if (op == "trigger") return trigger_all({value}).at(0);
  if (op == "triggers") return trigger_all(value.as_array());
  if (op == "withdraw") {
    const ry_str key = text_of(line, "withdraw");
    return wait_for([&](void* ctx) { return table->withdraw(self, key, exec, &on_withdrawn, ctx); });
  }
  if (op == "put_subscriber") {
    const ry_notify_subscriber subscriber = subscriber_of(value.as_object());
    return wait_for([&](void* ctx) { return table->put_subscriber(self, &subscriber, exec, {&on_done, ctx}); });
  }
  if (op == "forget") {
    const ry_str id = text_of(line, "forget");
    return wait_for([&](void* ctx) { return table->forget(self, id, exec, {&on_done, ctx}); });
  }
  if (op == "put_tokens") {
    const json::object& o = value.as_object();
    const auto tokens = tokens_of(o);
    return wait_for([&](void* ctx) {
      return table->put_tokens(self, text_of(o, "account_id"), text_of(o, "provider"), tokens.data(), tokens.size(),
                               sizeof(ry_notify_token), exec, {&on_done, ctx});
    });
  }
  if (op == "follow") {
    std::vector<ry_notify_sent> sent;
    for (const auto& v : value.as_array()) {
      const json::object& o = v.as_object();
      sent.push_back({sizeof(ry_notify_sent), static_cast<std::uint32_t>(number_of(o, "channels", 7)),
                      text_of(o, "key"), text_of(o, "provider"), text_of(o, "provider_id"), text_of(o, "token")});
    }
    return wait_for([&](void* ctx) {
      return table->follow(self, sent.data(), sent.size(), sizeof(ry_notify_sent), exec, &on_results, ctx);
    });
  }
  char text[512];
  ry_errbuf err{text, sizeof text, 0};
  if (op == "accepts") {
    const ry_notify_token t = token_of(value.as_object());
    std::string name;
    const auto take = [](void* to, ry_bytes bytes) noexcept {
      static_cast<std::string*>(to)->assign(reinterpret_cast<const char*>(bytes.ptr), bytes.len);
    };
    const ry_status st = table->accepts(self, &t, take, &name, &err);
    return json::object{{"status", st}, {"message", std::string(text, err.len)}, {"name", name}};
  }
  if (op == "read_report") {
    json::array reports;
    const ry_str body = text_of(line, "read_report");
    const ry_status st = table->read_report(
        self, {reinterpret_cast<const std::uint8_t*>(body.ptr), body.len},
        [](void* ctx, const ry_notify_report* r) noexcept {
          json::object o{{"type", str(r->type)}, {"key", str(r->key)}, {"account_id", str(r->account_id)}};
          o["channels"] = r->channels;
          o["result"] = r->result;
          o["token"] = str(r->token);
          static_cast<json::array*>(ctx)->push_back(std::move(o));
        },
        &reports);
    json::object o{{"status", st}};
    o["reports"] = std::move(reports);
    return o;
  }
  return json::object{{"status", RY_UNIMPLEMENTED}};
}

// The given settings, completed with the defaults of the schema.
std::string with_defaults(std::string_view schema, const json::object& given) {
  json::object out;
  const json::value s = json::parse(schema);
  for (const auto& [key, property] : s.as_object().at("properties").as_object())
    if (const auto* default_value = property.as_object().if_contains("default")) out[key] = *default_value;
  for (const auto& [key, v] : given) out[key] = v;
  return json::serialize(out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::cerr << "usage: orchestrator_call MODULE.so SETTINGS_JSON [MODE]\n";
    return 2;
  }
  const json::value given = json::parse(argv[2]);
  const std::string mode = argc > 3 ? argv[3] : "staging";

  ry::module::registry registry;
  ry::exec::loop_pool loops(1);
  ry::exec::op_table ops;
  ry::exec::blocking_pool blocking{1};
  ry::observe::metrics metrics;
  ry::http::client egress(loops, ops, {mode == "local" ? ry::http::address_guard::off : ry::http::address_guard::on});
  ry::module::runtime rt;
  rt.loops = &loops;
  rt.ops = &ops;
  rt.blocking = &blocking;
  rt.metrics = &metrics;
  rt.http_client = &egress;
  rt.modules = &registry;
  rt.host_values["deployment.mode"] = mode;
  registry.interfaces.add(RY_HTTP_CLIENT_1, &ry::http::http_client_v1(), sizeof(ry_http_client_v1));
  ry::module::host_point point;
  point.id = RY_NOTIFY_ORCHESTRATOR_1;
  point.min_size = sizeof(ry_notify_orchestrator_v1);
  point.added = [](ry_host*, std::string_view, const void* t, void* driver) {
    table = static_cast<const ry_notify_orchestrator_v1*>(t);
    self = driver;
  };
  point.removed = [](std::string_view, std::function<void()> done) { done(); };
  registry.host_points.push_back(std::move(point));

  int code = 0;
  {
    ry::module::set_options options;
    options.settings = [&](const ry::module::module_manifest&, std::string_view schema) {
      return ry::module::settings_result{with_defaults(schema, given.as_object()), {}};
    };
    ry::module::module_set modules(rt, std::move(options));
    auto report = modules.prepare({{argv[1]}});
    if (report.ok()) report = modules.start();
    if (!report.ok()) {
      std::cerr << report.text() << '\n';
      code = 1;
    } else {
      exec = &loops.at(0);
      for (std::string line; std::getline(std::cin, line);)
        std::cout << json::serialize(execute_call(json::parse(line).as_object())) << std::endl;
    }
    modules.stop(std::chrono::system_clock::now() + std::chrono::seconds(5));
  }
  egress.stop();
  loops.stop_and_join();
  return code;
}
