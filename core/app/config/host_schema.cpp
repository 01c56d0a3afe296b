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
    "mode": {"type": "string", "enum": ["local", "staging", "production"], "default": "local",
      "description": "local | staging | production. URLs that users enter may point to private networks only in local mode."}
  }},
  "brand": {"type": "object", "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 60, "pattern": "^[^<>\"{}@/\\t\\r\\n]+$", "form": "one line without quotes, angle brackets, braces, @ and /", "default": "Runyard",
      "description": "Name of the product in e-mails, notifications and on the unsubscribe page."},
    "color": {"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$", "form": "a color in the form #1d5fd1", "default": "#1d5fd1",
      "description": "Color of buttons and links in e-mails, as \"#rrggbb\". Its contrast with white must be at least 3:1. Shades for text and for dark mode are derived from it."},
    "logo_url": {"type": "string", "pattern": "^(https://[^\\s\"'<>]+)?$", "form": "a URL that begins with https://, or empty", "default": "",
      "description": "https address of the logo at the top of e-mails, shown 32 pixels high; empty: the name as text."}
  }},
  "http": {"type": "object", "properties": {
    "listen": {"type": "string", "minLength": 1, "default": "127.0.0.1:8080",
      "description": "Address and port that the server listens on; [::1]:8080 for IPv6. Port 0 chooses a free port."},
    "base_path": {"type": "string", "pattern": "^(/[A-Za-z0-9._~-]+)*$", "form": "a path such as /runyard that does not end with /, or empty", "default": "",
      "description": "Prefix of the paths of all module routes, such as \"/api\"."},
    "public_url": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "form": "a URL such as https://runs.example.org, or empty", "default": "",
      "description": "URL at which clients reach this server, such as \"https://runs.example.org\"; used in links."},
    "allowed_hosts": {"type": "array", "items": {"type": "string", "pattern": "^(\\*|(\\*\\.)?[A-Za-z0-9_.-]+)$", "form": "a host name such as runs.example.org or *.example.org without scheme and port, or *"}, "default": [],
      "description": "Host names of this server, in addition to IP addresses, localhost and the host of public_url: \"box.lan\", \"*.example.org\", or \"*\" for any. In local mode, or if public_url is set, the server refuses requests with any other Host, and POST, PUT, PATCH and DELETE requests from web pages whose origin is neither this server's nor in http.cors.origins. Without these checks, a web page could use the browser of a user to send requests to this server (DNS rebinding). Except in local mode, requests from http.trusted_proxies may have any Host."},
    "threads": {"type": "integer", "minimum": 0, "maximum": 256, "default": 0,
      "description": "Number of event loops; 0: one per core that the process may use, within the CPU quota of its container or service."},
    "access_log": {"type": "boolean", "default": true,
      "description": "Whether the server logs one line per request."},
    "tls": {"type": "object", "properties": {
      "cert": {"type": "string", "default": "",
        "description": "PEM file of the certificate chain. Set it together with http.tls.key; the server then accepts HTTPS only."},
      "key": {"type": "string", "secret_file": true, "default": "",
        "description": "PEM file of the private key of http.tls.cert."}
    }},
    "cors": {"type": "object", "properties": {
      "origins": {"type": "array", "items": {"type": "string", "minLength": 1}, "default": [],
        "description": "Origins of web pages that may call this server, such as [\"https://app.example.org\"]; \"*\": all."},
      "allow_credentials": {"type": "boolean", "default": false,
        "description": "Whether requests from web pages of http.cors.origins may carry credentials."},
      "max_age_seconds": {"type": "integer", "minimum": 0, "maximum": 86400, "default": 600,
        "description": "Seconds for which browsers may cache the response to a CORS preflight request."}
    }},
    "limits": {"type": "object", "properties": {
      "address_per_minute": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 0,
        "description": "Maximum rate of requests to module routes per client address, per minute, on all nodes together; 0: no limit. Further requests get a 429 with Retry-After.",
        "limit": {"resource": "Requests per minute", "per": "client address", "answer": "429 with `Retry-After`", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
      "address_burst": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 200,
        "description": "Maximum size of a burst of requests from one client address, if http.limits.address_per_minute is set."},
      "account_per_minute": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 0,
        "description": "Maximum rate of requests to module routes per account, per minute, on all nodes together; 0: no limit. Further requests get a 429 with Retry-After.",
        "limit": {"resource": "Requests per minute", "per": "account", "answer": "429 with `Retry-After`", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
      "account_burst": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 200,
        "description": "Maximum size of a burst of requests from one account, if http.limits.account_per_minute is set."},
      "account_streams": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 0,
        "description": "Maximum number of event streams that one account may have open on this node; 0: no limit.",
        "limit": {"resource": "Event streams", "per": "account, node", "answer": "429 with `Retry-After`", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
      "address_connections": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 4000,
        "description": "Maximum number of connections per client address (IPv6: per /64 network), except for addresses in http.trusted_proxies; 0: no limit. Further connections get a 503 and are closed. In addition, one address can hold at most as many connections as max_connections still leaves free, so at most half of them.",
        "limit": {"resource": "Connections", "per": "client address (IPv6: /64), node", "answer": "503 `CONNECTION_LIMIT` with `Retry-After`, or the connection is closed", "metric": "runyard_http_address_refused_total", "alert": "RunyardClientsAtLimits"}},
      "account_unsent_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1099511627776, "default": 33554432,
        "description": "Maximum number of response bytes of one account that wait for slow readers on this node; 0: no limit. Above the limit, requests get a 503 with Retry-After, and event streams are closed.",
        "limit": {"resource": "Response bytes waiting for slow readers", "per": "account or address, node", "answer": "503 `RESPONSE_BUFFER_LIMIT` with `Retry-After`; streams are closed", "metric": "runyard_http_unsent_refused_total", "alert": "RunyardClientsAtLimits"}},
      "unsent_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1099511627776, "default": 268435456,
        "description": "Maximum number of response bytes of all accounts that wait for slow readers on this node; 0: no limit. Above the limit, requests get a 503 with Retry-After, and event streams are closed.",
        "limit": {"resource": "Response bytes waiting for slow readers", "per": "node", "answer": "503 `RESPONSE_BUFFER_LIMIT` with `Retry-After`; streams are closed", "metric": "runyard_http_unsent_refused_total", "alert": "RunyardClientsAtLimits"}},
      "account_uploads": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 64,
        "description": "Maximum number of request bodies of one account in progress on this node; 0: no limit. Further requests get a 429.",
        "limit": {"resource": "Request bodies in progress", "per": "account or address, node", "answer": "429 `UPLOAD_LIMIT` with `Retry-After`", "metric": "runyard_http_uploads_refused_total", "alert": "RunyardClientsAtLimits"}},
      "uploads": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 2000,
        "description": "Maximum number of request bodies in progress on this node; 0: no limit. Further requests get a 503.",
        "limit": {"resource": "Request bodies in progress", "per": "node", "answer": "503 `UPLOAD_LIMIT` with `Retry-After`", "metric": "runyard_http_uploads_refused_total", "alert": "RunyardClientsAtLimits"}},
      "account_upload_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1099511627776, "default": 1073741824,
        "description": "Maximum number of bytes of one account's uploads in progress on this node, mostly on disk in data_dir/spool; 0: no limit. Further requests get a 429.",
        "limit": {"resource": "Bytes of uploads in progress (upload spool)", "per": "account or address, node", "answer": "429 `UPLOAD_SPACE_LIMIT` with `Retry-After`", "metric": "runyard_http_upload_bytes_refused_total", "alert": "RunyardClientsAtLimits"}},
      "upload_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1099511627776, "default": 8589934592,
        "description": "Maximum number of bytes of all uploads in progress on this node, mostly on disk in data_dir/spool; 0: no limit. Further requests get a 503.",
        "limit": {"resource": "Bytes of uploads in progress (upload spool)", "per": "node", "answer": "503 `UPLOAD_SPACE_LIMIT` with `Retry-After`", "metric": "runyard_http_upload_bytes_refused_total", "alert": "RunyardClientsAtLimits"}}
    }},
    "trusted_proxies": {"type": "array", "items": {"type": "string", "minLength": 1}, "default": [],
      "description": "Reverse proxies (addresses or CIDR blocks) whose X-Forwarded-For header is trusted."},
    "max_connections": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20000,
      "description": "Maximum number of open connections. Each connection needs a file descriptor: if the limit on open files is too low for this value, the server accepts fewer connections. It reserves a quarter of the descriptors (at most 4096) for everything else.",
      "limit": {"resource": "Connections", "per": "node; at most the descriptor limit minus a reserve", "answer": "503 `CONNECTION_LIMIT` with `Retry-After`, or the connection is closed", "metric": "runyard_http_refused_total", "alert": "RunyardClientsAtLimits"}},
    "max_header_bytes": {"type": "integer", "minimum": 1024, "maximum": 1048576, "default": 49152,
      "description": "Maximum size of the request headers in bytes; larger requests get a 431.",
      "limit": {"resource": "Request headers, bytes", "per": "request", "answer": "431", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "max_target_bytes": {"type": "integer", "minimum": 256, "maximum": 65536, "default": 8192,
      "description": "Maximum length of the request target (path and query) in bytes; longer ones get a 414.",
      "limit": {"resource": "Request target, bytes", "per": "request", "answer": "414", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "max_body_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 1048576,
      "description": "Maximum size of a request body in bytes, except forms; larger requests get a 413.",
      "limit": {"resource": "Request body, bytes", "per": "request", "answer": "413", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "max_form_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 1073741824,
      "description": "Maximum size of a multipart/form-data body in bytes; larger requests get a 413.",
      "limit": {"resource": "Multipart form, bytes", "per": "request", "answer": "413", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "stream_queue_bytes": {"type": "integer", "minimum": 4096, "maximum": 1073741824, "default": 1048576,
      "description": "Maximum number of bytes of a stream that wait for a slow reader. Above the limit, the server closes the stream.",
      "limit": {"resource": "Bytes of an event stream waiting for its reader", "per": "stream", "answer": "the stream is closed", "metric": "runyard_http_streams_cut_total", "alert": "RunyardReadersCut"}},
    "stream_queue_pieces": {"type": "integer", "minimum": 16, "maximum": 1000000, "default": 1024,
      "description": "Maximum number of events of a stream that wait for a slow reader. Above the limit, the server closes the stream.",
      "limit": {"resource": "Events of an event stream waiting for its reader", "per": "stream", "answer": "the stream is closed", "metric": "runyard_http_streams_cut_total", "alert": "RunyardReadersCut"}},
    "header_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 3600, "default": 10,
      "description": "Time limit in seconds until the request headers are complete.",
      "limit": {"resource": "Time until the request headers are complete", "per": "request", "answer": "408, or the connection is closed", "metric": "runyard_http_timeouts_total", "alert": "RunyardRequestsRefused"}},
    "idle_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 86400, "default": 75,
      "description": "Seconds after which a connection without a request is closed."},
    "body_idle_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 3600, "default": 20,
      "description": "Seconds without a byte of the request body after which the request fails.",
      "limit": {"resource": "Time without a byte of the request body", "per": "request", "answer": "408", "metric": "runyard_http_timeouts_total", "alert": "RunyardRequestsRefused"}},
    "body_timeout_seconds": {"type": "number", "off": 0, "minimum": 0, "maximum": 86400, "default": 3600,
      "description": "Time limit in seconds until the request body is complete; 0: no limit.",
      "limit": {"resource": "Time for the complete request body", "per": "request", "answer": "408", "metric": "runyard_http_timeouts_total", "alert": "RunyardRequestsRefused"}},
    "body_min_rate_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1073741824, "default": 512,
      "description": "Minimum rate of an upload in bytes per second, measured over 15 seconds; 0: no limit.",
      "limit": {"resource": "Minimum upload rate, bytes per second", "per": "request", "answer": "408", "metric": "runyard_http_timeouts_total", "alert": "RunyardRequestsRefused"}},
    "request_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 86400, "default": 30,
      "description": "Time limit in seconds until the response begins, unless the route sets its own.",
      "limit": {"resource": "Time until the response begins", "per": "request", "answer": "504", "metric": "runyard_http_timeouts_total", "alert": "RunyardServerErrors"}},
    "write_stall_timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 3600, "default": 30,
      "description": "Seconds without a byte read by the client after which the connection is closed."},
    "read_min_rate_bytes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1073741824, "default": 1024,
      "description": "Minimum rate in bytes per second at which a client must read a response, measured over http.write_stall_timeout_seconds; 0: no limit.",
      "limit": {"resource": "Minimum read rate of a client, bytes per second", "per": "response", "answer": "the connection is closed", "metric": "runyard_http_slow_readers_total", "alert": "RunyardClientsAtLimits"}}
  }},
  "data_dir": {"type": "string", "minLength": 1,
    "description": "Directory of the server's own data: its private PostgreSQL, keys, and uploads in progress. Default: .runyard next to a build, /var/lib/runyard for an installed server."},
  "database": {"type": "object", "properties": {
    "url": {"type": "string", "secret": true, "default": "",
      "description": "postgresql://user:password@host/name. Empty: the server runs a private PostgreSQL in data_dir."},
    "direct_url": {"type": "string", "secret": true, "default": "",
      "description": "If url points to a connection pooler in transaction mode (such as PgBouncer): the address of the PostgreSQL server itself, for connections that need a session (notifications, migrations). Statements through the pooler then use no session state."},
    "wait_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 10,
      "description": "Seconds that a starting server waits for a database that does not respond yet."},
    "connections": {"type": "integer", "minimum": 0, "maximum": 500, "default": 0,
      "description": "Number of connections in the pool; 0: depends on the number of cores."},
    "transactions": {"type": "integer", "minimum": 0, "maximum": 500, "default": 0,
      "description": "Maximum number of connections that modules may use for open transactions at the same time; 0: half of database.connections."},
    "max_queue": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20000,
      "description": "Maximum number of SQL statements that wait for a connection; further requests get a 503.",
      "limit": {"resource": "SQL statements waiting for a pooled connection", "per": "node", "answer": "503 with `Retry-After`", "metric": "runyard_database_wait_seconds", "alert": "RunyardDatabaseBusy"}},
    "statement_timeout_seconds": {"type": "number", "off": 0, "minimum": 0, "maximum": 86400, "default": 30,
      "description": "Seconds after which a statement is cancelled; 0: never.",
      "limit": {"resource": "Run time of an SQL statement", "per": "SQL statement", "answer": "503", "metric": "runyard_database_failures_total", "alert": "RunyardServerErrors"}},
    "transaction_timeout_seconds": {"type": "number", "minimum": 0, "maximum": 86400, "default": 10,
      "description": "Seconds after which an idle transaction is rolled back."},
    "old_transaction_seconds": {"type": "number", "minimum": 0, "maximum": 86400, "default": 300,
      "description": "Seconds after which the server logs an open transaction of any client of this database, because it holds back vacuum; 0: never."}
  }},
  "auth": {"type": "object", "properties": {
    "jwt": {"type": "object", "properties": {
      "hs256_secret": {"type": "string", "secret": true, "default": "",
        "description": "Shared secret of HS256, HS384 and HS512 tokens, at least 32 characters. Empty: the server creates its own key, which `runyard token` also uses."},
      "jwks_url": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "form": "a URL such as https://id.example.org/jwks, or empty", "default": "",
        "description": "URL of the key set (JWKS) of an identity provider; mutually exclusive with auth.jwt.jwks_file. docs/identity.md contains a configuration for each provider."},
      "jwks_file": {"type": "string", "default": "",
        "description": "File with the key set (JWKS) of an identity provider; mutually exclusive with auth.jwt.jwks_url."},
      "issuer": {"type": "string", "default": "",
        "description": "Required `iss` of the provider's tokens; empty: any."},
      "audience": {"type": ["string", "array"], "items": {"type": "string"}, "default": "",
        "description": "Required `aud` of the provider's tokens, one value or a list of accepted values; empty: any."},
      "role_claims": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200},
        "default": ["role", "roles", "app_metadata.role"],
        "description": "Claims that contain the roles of a user, as paths with dots"},
      "admin_roles": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200}, "default": ["admin"],
        "description": "Values of role_claims that give the role admin"},
      "super_admin_roles": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200}, "default": ["super_admin"],
        "description": "Values of role_claims that give the role super_admin"},
      "leeway_seconds": {"type": "integer", "minimum": 0, "maximum": 600, "default": 30,
        "description": "Tolerance for clock skew, in seconds."}
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
          "description": "Values of role_claims that give the role admin; empty: tokens of this provider never grant this role"},
        "super_admin_roles": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200}, "default": [],
          "description": "Values of role_claims that give the role super_admin; empty: tokens of this provider never grant this role"},
        "leeway_seconds": {"type": "integer", "minimum": 0, "maximum": 600, "default": 30,
          "description": "Tolerance for clock skew between the provider and this server, in seconds"}
      }}
    }
  }},
  "secrets": {"type": "object", "properties": {
    "key": {"type": "string", "secret": true, "default": "",
      "description": "Key that encrypts secrets at rest: 32 bytes as 64 hex digits or base64. Empty: the server creates one in data_dir/secrets.key."},
    "key_file": {"type": "string", "secret_file": true, "default": "",
      "description": "File with the keys that encrypt secrets at rest, one key per line, the current one first."},
    "old_keys": {"type": "array", "secret": true, "items": {"type": "string"}, "default": [],
      "description": "Earlier keys, which are still used for decryption."}
  }},
  "log": {"type": "object", "properties": {
    "level": {"type": "string", "enum": ["trace", "debug", "info", "warn", "error", "off"], "default": "info",
      "description": "Lowest level that is logged: trace | debug | info | warn | error | off."},
    "format": {"type": "string", "enum": ["text", "json"], "default": "text",
      "description": "Format of the log: text | json; one line per event, on standard error."},
    "file": {"type": "string", "default": "",
      "description": "File for the log instead of standard error. SIGHUP reopens it, for rotation."}
  }},
  "modules": {"type": "object", "properties": {
    "path": {"type": ["string", "array"], "items": {"type": "string", "minLength": 1},
      "description": "Directories with module files, a list or one string separated by \":\". Default: modules/ next to the build's bin/, /usr/lib/runyard/modules for an installed server."}
  }, "additionalProperties": {"type": "object", "properties": {
      "enabled": {"type": "boolean", "default": false, "description": "Load this module"},
      "required": {"type": "boolean", "default": true,
                   "description": "false: the server starts without the module if the module fails"},
      "sha256": {"type": "string", "pattern": "^([0-9a-fA-F]{64})?$", "form": "64 hexadecimal digits, or empty", "default": "",
                 "description": "SHA-256 of the module file in hex; a file with a different hash is refused"},
      "path": {"type": "string", "default": "",
               "description": "Path of the module file, instead of NAME.so in modules.path"},
      "allow_newer_schema": {"type": "boolean", "default": false,
                             "description": "true: the module starts even if a newer version of it has applied migrations that are not declared compatible"}
  }}},
  "reload": {"type": "object", "properties": {
    "on_file_change": {"type": "boolean", "default": false,
      "description": "Whether the server reloads a module when its file is replaced."},
    "drain_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 30,
      "description": "Seconds that a replaced module has to finish its work after `runyard modules reload NAME`, which loads the module's current file with the current settings, and restarts the modules that depend on it. Jobs have half of this time to end before they are released; the server asks streams to reconnect at once."}
  }},
  "tracing": {"type": "object", "properties": {
    "endpoint": {"type": "string", "pattern": "^(https?://[^\\s]+)?$", "form": "a URL such as http://127.0.0.1:4318, or empty", "default": "",
      "description": "URL of a collector that accepts OTLP over HTTP, without /v1/traces: \"http://127.0.0.1:4318\". Empty: no spans are recorded, but the trace context of clients is passed on. See docs/tracing.md."},
    "headers": {"type": "array", "secret": true, "items": {"type": "string", "pattern": "^[A-Za-z0-9_-]+: [^\\r\\n]*$", "form": "a header in the form Name: value"}, "default": [],
      "description": "Headers of requests to the collector, each \"Name: value\"."},
    "service_name": {"type": "string", "minLength": 1, "maxLength": 255, "default": "runyard",
      "description": "Value of service.name in the spans."},
    "ratio": {"type": "number", "minimum": 0, "maximum": 1, "default": 1,
      "description": "Fraction of the traces begun by this server that is recorded. Traces of clients are recorded if their sampling flag is set."},
    "accept": {"type": "string", "enum": ["all", "trusted_proxies", "none"], "default": "all",
      "description": "Clients whose traceparent header is accepted: all | trusted_proxies | none. Requests from other clients begin a new trace."},
    "propagate": {"type": "string", "enum": ["all", "operators", "none"], "default": "all",
      "description": "Outgoing requests that carry the trace context: all | operators (only those to addresses from this configuration, not from users) | none."},
    "max_queue": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 4096,
      "description": "Maximum number of spans that wait for export; further spans are dropped and counted."},
    "batch": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 512,
      "description": "Maximum number of spans in one export."},
    "interval_seconds": {"type": "number", "minimum": 0.05, "maximum": 3600, "default": 5,
      "description": "Maximum time between two exports, in seconds."},
    "timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 600, "default": 10,
      "description": "Time limit of an export in seconds."}
  }},
  "jobs": {"type": "object", "properties": {
    "lease_seconds": {"type": "number", "minimum": 1, "maximum": 600, "default": 6,
      "description": "Seconds without a heartbeat after which other nodes claim the jobs of a node."},
    "hold_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 60,
      "description": "Seconds after the end of its lease for which a node that cannot reach the database continues its jobs, as long as they do not need the database. If other nodes can reach it, they have started the same jobs again: writes are fenced, but a tool may be called twice. 0: the jobs are abandoned when the lease ends."},
    "poll_seconds": {"type": "number", "minimum": 0.05, "maximum": 60, "default": 1,
      "description": "Seconds between two polls for jobs when there is no notification."},
    "batch": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100,
      "description": "Maximum number of jobs that are claimed at once."},
    "weight": {"type": "integer", "minimum": 1, "maximum": 100, "default": 100,
      "description": "Weight of this node in percent: share of the waiting jobs that it claims at once, and share of its slots for each kind of job (for runs: runs.max_live_runs) that it fills with them. Set a lower value on a machine that is smaller than the others."}
  }},
  "events": {"type": "object", "properties": {
    "keep_seconds": {"type": "number", "minimum": 60, "maximum": 3155760000, "default": 2592000,
      "description": "Seconds for which published domain events stay in the database (core.event). Their consumers do not depend on it."}
  }},
  "egress": {"type": "object", "properties": {
    "idle_connections": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 1024,
      "description": "Maximum number of idle connections for outgoing requests that each event loop keeps for reuse."},
    "idle_connections_per_host": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 256,
      "description": "Maximum number of idle connections to one host that each event loop keeps for reuse."},
    "idle_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 30,
      "description": "Seconds for which idle connections for outgoing requests are kept for reuse."},
    "account_lookups": {"type": "integer", "minimum": 1, "maximum": 12, "default": 4,
      "description": "Maximum number of concurrent DNS lookups for the URLs of one account (MCP servers, authorization servers, push services). Accounts take turns. A name whose lookup was not answered fails immediately for a minute; an account with four such names has one lookup at a time.",
      "limit": {"resource": "DNS lookups in progress; one for an account with four unanswered names", "per": "account, node", "answer": "the lookup waits; if 256 are waiting: 502, or an error for the model", "metric": "runyard_egress_lookups_refused_total", "alert": "RunyardNameLookupsFail"}},
    "ca_file": {"type": "string", "default": "",
      "description": "PEM file of certificate authorities to trust in addition to the system's."}
  }},
  "shutdown": {"type": "object", "properties": {
    "drain_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 20,
      "description": "Seconds after SIGTERM for which requests and jobs in progress may continue before jobs are released to other nodes. Modules then have the rest of this time, at least five seconds, to stop."}
  }}
}})JSON";

boost::json::object& at(boost::json::value& schema, std::initializer_list<const char*> path) {
  auto* v = &schema;
  for (const auto* key : path) v = &v->as_object().at("properties").as_object().at(key);
  return v->as_object();
}

void collect(const boost::json::value& schema, const std::string& key, std::vector<std::string>& out) {
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
