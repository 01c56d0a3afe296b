// Settings of the module; immutable after it was created.
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
        "pattern": "^(nats|tls)://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$"},
      "description": "Servers of one NATS cluster with JetStream, nats:// or tls://, without user and password"},
    "user": {"type": "string", "default": "", "description": "User, where the servers ask for one"},
    "password": {"type": "string", "default": "", "secret": true, "description": "Its password"},
    "token": {"type": "string", "default": "", "secret": true, "description": "Token, where the servers ask for one instead"},
    "credentials_file": {"type": "string", "default": "", "description": "File with JWT and seed (.creds), where the servers ask for that"},
    "tls_ca_file": {"type": "string", "default": "", "description": "Certificates that the servers' are checked against; empty: the system's"},
    "tls_cert_file": {"type": "string", "default": "", "description": "Certificate of this node, where the servers ask for one"},
    "tls_key_file": {"type": "string", "default": "", "description": "Its key"},
    "stream": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "default": "RUNYARD",
      "description": "JetStream stream; made when it is not there. Deployments that share servers need different ones"},
    "subject": {"type": "string", "pattern": "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){0,7}$", "default": "runyard.live",
      "description": "Beginning of the subjects; a topic such as runs.ID and a number for each message follow"},
    "storage": {"type": "string", "enum": ["file", "memory"], "default": "memory",
      "description": "Where the servers keep the stream when this node makes it; nothing in it is the only copy"},
    "replicas": {"type": "integer", "minimum": 1, "maximum": 5, "default": 1,
      "description": "Servers that keep the stream when this node makes it"},
    "keep_seconds": {"type": "integer", "minimum": 5, "maximum": 86400, "default": 120,
      "description": "How long the stream keeps a message when this node makes it; a node that was away longer reads the database"},
    "keep_bytes": {"type": "integer", "minimum": 1048576, "default": 268435456,
      "description": "How much it keeps at most"},
    "queue_bytes": {"type": "integer", "minimum": 65536, "maximum": 1073741824, "default": 16777216,
      "description": "What may wait in this node for NATS to take it; beyond it other nodes read the database"}
  }
})json";

// `text` fits the schema and has its defaults. What cannot be used is added to the faults.
settings read_settings(std::string_view text, ry::settings_faults& faults);

}  // namespace bus_nats
