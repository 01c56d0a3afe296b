#include "core/app/admin/probes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/utf8.hpp>

#include "core/app/admin/host_metrics.hpp"

namespace ry::app {

namespace json = boost::json;

namespace {

// The text of a message may come from the database or the loader, so it may be invalid UTF-8.
json::object entry_of(std::string_view component, std::string_view message) {
  return {{"component", component}, {"room", component}, {"message", to_valid_utf8(message)}};  // "room": the old name
}
// Maximum time to wait for the database; shorter than the usual probe timeout of load balancers.
constexpr std::chrono::milliseconds database_limit{2'000};
}  // namespace

probes::probes(module_host& host, host_services& services, const signals& stop)
    : host_(host), services_(services), stop_(stop) {
  using http::runs_on;
  services.server.add_host_route({"GET", "/healthz", [this](auto&) { return healthz(); }, runs_on::loop});
  services.server.add_host_route({"GET", "/readyz", [this](auto&) { return readyz(); }, runs_on::blocking});
  services.server.add_host_route({"GET", "/metrics", [this](auto&) { return metrics(); }, runs_on::blocking});
}

http::host_answer probes::healthz() const {
  return {200, "application/json", R"({"status": "ok"})"};
}

http::host_answer probes::readyz() const {
  json::array reasons;
  const auto add = [&](std::string_view component, std::string_view message) {
    reasons.push_back(entry_of(component, message));
  };
  if (!serving_) add("host", "starting");
  if (stop_.requested()) add("host", "draining");
  if (services_.jobs.draining()) add("jobs", "this node is draining: it claims no more jobs");
  const bool answers = host_.rt.db && host_.rt.db->healthy() && host_.rt.db->responsive(database_limit);
  if (!answers) add("db", "the database does not respond");
  // Problems that do not make the node unready.
  json::array degraded;
  const auto add_degraded = [&](std::string_view component, std::string_view message) {
    degraded.push_back(entry_of(component, message));
  };
  if (host_.rt.db && host_.rt.db->short_of_resources())
    add_degraded("db",
                 "the database refuses work because it lacks a resource, such as disk space; the log has the reason");
  if (const auto problem = services_.events.bus().problem()) add_degraded("events", *problem);
  for (const auto& h : host_.modules.health()) {
    // A module that is only slow to report its health may still work, and the server also works without an optional
    // module.
    const bool serves = h.status == RY_OK || h.status == RY_DEADLINE_EXCEEDED || !h.required;
    const std::string message = h.status != RY_OK && h.message.empty() ? std::string("unhealthy") : h.message;
    if (!serves)
      add(h.module, message);
    else if (!message.empty())
      add_degraded(h.module, message);
  }
  for (const auto& m : host_.modules.describe())
    if (m.state == module::module_state::refused || m.state == module::module_state::retired)
      add_degraded(m.manifest.name, m.reason);
  const bool ready = reasons.empty();
  json::object body{{"status", ready ? "ready" : "not_ready"}, {"reasons", std::move(reasons)}};
  if (!degraded.empty()) body["degraded"] = std::move(degraded);
  return {ready ? 200u : 503u, "application/json", json::serialize(body)};
}

http::host_answer probes::metrics() const {
  auto text = host_.metrics.render();
  text += render(services_.server.stats());
  text += render(services_.egress.stats(), services_.egress.lookups());
  text += render(services_.jobs.stats());
  text += render(host_.rt.db ? host_.rt.db->stats() : db::pool_stats{});
  text += render(services_.events.stats());
  text += render(host_.tracer.stats());
  text += render(host_.modules.describe());
  const auto* h = xmin_monitor_.load();
  text +=
      render(host_state{readyz().status == 200, host_.rt.db && host_.rt.db->healthy(), h ? h->oldest_seconds() : 0});
  text += render_process();
  return {200, "text/plain; version=0.0.4; charset=utf-8", std::move(text)};
}

}  // namespace ry::app
