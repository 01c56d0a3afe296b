#include "core/app/client/module_client.hpp"

#include <boost/json/array.hpp>
#include <cstdio>
#include <ry/cpp/text.hpp>

#include "core/app/client/api_call.hpp"
#include "core/app/client/run_view.hpp"
#include "core/app/config/json_output.hpp"

namespace ry::app::client {

namespace json = boost::json;

namespace {

// Longer than a server waits for its old instances with the longest reload.drain_seconds.
constexpr std::chrono::seconds longest_answer(3700);
constexpr std::chrono::seconds longest_short_answer(15);
constexpr const char* list_path = "/admin/modules";

std::string number_of(const json::object& o, const char* key) {
  const auto* v = o.if_contains(key);
  return v && v->is_number() ? std::to_string(v->to_number<std::int64_t>()) : "?";
}

template <class F>
void each(const json::object& o, const char* key, F f) {
  if (const auto* all = o.if_contains(key); all && all->is_array())
    for (const auto& one : all->get_array())
      if (const auto* item = one.if_object()) f(*item);
}

void add_line(std::string& out, const char* title, const std::string& value) {
  if (value.empty()) return;
  std::string head = title;
  head.resize(10, ' ');
  out += "    " + head + " " + printable(value) + "\n";
}

void add_texts(std::string& out, const char* title, const json::object& o, const char* key) {
  const auto* all = o.if_contains(key);
  if (!all || !all->is_array()) return;
  for (const auto& one : all->get_array())
    if (one.is_string()) add_line(out, title, std::string(one.get_string()));
}

// Names the source of a rejected token, because several are possible.
std::string reason_of(const api_answer& answer, const module_request& request) {
  const bool token_rejected = answer.status == 401 || answer.status == 403;
  return answer.reason() +
         (token_rejected && !request.token_source.empty() ? " (with the token of " + request.token_source + ")" : "");
}

bool is_true(const json::object& o, const char* key) {
  const auto* v = o.if_contains(key);
  return v && v->is_bool() && v->get_bool();
}

}  // namespace

bool is_served(const module_request& where) {
  api_call call;
  call.url = where.url;
  call.path = "/healthz";  // needs no token
  call.timeout = longest_short_answer;
  call.trust = where.trust;
  return !get(call).cannot_connect;
}

std::optional<json::array> loaded_modules(const module_request& request) {
  api_call call;
  call.url = request.url;
  call.path = list_path;
  call.token = request.token;
  call.timeout = longest_short_answer;
  call.trust = request.trust;
  const auto answer = get(call);
  auto v = answer.ok() ? parsed(answer.body) : json::value();
  if (auto* all = v.if_array()) return std::move(*all);
  std::fprintf(stderr, "runyard: %s did not return its modules: %s\n", request.url.c_str(),
               reason_of(answer, request).c_str());
  return std::nullopt;
}

std::string module_list_text(const json::array& modules) {
  std::string out;
  for (const auto& one : modules) {
    const auto* m = one.if_object();
    if (!m) continue;
    out += printable(text_of(*m, "name") + " " + text_of(*m, "version") + "  " + text_of(*m, "state"));
    // In other states the number refers to no started instance.
    if (text_of(*m, "state") == "started") out += ", instance " + number_of(*m, "instance");
    out += is_true(*m, "required") ? "\n" : " (not required)\n";
    add_line(out, "file", text_of(*m, "file"));
    add_line(out, "sha256", text_of(*m, "sha256"));
    add_line(out, "reason", text_of(*m, "reason"));
    each(*m, "left", [&](const json::object& g) {
      const auto why = text_of(g, "reason");
      add_line(out, "left",
               text_of(g, "version") + ", instance " + number_of(g, "instance") + ": " + text_of(g, "outcome") +
                   (why.empty() ? "" : ", " + why));
    });
    if (const auto n = number_of(*m, "violations"); n != "0")
      add_line(out, "violations", n + ": " + text_of(*m, "last_violation"));
    each(*m, "needs", [&](const json::object& n) {
      add_line(out, "needs", text_of(n, "id") + (is_true(n, "optional") ? " (optional)" : ""));
    });
    add_texts(out, "provides", *m, "provides");
    add_texts(out, "route", *m, "routes");
    add_texts(out, "job", *m, "jobs");
    add_texts(out, "consumer", *m, "consumers");
    add_texts(out, "point", *m, "points");
    each(*m, "drivers",
         [&](const json::object& d) { add_line(out, "driver", text_of(d, "name") + " in " + text_of(d, "point")); });
    add_texts(out, "migration", *m, "migrations");
  }
  return out;
}

std::string module_text(const std::string& body) {
  const auto v = parsed(body);
  const auto* o = v.if_object();
  if (!o) return printable(body) + "\n";
  std::string out;
  const auto line = [&](const char* what, const json::object& m, const std::string& more) {
    out += what + printable(text_of(m, "module")) + " " + printable(text_of(m, "version")) + ", instance " +
           number_of(m, "instance") + more + "\n";
  };
  each(*o, "started", [&](const json::object& m) { line("started  ", m, {}); });
  each(*o, "left", [&](const json::object& m) {
    const auto why = text_of(m, "reason");
    line("left     ", m, ": " + printable(text_of(m, "outcome")) + (why.empty() ? "" : ", " + printable(why)));
  });
  if (const auto* changed = o->if_contains("unapplied_settings"); changed != nullptr && changed->is_array())
    for (const auto& name : changed->get_array())
      if (name.is_string())
        out += "note     the settings of " + printable(name.get_string()) +
               " have changed and are not applied; apply them with `runyard modules reload " +
               printable(name.get_string()) + "`\n";
  if (const auto cut = number_of(*o, "cut_requests"); cut != "0")
    out += cut + " requests were aborted because they did not end in time\n";
  return out + "swapped after " + number_of(*o, "swap_ms") + " ms, done after " + number_of(*o, "total_ms") + " ms\n";
}

exit_code change_module(const module_request& request) {
  api_call call;
  call.url = request.url;
  call.path = "/admin/modules/" + percent_encoded(request.name) + "/" + request.change;
  call.token = request.token;
  call.timeout = longest_answer;
  call.trust = request.trust;
  const auto answer = post(call);
  if (!answer.ok()) {
    if (request.as == output::json_lines && answer.status != 0) print_json(answer.body);
    std::fprintf(stderr, "runyard: %s\n", reason_of(answer, request).c_str());
    return exit_code::failed;
  }
  if (request.as == output::json_lines) {
    print_json(answer.body);
  } else {
    const auto shown = module_text(answer.body);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
  }
  return exit_code::ok;
}

}  // namespace ry::app::client
