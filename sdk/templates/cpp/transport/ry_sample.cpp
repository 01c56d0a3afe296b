// mcp.transport/1 over WebSockets, in C++20. A configuration is {"url": "wss://host:port/path", "headers":
// {"Authorization": "Bearer ..."}}; the headers are sent with the opening handshake.
#include <boost/json/src.hpp>

#include "connection.hpp"

namespace ry_sample {
namespace {

namespace json = boost::json;

// Converts Boost's string type to std::string explicitly, because not all versions convert implicitly.
std::string text_of(const json::value& v) {
  const auto& s = v.get_string();
  return std::string(s.data(), s.size());
}

constexpr char schema[] = R"json({
  "type": "object",
  "properties": {
    "ca_file": {"type": "string", "default": "", "description": "File of certificate authorities, in PEM, that are trusted in addition to those of the system"}
  }
})json";

class driver {
 public:
  static constexpr std::uint32_t capabilities = RY_MCP_MODERN;

  driver(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    static constexpr auto table = ry::mcp::transport_table<driver>();
    reg.contribute(RY_MCP_TRANSPORT_1, "ry_sample", &table, this);
  }
  void start() {
    const auto settings = json::parse(ctx_.settings().empty() ? "{}" : std::string(ctx_.settings()));
    const auto* ca_file = settings.as_object().if_contains("ca_file");
    io_thread_.start(ca_file != nullptr ? text_of(*ca_file) : std::string());
  }
  ry::task<void> stop() {
    io_thread_.stop();
    co_return;
  }

  void check(const ry::mcp::target& t) const { (void)read(t); }
  ry::mcp::session* open(const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink to) {
    auto c = read(t);
    return new session(ctx_, io_thread_, t, c.to, std::move(c.fields), exec, to);
  }

 private:
  struct configuration {
    address to;
    ry::headers fields;
  };
  configuration read(const ry::mcp::target& t) const {
    json::error_code ec;
    const auto v = json::parse(json::string_view(t.config_json.data(), t.config_json.size()), ec);
    const auto* o = v.if_object();
    const auto* url = o != nullptr ? o->if_contains("url") : nullptr;
    const auto to = url != nullptr && url->is_string() ? parse_url(text_of(*url)) : std::nullopt;
    if (!to) throw ry::bad_request("mcp.url", "The configuration requires \"url\" in the form wss://... or ws://...");
    configuration c{*to, {}};
    const auto* headers = o->if_contains("headers");
    if (headers != nullptr && !headers->is_object()) {
      throw ry::bad_request("mcp.headers", "\"headers\" must be an object of strings");
    }
    if (headers != nullptr) {
      for (const auto& [name, value] : headers->get_object()) {
        const std::string field(name.data(), name.size());
        const auto text = value.is_string() ? text_of(value) : std::string("\n");
        if (field.empty() || field.find_first_of("\r\n: ") != std::string::npos ||
            text.find_first_of("\r\n") != std::string::npos) {
          throw ry::bad_request("mcp.headers", "\"headers\" must be an object of strings");
        }
        c.fields.emplace_back(field, text);
      }
    }
    // Checks literal addresses; host names are resolved and checked when connecting.
    const bool unrestricted = t.operators_own() || ctx_.fact("deployment.mode") == "local";
    const bool v6 = to->host.find(':') != std::string::npos;
    const auto literal = "http://" + (v6 ? "[" + to->host + "]" : to->host) + "/";
    if (!unrestricted && ctx_.http_client().check_url(literal) != RY_OK) {
      throw ry::forbidden("mcp.address", "MCP URL points to a private or local address");
    }
    return c;
  }

  ry::context& ctx_;
  io_thread io_thread_;
};

}  // namespace
}  // namespace ry_sample

RY_MODULE(ry_sample::driver, "ry_sample", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_CLIENT_1, RY_MCP_TRANSPORT_1).settings(ry_sample::schema));
