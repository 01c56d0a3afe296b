#include "core/app/config/host_schema.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

namespace ry::app::config {

namespace {

// Durations end in _seconds and may have a fraction; sizes end in _bytes.
constexpr const char* schema_text = R"JSON({
"type": "object",
"properties": {
  "deployment": {"type": "object", "properties": {
    "mode": {"type": "string", "enum": ["local", "staging", "production"], "default": "local"}
  }},
  "brand": {"type": "object", "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 60, "pattern": "^[^<>\"{}@/\\t\\r\\n]+$", "form": "a name of one line without quotes, angle brackets, braces, @ and /", "default": "Runyard"},
    "color": {"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$", "form": "a color in the form #1d5fd1", "default": "#1d5fd1"},
    "logo_url": {"type": "string", "pattern": "^(https://[^\\s\"'<>]+)?$", "form": "a URL that begins with https://, or empty", "default": ""}
  }},
  "http": {"type": "object", "properties": {
    "listen": {"type": "string", "minLength": 1, "default": "127.0.0.1:8080"},
    "base_path": {"type": "string", "pattern": "^(/[A-Za-z0-9._~-]+)*$", "form": "a path such as /runyard that does not end with /, or empty", "default": ""},
    "public_url": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "form": "a URL such as https://runs.example.org, or empty", "default": ""},
    "allowed_hosts": {"type": "array", "items": {"type": "string", "pattern": "^(\\*|(\\*\\.)?[A-Za-z0-9_.-]+)$", "form": "a host name such as runs.example.org or *.example.org without scheme and port, or *"}, "default": []},
    "threads": {"type": "integer", "minimum": 0, "maximum": 256, "default": 0},
    "access_log": {"type": "boolean", "default": true},
    "tls": {"type": "object", "properties": {
      "cert": {"type": "string", "default": ""},
      "key": {"type": "string", "default": ""}
    }},
    "cors": {"type": "object", "properties": {
      "origins": {"type": "array", "items": {"type": "string", "minLength": 1}, "default": []},
      "allow_credentials": {"type": "boolean", "default": false},
      "max_age_seconds": {"type": "integer", "minimum": 0, "maximum": 86400, "default": 600}
    }},
    "limits": {"type": "object", "properties": {
      "address_per_minute": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 0,
        "limit": {"resource": "Requests per minute", "per": "client address", "answer": "429 with `Retry-After`", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
      "address_burst": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 200},
      "account_per_minute": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 0,
        "limit": {"resource": "Requests per minute", "per": "account", "answer": "429 with `Retry-After`", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
      "account_burst": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 200},
      "account_streams": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 0,
        "limit": {"resource": "Event streams", "per": "account, node", "answer": "429 with `Retry-After`", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
      "address_connections": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 4000,
        "limit": {"resource": "Connections", "per": "client address (IPv6: /64), node", "answer": "503 `CONNECTION_LIMIT` with `Retry-After`, or the connection is closed", "metric": "runyard_http_address_refused_total", "alert": "RunyardClientsAtLimits"}},
      "account_unsent_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1099511627776, "default": 33554432,
        "limit": {"resource": "Response bytes waiting for slow readers", "per": "account or address, node", "answer": "503 `RESPONSE_BUFFER_LIMIT` with `Retry-After`; streams are closed", "metric": "runyard_http_unsent_refused_total", "alert": "RunyardClientsAtLimits"}},
      "unsent_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1099511627776, "default": 268435456,
        "limit": {"resource": "Response bytes waiting for slow readers", "per": "node", "answer": "503 `RESPONSE_BUFFER_LIMIT` with `Retry-After`; streams are closed", "metric": "runyard_http_unsent_refused_total", "alert": "RunyardClientsAtLimits"}},
      "account_uploads": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 64,
        "limit": {"resource": "Request bodies in progress", "per": "account or address, node", "answer": "429 `UPLOAD_LIMIT` with `Retry-After`", "metric": "runyard_http_uploads_refused_total", "alert": "RunyardClientsAtLimits"}},
      "uploads": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 2000,
        "limit": {"resource": "Request bodies in progress", "per": "node", "answer": "503 `UPLOAD_LIMIT` with `Retry-After`", "metric": "runyard_http_uploads_refused_total", "alert": "RunyardClientsAtLimits"}},
      "account_upload_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1099511627776, "default": 1073741824,
        "limit": {"resource": "Bytes of uploads in progress (upload spool)", "per": "account or address, node", "answer": "429 `UPLOAD_SPACE_LIMIT` with `Retry-After`", "metric": "runyard_http_upload_bytes_refused_total", "alert": "RunyardClientsAtLimits"}},
      "upload_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1099511627776, "default": 8589934592,
        "limit": {"resource": "Bytes of uploads in progress (upload spool)", "per": "node", "answer": "503 `UPLOAD_SPACE_LIMIT` with `Retry-After`", "metric": "runyard_http_upload_bytes_refused_total", "alert": "RunyardClientsAtLimits"}}
    }},
    "trusted_proxies": {"type": "array", "items": {"type": "string", "minLength": 1}, "default": []},
    "max_connections": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20000,
      "limit": {"resource": "Connections", "per": "node; at most the descriptor limit minus a reserve", "answer": "503 `CONNECTION_LIMIT` with `Retry-After`, or the connection is closed", "metric": "runyard_http_refused_total", "alert": "RunyardFewDescriptors"}},
    "max_header_bytes": {"type": "integer", "minimum": 1024, "maximum": 1048576, "default": 49152,
      "limit": {"resource": "Request head, bytes", "per": "request", "answer": "431", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "max_target_bytes": {"type": "integer", "minimum": 256, "maximum": 65536, "default": 8192,
      "limit": {"resource": "Request target, bytes", "per": "request", "answer": "414", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "max_body_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 1048576,
      "limit": {"resource": "Request body, bytes", "per": "request", "answer": "413", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "max_form_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 1073741824,
      "limit": {"resource": "Multipart form, bytes", "per": "request", "answer": "413", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "stream_queue_bytes": {"type": "integer", "minimum": 4096, "maximum": 1073741824, "default": 1048576,
      "limit": {"resource": "Bytes of an event stream waiting for its reader", "per": "stream", "answer": "the stream is closed", "metric": "runyard_http_streams_cut_total", "alert": "RunyardReadersCut"}},
    "stream_queue_pieces": {"type": "integer", "minimum": 16, "maximum": 1000000, "default": 1024,
      "limit": {"resource": "Events of an event stream waiting for its reader", "per": "stream", "answer": "the stream is closed", "metric": "runyard_http_streams_cut_total", "alert": "RunyardReadersCut"}},
    "header_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 3600, "default": 10,
      "limit": {"resource": "Time until the request head is complete", "per": "request", "answer": "408, or the connection is closed", "metric": "runyard_http_timeouts_total", "alert": "RunyardRequestsRefused"}},
    "idle_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 86400, "default": 75},
    "body_idle_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 3600, "default": 20,
      "limit": {"resource": "Time without a byte of the request body", "per": "request", "answer": "408", "metric": "runyard_http_timeouts_total", "alert": "RunyardRequestsRefused"}},
    "body_timeout_seconds": {"type": "number", "off": 0, "minimum": 0, "maximum": 86400, "default": 3600,
      "limit": {"resource": "Time for the whole request body", "per": "request", "answer": "408", "metric": "runyard_http_timeouts_total", "alert": "RunyardRequestsRefused"}},
    "body_min_rate_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1073741824, "default": 512,
      "limit": {"resource": "Lowest upload rate, bytes per second", "per": "request", "answer": "408", "metric": "runyard_http_timeouts_total", "alert": "RunyardRequestsRefused"}},
    "request_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 86400, "default": 30,
      "limit": {"resource": "Time until the response begins", "per": "request", "answer": "504", "metric": "runyard_http_timeouts_total", "alert": "RunyardServerErrors"}},
    "write_stall_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 3600, "default": 30},
    "read_min_rate_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1073741824, "default": 1024,
      "limit": {"resource": "Lowest read rate of a client, bytes per second", "per": "response", "answer": "the connection is closed", "metric": "runyard_http_slow_readers_total", "alert": "RunyardClientsAtLimits"}}
  }},
  "data_dir": {"type": "string", "minLength": 1},
  "database": {"type": "object", "properties": {
    "url": {"type": "string", "secret": true, "default": ""},
    "direct_url": {"type": "string", "secret": true, "default": ""},
    "wait_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 10},
    "connections": {"type": "integer", "minimum": 0, "maximum": 500, "default": 0},
    "transactions": {"type": "integer", "minimum": 0, "maximum": 500, "default": 0},
    "max_queue": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20000,
      "limit": {"resource": "SQL statements waiting for a pooled connection", "per": "node", "answer": "503 with `Retry-After`", "metric": "runyard_database_wait_seconds", "alert": "RunyardDatabaseBusy"}},
    "statement_timeout_seconds": {"type": "number", "off": 0, "minimum": 0, "maximum": 86400, "default": 30,
      "limit": {"resource": "Run time of an SQL statement", "per": "SQL statement", "answer": "503", "metric": "runyard_database_failures_total", "alert": "RunyardServerErrors"}},
    "transaction_timeout_seconds": {"type": "number", "minimum": 0, "maximum": 86400, "default": 10},
    "old_transaction_seconds": {"type": "number", "minimum": 0, "maximum": 86400, "default": 300}
  }},
  "auth": {"type": "object", "properties": {
    "jwt": {"type": "object", "properties": {
      "hs256_secret": {"type": "string", "secret": true, "default": ""},
      "jwks_url": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "form": "a URL such as https://id.example.org/jwks, or empty", "default": ""},
      "jwks_file": {"type": "string", "default": ""},
      "issuer": {"type": "string", "default": ""},
      "audience": {"type": ["string", "array"], "items": {"type": "string"}, "default": ""},
      "role_claims": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200},
        "default": ["role", "roles", "app_metadata.role"],
        "description": "Claims that contain the roles of a user, as paths with dots"},
      "admin_roles": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200}, "default": ["admin"],
        "description": "Values of role_claims that give the role admin"},
      "super_admin_roles": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200}, "default": ["super_admin"],
        "description": "Values of role_claims that give the role super_admin"},
      "leeway_seconds": {"type": "integer", "minimum": 0, "maximum": 600, "default": 30}
    }},
    "issuers": {"type": "object",
      "description": "Further identity providers, each in a table auth.issuers.NAME",
      "additionalProperties": {"type": "object", "required": ["issuer"], "properties": {
        "issuer": {"type": "string", "minLength": 1, "description": "Value of the claim iss in the provider's tokens"},
        "jwks_url": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "form": "a URL such as https://id.example.org/jwks, or empty", "default": "",
          "description": "URL of the provider's key set (JWKS), or of a map of certificates"},
        "jwks_file": {"type": "string", "default": "", "description": "File with the provider's key set (JWKS)"},
        "hs256_secret": {"type": "string", "secret": true, "default": "",
          "description": "Secret shared with the provider, at least 32 characters, for HS256, HS384 and HS512"},
        "audience": {"type": ["string", "array"], "items": {"type": "string"}, "default": "",
          "description": "Accepted values of the claim aud; empty: any"},
        "subject_prefix": {"type": "string", "maxLength": 100,
          "description": "Prefix of the claim sub, so that users of two providers never share an account; default: NAME and a colon"},
        "role_claims": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200},
          "default": ["role", "roles", "app_metadata.role"], "description": "Same as auth.jwt.role_claims, for this provider"},
        "admin_roles": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200}, "default": [],
          "description": "Values of role_claims that mean the role admin; empty: its tokens make no admins"},
        "super_admin_roles": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200}, "default": [],
          "description": "Values of role_claims that mean the role super_admin; empty: its tokens make no super admins"},
        "leeway_seconds": {"type": "integer", "minimum": 0, "maximum": 600, "default": 30,
          "description": "Tolerance for clock skew between the provider and this server, in seconds"}
      }}
    }
  }},
  "secrets": {"type": "object", "properties": {
    "key": {"type": "string", "secret": true, "default": ""},
    "key_file": {"type": "string", "default": ""},
    "old_keys": {"type": "array", "secret": true, "items": {"type": "string"}, "default": []}
  }},
  "log": {"type": "object", "properties": {
    "level": {"type": "string", "enum": ["trace", "debug", "info", "warn", "error", "off"], "default": "info"},
    "format": {"type": "string", "enum": ["text", "json"], "default": "text"},
    "file": {"type": "string", "default": ""}
  }},
  "modules": {"type": "object", "properties": {
    "path": {"type": ["string", "array"], "items": {"type": "string", "minLength": 1}}
  }, "additionalProperties": {"type": "object", "properties": {
      "enabled": {"type": "boolean", "default": false, "description": "Load this module"},
      "required": {"type": "boolean", "default": true,
                   "description": "false: the server starts without the module if the module fails"},
      "sha256": {"type": "string", "pattern": "^([0-9a-fA-F]{64})?$", "form": "64 hexadecimal digits, or empty", "default": "",
                 "description": "SHA-256 of the module file in hex; a file with another hash is refused"},
      "path": {"type": "string", "default": "",
               "description": "Path of the module file, instead of NAME.so in modules.path"},
      "allow_newer_schema": {"type": "boolean", "default": false,
                             "description": "true: the module starts although a newer version of it has applied migrations that are not declared compatible"}
  }}},
  "reload": {"type": "object", "properties": {
    "on_file_change": {"type": "boolean", "default": false},
    "drain_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 30}
  }},
  "tracing": {"type": "object", "properties": {
    "endpoint": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "form": "a URL such as http://127.0.0.1:4318, or empty", "default": ""},
    "headers": {"type": "array", "secret": true, "items": {"type": "string", "pattern": "^[A-Za-z0-9_-]+: [^\\r\\n]*$", "form": "a header in the form Name: value"}, "default": []},
    "service_name": {"type": "string", "minLength": 1, "maxLength": 255, "default": "runyard"},
    "ratio": {"type": "number", "minimum": 0, "maximum": 1, "default": 1},
    "accept": {"type": "string", "enum": ["all", "trusted_proxies", "none"], "default": "all"},
    "propagate": {"type": "string", "enum": ["all", "operators", "none"], "default": "all"},
    "max_queue": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 4096},
    "batch": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 512},
    "interval_seconds": {"type": "number", "minimum": 0.05, "maximum": 3600, "default": 5},
    "timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 600, "default": 10}
  }},
  "jobs": {"type": "object", "properties": {
    "lease_seconds": {"type": "number", "minimum": 1, "maximum": 600, "default": 6},
    "hold_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 60},
    "poll_seconds": {"type": "number", "minimum": 0.05, "maximum": 60, "default": 1},
    "batch": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
    "weight": {"type": "integer", "minimum": 1, "maximum": 100, "default": 100}
  }},
  "events": {"type": "object", "properties": {
    "keep_seconds": {"type": "number", "minimum": 60, "maximum": 3155760000, "default": 2592000}
  }},
  "egress": {"type": "object", "properties": {
    "idle_connections": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 1024},
    "idle_connections_per_host": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 256},
    "idle_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 30},
    "account_lookups": {"type": "integer", "minimum": 1, "maximum": 12, "default": 4,
      "limit": {"resource": "DNS lookups in progress; one for an account with four unanswered names", "per": "account, node", "answer": "the lookup waits; if 256 are waiting: 502, or an error for the model", "metric": "runyard_egress_lookups_refused_total", "alert": "RunyardNameLookupsFail"}},
    "ca_file": {"type": "string", "default": ""}
  }},
  "shutdown": {"type": "object", "properties": {
    "drain_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 20}
  }}
}})JSON";

boost::json::object& at(boost::json::value& schema, std::initializer_list<const char*> path) {
  auto* v = &schema;
  for (const auto* key : path) v = &v->as_object().at("properties").as_object().at(key);
  return v->as_object();
}

void collect(const boost::json::value& schema, const std::string& key,
             std::vector<std::string>& out) {
  const auto* properties = schema.as_object().if_contains("properties");
  if (!properties) return out.push_back(key);
  for (const auto& p : properties->as_object())
    collect(p.value(), key.empty() ? std::string(p.key()) : key + "." + std::string(p.key()), out);
}

}  // namespace

boost::json::value host_schema(const defaults& places) {
  auto schema = boost::json::parse(schema_text);
  at(schema, {"data_dir"})["default"] = places.data_dir;
  at(schema, {"modules", "path"})["default"] = places.modules_path;
  return schema;
}

std::vector<std::string> host_keys() {
  std::vector<std::string> keys;
  const auto schema = boost::json::parse(schema_text);
  for (const auto& p : schema.at("properties").as_object()) keys.emplace_back(p.key());
  return keys;
}

std::vector<std::string> host_settings() {
  std::vector<std::string> out;
  collect(boost::json::parse(schema_text), "", out);
  return out;
}

}  // namespace ry::app::config
