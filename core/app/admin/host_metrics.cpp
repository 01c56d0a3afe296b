#include "core/app/admin/host_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

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
  std::snprintf(text, sizeof text, "%.15g", static_cast<double>(us) / 1e6);
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

// Counted in microseconds, rendered in seconds.
template <class Counts, class Bounds>
void buckets(page& p, const Counts& counts, const Bounds& bounds_us, std::uint64_t sum_us, const std::string& labels) {
  const std::string more = labels.empty() ? "" : labels + ",";
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    p.value(below, more + "le=\"" + (i < bounds_us.size() ? seconds(bounds_us[i]) : "+Inf") + "\"", "_bucket");
  }
  p.text(seconds(sum_us), labels, "_sum").value(below, labels, "_count");
}

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
  p.one("runyard_http_address_refused_total", "counter", "Connections refused because of the limit per client address",
        s.connections_refused_by_address);
  p.one("runyard_http_received_bytes_total", "counter", "Bytes read", s.bytes_in);
  p.one("runyard_http_sent_bytes_total", "counter", "Bytes written", s.bytes_out);
  p.one("runyard_http_streams_cut_total", "counter", "Event streams closed because the client read too slowly",
        s.streams_cut);
  p.one("runyard_http_slow_readers_total", "counter",
        "Connections closed because the client read below the minimum rate", s.slow_readers);
  p.one("runyard_http_unsent_bytes", "gauge", "Response bytes that wait for slow readers", s.unsent_bytes);
  p.one("runyard_http_unsent_refused_total", "counter", "Responses refused because too many bytes were waiting",
        s.unsent_refused);
  p.one("runyard_http_uploads", "gauge", "Request bodies in progress", s.bodies);
  p.one("runyard_http_uploads_refused_total", "counter", "Request bodies refused because too many were in progress",
        s.bodies_refused);
  p.one("runyard_http_upload_bytes", "gauge", "Received bytes of forms whose requests are in progress", s.spool_bytes);
  p.one("runyard_http_upload_bytes_refused_total", "counter", "Forms refused because of the upload space limit",
        s.spool_refused);
  p.one("runyard_http_parse_errors_total", "counter", "Malformed requests", s.parse_errors);
  p.one("runyard_http_timeouts_total", "counter", "Connections closed by a timeout", s.timeouts);
  p.head("runyard_http_requests_total", "counter", "Responses");
  for (const auto& r : s.routes)
    for (const auto& [status, n] : r.by_status)
      p.value(n, route_labels(r) + ",status=\"" + std::to_string(status) + "\"");
  p.head("runyard_http_request_seconds", "histogram", "Time from the head of a request to its response");
  for (const auto& r : s.routes) buckets(p, r.latency, http::latency_bounds_us, r.latency_sum_us, route_labels(r));
  return p.take();
}

std::string render(const http::client_stats& s, const http::resolver_stats& lookups) {
  page p;
  p.one("runyard_egress_active", "gauge", "Outgoing requests in progress", s.active.load());
  p.one("runyard_egress_requests_total", "counter", "Outgoing requests", s.requests.load());
  p.one("runyard_egress_failed_total", "counter", "Outgoing requests without a response", s.failed.load());
  p.one("runyard_egress_refused_total", "counter", "Outgoing requests refused because of their address",
        s.refused.load());
  p.one("runyard_egress_connections_opened_total", "counter", "Connections opened for outgoing requests",
        s.connections_opened.load());
  p.one("runyard_egress_connections_reused_total", "counter", "Outgoing requests that reused a connection",
        s.connections_reused.load());
  p.one("runyard_egress_lookups_active", "gauge", "Name lookups in progress", lookups.in_progress);
  p.one("runyard_egress_lookups_waiting", "gauge", "Names that wait for a lookup", lookups.waiting);
  p.one("runyard_egress_lookups_refused_total", "counter", "Name lookups refused because too many waited",
        lookups.refused);
  p.one("runyard_egress_lookups_unanswered_total", "counter", "Name lookups without an answer in time",
        lookups.unanswered);
  return p.take();
}

std::string render(const jobs::queue_stats& s) {
  page p;
  p.one("runyard_jobs_running", "gauge", "Jobs running on this node", s.running);
  p.one("runyard_jobs_started_total", "counter", "Started attempts", s.started);
  p.one("runyard_jobs_done_total", "counter", "Completed jobs", s.done);
  p.one("runyard_jobs_retried_total", "counter", "Failed attempts that will be retried", s.retried);
  p.one("runyard_jobs_dead_total", "counter", "Dead-lettered jobs", s.dead);
  p.one("runyard_jobs_rescued_total", "counter", "Jobs claimed from nodes that vanished", s.rescued);
  p.one("runyard_jobs_leases_lost_total", "counter", "Jobs whose lease this node lost", s.leases_lost);
  p.head("runyard_jobs_ended_total", "counter", "Attempts that ended, by kind and outcome");
  for (const auto& [kind, n] : s.kinds)
    for (const auto& [outcome, count] :
         {std::pair{"done", n.done}, std::pair{"retried", n.retried}, std::pair{"dead", n.dead}})
      p.value(count, "kind=" + quoted(kind) + ",outcome=\"" + outcome + "\"");
  p.head("runyard_jobs_depth", "gauge", "Jobs in the database, by queue and state");
  for (const auto& d : s.depths)
    for (const auto& [state, n] : {std::pair{"ready", d.ready}, std::pair{"scheduled", d.scheduled},
                                   std::pair{"running", d.running}, std::pair{"dead", d.dead}})
      p.value(n, "queue=" + quoted(d.queue) + ",state=\"" + state + "\"");
  p.head("runyard_jobs_kind_depth", "gauge", "Jobs in the database, by kind and state");
  for (const auto& [kind, d] : s.kind_depths)
    for (const auto& [state, n] : {std::pair{"ready", d.ready}, std::pair{"scheduled", d.scheduled},
                                   std::pair{"running", d.running}, std::pair{"dead", d.dead}})
      p.value(n, "kind=" + quoted(kind) + ",state=\"" + state + "\"");
  p.head("runyard_jobs_oldest_ready_seconds", "gauge", "Time that the oldest ready job has waited for a node");
  for (const auto& d : s.depths)
    p.text(seconds(static_cast<std::uint64_t>(d.oldest_ready_seconds * 1e6)), "queue=" + quoted(d.queue));
  return p.take();
}

std::string render(const db::pool_stats& s) {
  static constexpr std::array<const char*, db::status_count> names{
      "",          "cancelled",      "unknown",           "invalid_argument",   "deadline_exceeded",
      "not_found", "already_exists", "permission_denied", "resource_exhausted", "failed_precondition",
      "aborted",   "out_of_range",   "unimplemented",     "internal",           "unavailable",
      "data_loss", "unauthenticated"};
  page p;
  p.head("runyard_database_connections", "gauge", "Connections to the database, by state");
  p.value(s.in_use, "state=\"in_use\"").value(s.connections - s.in_use, "state=\"idle\"");
  p.one("runyard_database_waiting", "gauge", "Database calls and transactions that wait for a pooled connection",
        s.waiting);
  p.one("runyard_database_connections_opened_total", "counter", "Connections opened", s.opened);
  p.one("runyard_database_connections_lost_total", "counter", "Broken connections", s.lost);
  p.head("runyard_database_wait_seconds", "histogram", "Time that calls waited for a pooled connection");
  buckets(p, s.waits, db::wait_bounds_us, s.wait_sum_us, {});
  p.head("runyard_database_failures_total", "counter", "Failed database calls of modules");
  for (std::size_t i = 1; i < s.failures.size(); ++i) p.value(s.failures[i], std::string("error=\"") + names[i] + "\"");
  return p.take();
}

std::string render(const observe::tracer::counts& s) {
  page p;
  p.one("runyard_tracing_queue", "gauge", "Spans that wait for export", s.waiting);
  p.one("runyard_tracing_spans_total", "counter", "Ended spans", s.recorded);
  p.one("runyard_tracing_exported_total", "counter", "Spans that the collector accepted", s.exported);
  p.one("runyard_tracing_dropped_total", "counter", "Spans dropped because the queue was full", s.dropped);
  p.one("runyard_tracing_failed_total", "counter",
        "Spans that the collector rejected or that were discarded after retries", s.failed);
  p.one("runyard_tracing_failed_exports_total", "counter",
        "Failed requests to the collector, including those that were retried", s.failed_requests);
  return p.take();
}

std::string render(const events::hub_stats& s) {
  page p;
  p.one("runyard_live_subscriptions", "gauge", "Subscriptions to live topics", s.subscriptions);
  p.one("runyard_live_published_total", "counter", "Messages published", s.published);
  p.one("runyard_live_delivered_total", "counter", "Messages delivered to readers", s.delivered);
  p.one("runyard_live_wakeups_sent_total", "counter", "Wake-ups sent to other nodes", s.wakeups_sent);
  p.one("runyard_live_wakeups_received_total", "counter", "Wake-ups from other nodes", s.wakeups_received);
  p.one("runyard_live_lagged_total", "counter",
        "Messages from other nodes that were reduced to wake-ups because an event loop was behind", s.lagged);
  if (!s.bus.present) return p.take();
  p.one("runyard_bus_up", "gauge", "1 while the event bus carries live topics in both directions", s.bus.up ? 1 : 0);
  p.one("runyard_bus_received_by_all", "gauge", "1 while all other nodes receive from the bus",
        s.bus.received_by_all ? 1 : 0);
  p.one("runyard_bus_nodes", "gauge", "Other nodes that receive from this node over the bus", s.bus.nodes);
  p.one("runyard_bus_changes_total", "counter", "How often the bus became available or unavailable", s.bus.changes);
  p.one("runyard_bus_sent_total", "counter", "Messages that the bus accepted", s.bus.sent);
  p.one("runyard_bus_refused_total", "counter", "Messages that the bus did not accept", s.bus.refused);
  p.one("runyard_bus_lost_total", "counter", "Wake-ups that the bus accepted and lost", s.bus.lost);
  p.one("runyard_bus_received_total", "counter", "Messages from other nodes", s.bus.received);
  return p.take();
}

std::string render(const std::vector<module::module_description>& modules) {
  page p;
  const auto each = [&](const char* name, const char* kind, const char* help, auto number) {
    p.head(name, kind, help);
    for (const auto& m : modules)
      if (m.state != module::module_state::disabled) p.value(number(m), "module=" + quoted(m.manifest.name));
  };
  p.head("runyard_module_running", "gauge", "1 if the module is started");
  for (const auto& m : modules)
    if (m.state != module::module_state::disabled)
      p.value(m.state == module::module_state::started ? 1 : 0,
              "module=" + quoted(m.manifest.name) + ",version=" + quoted(m.manifest.version));
  each("runyard_module_instance", "gauge", "Number of the running instance; increases with every swap",
       [](const auto& m) { return m.instance; });
  each("runyard_module_slow_callbacks_total", "counter", "Callbacks that blocked an event loop too long",
       [](const auto& m) { return m.slow_callbacks; });
  each("runyard_module_violations_total", "counter", "Violations of the module contract that the host stopped",
       [](const auto& m) { return m.violations; });
  each("runyard_module_outstanding", "gauge", "Requests, jobs and calls that the module has not completed",
       [](const auto& m) { return m.outstanding; });
  return p.take();
}

std::string render_process() {
  page p;
  long pages = 0, ignored = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%ld %ld", &ignored, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  std::error_code ec;
  std::size_t descriptors = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ec)) {
    (void)entry;
    ++descriptors;
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto us = [](const timeval& t) {
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(t.tv_usec);
  };
  p.one("process_resident_memory_bytes", "gauge", "Resident memory of the server", pages * ::sysconf(_SC_PAGESIZE));
  p.one("process_open_fds", "gauge", "Open file descriptors of the server", descriptors);
  p.one("process_max_fds", "gauge", "Maximum number of file descriptors that the server can open", limit.rlim_cur);
  p.head("process_cpu_seconds_total", "counter", "CPU time of the server");
  p.text(seconds(us(used.ru_utime) + us(used.ru_stime)));
  return p.take();
}

std::string render(const host_state& s) {
  page p;
  p.one("runyard_ready", "gauge", "1 if /readyz returns 200", s.ready ? 1 : 0);
  p.one("runyard_database_up", "gauge", "1 if the database responds", s.database_answers ? 1 : 0);
  p.one("runyard_database_oldest_transaction_seconds", "gauge",
        "Age of the oldest open transaction, which holds back vacuum", s.oldest_transaction_seconds);
  return p.take();
}

}  // namespace ry::app
