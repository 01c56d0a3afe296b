#include "core/app/host_metrics.hpp"

#include <cstdio>

namespace ry::app {

namespace {

std::string quoted(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

std::string seconds(std::uint64_t us) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(us) / 1e6);
  return text;
}

class page {
 public:
  page& head(const char* name, const char* kind, const char* help) {
    name_ = name;
    out_ += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + kind + "\n";
    return *this;
  }
  template <class Number>
  page& value(Number n, const std::string& labels = {}, const char* suffix = "") {
    return text(std::to_string(n), labels, suffix);
  }
  page& text(const std::string& n, const std::string& labels = {}, const char* suffix = "") {
    out_ += name_ + suffix + (labels.empty() ? "" : "{" + labels + "}") + " " + n + "\n";
    return *this;
  }
  template <class Number>
  page& one(const char* name, const char* kind, const char* help, Number n) {
    return head(name, kind, help).value(n);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string name_, out_;
};

std::string route_labels(const http::route_stats& r) {
  return "method=" + quoted(r.method) + ",route=" + quoted(r.pattern);
}

}  // namespace

std::string render(const http::server_stats& s) {
  page p;
  p.one("runyard_http_connections", "gauge", "Open connections", s.connections);
  p.one("runyard_http_streams", "gauge", "Open event streams", s.streams);
  p.one("runyard_http_accepted_total", "counter", "Accepted connections", s.accepted);
  p.one("runyard_http_refused_total", "counter", "Refused connections", s.refused);
  p.one("runyard_http_received_bytes_total", "counter", "Bytes read", s.bytes_in);
  p.one("runyard_http_sent_bytes_total", "counter", "Bytes written", s.bytes_out);
  p.one("runyard_http_streams_cut_total", "counter", "Streams of readers that were too slow",
        s.streams_cut);
  p.one("runyard_http_parse_errors_total", "counter", "Malformed requests", s.parse_errors);
  p.one("runyard_http_timeouts_total", "counter", "Connections closed by a time-out", s.timeouts);
  p.head("runyard_http_requests_total", "counter", "Answered requests");
  for (const auto& r : s.routes)
    for (const auto& [status, n] : r.by_status)
      p.value(n, route_labels(r) + ",status=\"" + std::to_string(status) + "\"");
  p.head("runyard_http_request_seconds", "histogram", "Time from the request's head to its answer");
  for (const auto& r : s.routes) {
    const auto labels = route_labels(r);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < r.latency.size(); ++i) {
      below += r.latency[i];
      const auto bound =
          i < http::latency_bounds_us.size() ? seconds(http::latency_bounds_us[i]) : "+Inf";
      p.value(below, labels + ",le=\"" + bound + "\"", "_bucket");
    }
    p.text(seconds(r.latency_sum_us), labels, "_sum").value(below, labels, "_count");
  }
  return p.take();
}

std::string render(const http::client_stats& s) {
  page p;
  p.one("runyard_egress_active", "gauge", "Outgoing requests under way", s.active.load());
  p.one("runyard_egress_requests_total", "counter", "Outgoing requests", s.requests.load());
  p.one("runyard_egress_failed_total", "counter", "Outgoing requests that failed", s.failed.load());
  p.one("runyard_egress_refused_total", "counter", "Outgoing requests to refused addresses",
        s.refused.load());
  p.one("runyard_egress_connections_opened_total", "counter", "Outgoing connections opened",
        s.connections_opened.load());
  p.one("runyard_egress_connections_reused_total", "counter", "Outgoing connections used again",
        s.connections_reused.load());
  return p.take();
}

std::string render(const jobs::queue_stats& s) {
  page p;
  p.one("runyard_jobs_running", "gauge", "Jobs running on this node", s.running);
  p.one("runyard_jobs_started_total", "counter", "Attempts begun", s.started);
  p.one("runyard_jobs_done_total", "counter", "Jobs finished", s.done);
  p.one("runyard_jobs_retried_total", "counter", "Attempts that failed", s.retried);
  p.one("runyard_jobs_dead_total", "counter", "Jobs given up", s.dead);
  p.one("runyard_jobs_rescued_total", "counter", "Jobs taken over from vanished nodes", s.rescued);
  p.one("runyard_jobs_leases_lost_total", "counter", "Jobs lost to another node", s.leases_lost);
  return p.take();
}

std::string render(const events::hub_stats& s) {
  page p;
  p.one("runyard_live_subscriptions", "gauge", "Subscriptions of live topics", s.subscriptions);
  p.one("runyard_live_published_total", "counter", "Messages published", s.published);
  p.one("runyard_live_delivered_total", "counter", "Messages delivered", s.delivered);
  p.one("runyard_live_hints_sent_total", "counter", "Hints sent to other nodes", s.hints_sent);
  p.one("runyard_live_hints_received_total", "counter", "Hints from other nodes", s.hints_received);
  return p.take();
}

}  // namespace ry::app
