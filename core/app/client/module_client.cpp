#include "core/app/client/module_client.hpp"

#include <boost/json/array.hpp>
#include <cstdio>

#include "core/app/client/api_call.hpp"
#include "core/app/client/run_view.hpp"

namespace ry::app::client {

namespace json = boost::json;

namespace {

// Longer than a server waits for what its old modules still do, with the longest reload.drain_seconds.
constexpr std::chrono::seconds patience(3700);

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

}  // namespace

std::string module_text(const std::string& body) {
  const auto v = parsed(body);
  const auto* o = v.if_object();
  if (!o) return printable(body) + "\n";
  std::string out;
  const auto line = [&](const char* what, const json::object& m, const std::string& more) {
    out += what + printable(text_of(m, "module")) + " " + printable(text_of(m, "version")) +
           ", generation " + number_of(m, "generation") + more + "\n";
  };
  each(*o, "started", [&](const json::object& m) { line("started  ", m, {}); });
  each(*o, "left", [&](const json::object& m) {
    const auto why = text_of(m, "reason");
    line("left     ", m,
         ": " + printable(text_of(m, "outcome")) + (why.empty() ? "" : ", " + printable(why)));
  });
  if (const auto cut = number_of(*o, "cut_requests"); cut != "0")
    out += cut + " requests were cut, they did not end in time\n";
  return out + "swapped after " + number_of(*o, "swap_ms") + " ms, done after " +
         number_of(*o, "total_ms") + " ms\n";
}

exit_code change_module(const module_request& request) {
  api_call call;
  call.url = request.url;
  call.path = "/admin/modules/" + request.name + "/" + request.change;
  call.token = request.token;
  call.patience = patience;
  const auto answer = post(call);
  if (!answer.ok()) {
    if (request.as == output::json_lines && answer.status != 0)
      std::printf("%s\n", answer.body.c_str());
    std::fprintf(stderr, "runyard: %s\n", answer.reason().c_str());
    return answer.refused() ? exit_code::refused : exit_code::failed;
  }
  const auto shown = request.as == output::json_lines ? answer.body + "\n" : module_text(answer.body);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  return exit_code::ok;
}

}  // namespace ry::app::client
