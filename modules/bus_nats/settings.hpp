// Settings of the module; immutable once the module is created.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ry {
class settings_faults;
}

namespace bus_nats {

struct settings {
  std::vector<std::string> urls;  // at least one; without user or password
  std::string user, password, token, credentials_file;
  std::string ca_file, cert_file, key_file;
  std::string stream, subject;
  bool in_memory = false;
  std::int64_t replicas = 1, keep_seconds = 0, keep_bytes = 0;
  std::size_t queue_bytes = 0;

  bool secure() const { return !ca_file.empty() || !cert_file.empty(); }
};

inline constexpr std::string_view settings_schema = R"json({
  "type": "object",
  "required": ["urls"],
  "properties": {
    "urls": {"type": "array", "minItems": 1, "maxItems": 64,
      "items": {"type": "string",
        "pattern": "^(nats|tls)://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$", "form": "an address such as nats://127.0.0.1:4222 or tls://nats.example.org"},
      "description": "Servers of one NATS cluster with JetStream, nats:// or tls://, without user and password"},
    "user": {"type": "string", "default": "", "description": "User name, if the servers require one"},
    "password": {"type": "string", "default": "", "secret": true, "description": "Password of the user"},
    "token": {"type": "string", "default": "", "secret": true, "description": "Token, if the servers require one instead of a user"},
    "credentials_file": {"type": "string", "secret_file": true, "default": "", "description": "File with JWT and seed (.creds), if the servers require one"},
    "tls_ca_file": {"type": "string", "default": "", "description": "PEM file of the certificate authorities that are trusted for the servers; empty: those of the system"},
    "tls_cert_file": {"type": "string", "default": "", "description": "Client certificate of this node, if the servers require one"},
    "tls_key_file": {"type": "string", "secret_file": true, "default": "", "description": "Key of the client certificate"},
    "stream": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "form": "1 to 64 letters, digits, _ and -", "default": "RUNYARD",
      "description": "Name of the JetStream stream, which is created if it does not exist. Deployments that share servers need different names"},
    "subject": {"type": "string", "pattern": "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){0,7}$", "form": "up to eight names of letters, digits, _ and -, separated by dots", "default": "runyard.live",
      "description": "Prefix of the subjects; a topic such as runs.ID and the number of the message follow"},
    "storage": {"type": "string", "enum": ["file", "memory"], "default": "memory",
      "description": "Storage of the stream if this node creates it. All messages are in the database as well"},
    "replicas": {"type": "integer", "minimum": 1, "maximum": 5, "default": 1,
      "description": "Number of replicas of the stream if this node creates it"},
    "keep_seconds": {"type": "integer", "minimum": 5, "maximum": 86400, "default": 120,
      "description": "Seconds for which the stream keeps a message if this node creates it; a node that was disconnected for longer reads the database"},
    "keep_bytes": {"type": "integer", "minimum": 1048576, "default": 268435456,
      "description": "Maximum size of the stream in bytes if this node creates it"},
    "queue_bytes": {"type": "integer", "minimum": 65536, "maximum": 1073741824, "default": 16777216,
      "description": "Maximum number of bytes that wait in this node to be sent to NATS; above the limit, other nodes read the database"}
  }
})json";

// `text` is valid by the schema and has its defaults. Adds unusable values to `faults`.
settings read_settings(std::string_view text, ry::settings_faults& faults);

}  // namespace bus_nats
