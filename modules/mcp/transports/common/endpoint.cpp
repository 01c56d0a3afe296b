#include "endpoint.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <ry/cpp/text.hpp>
#include <utility>

#include "url.hpp"

namespace mcp_transport {

namespace json = boost::json;

namespace {

// Messages for the errors of the host's HTTP client.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> messages = {{
    {"http_client.resolve", "the host name could not be resolved"},
    {"http_client.lookup_limit", "the host name was not looked up: too many lookups are waiting"},
    {"http_client.connect", "the connection failed"},
    {"http_client.connect_timeout", "the connection timed out"},
    {"http_client.proxy", "the proxy could not connect to the server"},
    {"http_client.tls", "the TLS handshake failed: the server's certificate or TLS version is not accepted"},
    {"http_client.reset", "the server closed the connection before the response was complete"},
    {"http_client.truncated", "the response was truncated"},
    {"http_client.malformed", "the response is not valid HTTP"},
    {"http_client.too_large", "the response is too large"},
    {"http_client.idle_timeout", "the server sent nothing for too long"},
    {"http_client.total_timeout", "the response was not complete in time"},
}};

std::string_view sv(json::string_view s) {
  return {s.data(), s.size()};
}

bool is_reserved_header(std::string_view name) {
  // Responses are not decoded, so a content encoding must not be requested.
  for (const char* reserved : {"accept-encoding", "content-type", "content-length", "accept", "host", "connection",
                               "transfer-encoding", "mcp-session-id", "last-event-id"}) {
    if (ry::iequals(name, reserved)) return true;
  }
  return false;
}

void append_to_list(std::string& list, std::string_view value) {
  if (!list.empty()) list += ", ";
  list += value;
}

}  // namespace

endpoint read_endpoint(const ry::mcp::target& t) {
  json::error_code ec;
  const auto v = json::parse(t.config_json, ec);
  const auto* o = v.if_object();
  const auto* url = o != nullptr ? o->if_contains("url") : nullptr;
  if (ec || url == nullptr || !url->is_string() || url->get_string().empty()) {
    throw ry::bad_request("mcp.config", "the configuration has no url");
  }
  endpoint e;
  e.url = std::string(sv(url->get_string()));
  e.account = t.account_id;
  if (t.operators_own()) e.client_flags |= RY_CLIENT_OPERATOR_URL;
  if (t.connect_timeout_ms != 0) e.connect_timeout_ms = t.connect_timeout_ms;
  const auto* fields = o->if_contains("headers");
  if (fields == nullptr || !fields->is_object()) return e;
  for (const auto& [name, value] : fields->get_object()) {
    if (!value.is_string()) throw ry::bad_request("mcp.config", "a header is not a string");
    if (!is_reserved_header(sv(name))) {
      e.fields.emplace_back(std::string(sv(name)), std::string(sv(value.get_string())));
    }
  }
  return e;
}

void check_endpoint(const ry::context& ctx, const ry::mcp::target& t) {
  const auto e = read_endpoint(t);
  const auto st = ctx.http_client().check_url(e.url);
  if (st == RY_PERMISSION_DENIED) {
    if (t.operators_own()) return;
    throw ry::forbidden("mcp.address_refused", "MCP URL points to a private or local address");
  }
  if (st != RY_OK) throw ry::bad_request("mcp.url", "MCP URL is not a valid http or https address");
}

std::string same_origin_url(std::string_view base, std::string_view reference) {
  auto resolved = resolve_url(base, reference);
  if (!resolved) return {};
  const auto from = parse_url(base);
  const auto to = parse_url(*resolved);
  if (!from || !to || !to->same_origin(*from) || to->has_userinfo) return {};
  return std::move(*resolved);
}

ry::headers merged_headers(const ry::headers& base, const ry::headers& fields) {
  ry::headers out;
  for (const auto& each : base) {
    const bool replaced =
        std::any_of(fields.begin(), fields.end(), [&](const auto& f) { return ry::iequals(f.first, each.first); });
    if (!replaced) out.push_back(each);
  }
  out.insert(out.end(), fields.begin(), fields.end());
  return out;
}

std::string media_type(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  std::string out;
  for (const char c : content_type) {
    if (c == ' ' || c == '\t') continue;
    out += ry::lower_ascii(c);
  }
  return out;
}

ry::error error_of(ry_status st, const ry_error_view* err) {
  if (err != nullptr && ry::view(err->reason) == "http_client.address_refused") {
    return ry::forbidden("mcp.address_refused", "MCP URL points to a private or local address");
  }
  const auto e = ry::error::from(st, err);
  // The host's message contains addresses, possibly of the operator's proxy, so clients get one of our own messages.
  const auto found = std::find_if(messages.begin(), messages.end(), [&](const auto& s) { return e.is(s.first); });
  auto text = found != messages.end() ? std::string(found->second)
                                      : std::string("the HTTP exchange failed: ") + ry::status_name(st);
  return ry::error(st, "mcp.http", std::move(text))
      .with_http(e.http_status())
      .with_retry_after(e.retry_after_s())
      .with_detail(json::serialize(json::object{{"cause", std::string(e.message())}}));
}

std::string_view field_of(const ry_client_response& r, std::string_view name) noexcept {
  for (std::size_t i = 0; i < r.n_headers; ++i) {
    if (ry::iequals(ry::view(r.headers[i].name), name)) return ry::view(r.headers[i].value);
  }
  return {};
}

std::string fields_of(const ry_client_response& r, std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < r.n_headers; ++i) {
    if (ry::iequals(ry::view(r.headers[i].name), name)) append_to_list(out, ry::view(r.headers[i].value));
  }
  return out;
}

std::string fields_of(const ry::headers& all, std::string_view name) {
  std::string out;
  for (const auto& [n, value] : all) {
    if (ry::iequals(n, name)) append_to_list(out, value);
  }
  return out;
}

void cancel_after(const ry::context& ctx, ry_exec* exec, ry_op_id op, std::uint64_t ms) {
  struct pending_cancel {
    const ry::context& ctx;
    ry_op_id op;
  };
  auto pending = std::make_unique<pending_cancel>(pending_cancel{ctx, op});
  const ry_done done{[](void* p, ry_status, const ry_error_view*) noexcept {
                       const std::unique_ptr<pending_cancel> pending(static_cast<pending_cancel*>(p));
                       pending->ctx.core().op_cancel(pending->ctx.host(), pending->op);
                     },
                     pending.get()};
  if (ctx.core().sleep_ms(ctx.host(), exec, ms, done, nullptr) == RY_OK) pending.release();
}

ry_status http_exchange::start(const ry::context& ctx, ry_exec* exec, const ry::client_request& request) {
  ry_client_handler h{};
  h.struct_size = sizeof h;
  h.on_head = [](void* p, const ry_client_response* r) noexcept {
    (void)ry::guard([&] { static_cast<http_exchange*>(p)->head(*r); });
  };
  h.on_data = [](void* p, ry_bytes chunk) noexcept {
    return ry::guard([&] { return static_cast<http_exchange*>(p)->data(ry::view(chunk)); });
  };
  h.on_done = [](void* p, ry_status st, const ry_error_view* err) noexcept {
    static_cast<http_exchange*>(p)->done(st, err);
  };
  std::vector<ry_header> fields;
  const auto r = request.c_form(fields);
  return ctx.interface<ry_http_client_v1>().request(ctx.host(), exec, &r, &h, this, &op_);
}

}  // namespace mcp_transport
