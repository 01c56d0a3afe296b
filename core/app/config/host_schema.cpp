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
  "http": {"type": "object", "properties": {
    "listen": {"type": "string", "minLength": 1, "default": "127.0.0.1:8080"},
    "base_path": {"type": "string", "pattern": "^(/[A-Za-z0-9._~-]+)*$", "default": ""},
    "public_url": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "default": ""},
    "allowed_hosts": {"type": "array", "items": {"type": "string", "pattern": "^(\\*|(\\*\\.)?[A-Za-z0-9_.-]+)$"}, "default": []},
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
      "address_per_minute": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 0},
      "address_burst": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 200},
      "account_per_minute": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 0},
      "account_burst": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 200},
      "account_streams": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 0},
      "address_connections": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 4000},
      "account_unsent_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 33554432},
      "unsent_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 268435456},
      "account_uploads": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 64},
      "uploads": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 2000},
      "account_upload_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 1073741824},
      "upload_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 8589934592}
    }},
    "trusted_proxies": {"type": "array", "items": {"type": "string", "minLength": 1}, "default": []},
    "max_connections": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20000},
    "max_header_bytes": {"type": "integer", "minimum": 1024, "maximum": 1048576, "default": 32768},
    "max_target_bytes": {"type": "integer", "minimum": 256, "maximum": 65536, "default": 8192},
    "max_body_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 1048576},
    "max_form_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 1073741824},
    "stream_queue_bytes": {"type": "integer", "minimum": 4096, "maximum": 1073741824, "default": 1048576},
    "stream_queue_pieces": {"type": "integer", "minimum": 16, "maximum": 1000000, "default": 1024},
    "header_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 3600, "default": 10},
    "idle_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 86400, "default": 75},
    "body_idle_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 3600, "default": 20},
    "body_timeout_seconds": {"type": "number", "minimum": 0, "maximum": 86400, "default": 3600},
    "body_min_rate_bytes": {"type": "integer", "minimum": 0, "maximum": 1073741824, "default": 512},
    "request_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 86400, "default": 30},
    "write_stall_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 3600, "default": 30},
    "read_min_rate_bytes": {"type": "integer", "minimum": 0, "maximum": 1073741824, "default": 1024}
  }},
  "data_dir": {"type": "string", "minLength": 1},
  "database": {"type": "object", "properties": {
    "url": {"type": "string", "secret": true, "default": ""},
    "direct_url": {"type": "string", "secret": true, "default": ""},
    "wait_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 10},
    "connections": {"type": "integer", "minimum": 0, "maximum": 500, "default": 0},
    "transactions": {"type": "integer", "minimum": 0, "maximum": 500, "default": 0},
    "max_queue": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20000},
    "statement_timeout_seconds": {"type": "number", "minimum": 0, "maximum": 86400, "default": 30},
    "transaction_timeout_seconds": {"type": "number", "minimum": 0, "maximum": 86400, "default": 10},
    "old_transaction_seconds": {"type": "number", "minimum": 0, "maximum": 86400, "default": 300}
  }},
  "auth": {"type": "object", "properties": {
    "jwt": {"type": "object", "properties": {
      "hs256_secret": {"type": "string", "secret": true, "default": ""},
      "jwks_url": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "default": ""},
      "jwks_file": {"type": "string", "default": ""},
      "issuer": {"type": "string", "default": ""},
      "audience": {"type": ["string", "array"], "items": {"type": "string"}, "default": ""},
      "leeway_seconds": {"type": "integer", "minimum": 0, "maximum": 600, "default": 30}
    }}
  }},
  "secrets": {"type": "object", "properties": {
    "key": {"type": "string", "secret": true, "default": ""},
    "key_file": {"type": "string", "default": ""},
    "old_keys": {"type": "array", "secret": true, "items": {"type": "string"}, "default": []}
  }},
  "log": {"type": "object", "properties": {
    "level": {"type": "string", "enum": ["trace", "debug", "info", "warn", "error", "off"], "default": "info"},
    "format": {"type": "string", "enum": ["text", "json"], "default": "text"}
  }},
  "modules": {"type": "object", "properties": {
    "path": {"type": ["string", "array"], "items": {"type": "string", "minLength": 1}}
  }, "additionalProperties": {"type": "object", "properties": {
      "enabled": {"type": "boolean", "default": false, "description": "Load this module"},
      "required": {"type": "boolean", "default": true,
                   "description": "false: the server starts without it when it fails"},
      "sha256": {"type": "string", "pattern": "^([0-9a-fA-F]{64})?$", "default": "",
                 "description": "Hex; any other content of the file is refused"},
      "path": {"type": "string", "default": "",
               "description": "This very file instead of modules.path/NAME.so"}
  }}},
  "reload": {"type": "object", "properties": {
    "on_file_change": {"type": "boolean", "default": false},
    "drain_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 30}
  }},
  "tracing": {"type": "object", "properties": {
    "endpoint": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "default": ""},
    "headers": {"type": "array", "secret": true, "items": {"type": "string", "pattern": "^[A-Za-z0-9_-]+: [^\\r\\n]*$"}, "default": []},
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
