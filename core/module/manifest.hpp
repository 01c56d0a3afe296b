// A module's manifest: the static description in the ELF section `.ry.module` (JSON, readable without running code),
// repeated in its descriptor. Pure values; any thread.
#pragma once

#include <ry/abi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ry::module {

struct need_fact {
  std::string id;
  bool optional = false;
  std::uint32_t min_size = 0;
  bool operator==(const need_fact&) const = default;
};

struct module_manifest {
  std::string name, version;
  std::uint32_t abi_major = 0, abi_minor = 0, min_host_minor = 0, flags = 0;
  std::vector<need_fact> needs;
  std::vector<std::string> provides;
};

// [a-z][a-z0-9_]{0,62}
bool valid_module_name(std::string_view name) noexcept;
// "<word>/<major>": [a-z][a-z0-9_.]* '/' [1-9][0-9]*, at most 100 bytes.
bool valid_interface_id(std::string_view id) noexcept;

// Throws std::invalid_argument with a message that names the invalid member.
module_manifest manifest_of_json(std::string_view json);
// Reads a descriptor whose `magic` and `struct_size` are valid.
module_manifest manifest_of_descriptor(const ry_module_v1& descriptor);

// The checks below return one message that names both sides and the remedy; empty = valid. `origin` is the file, for
// a module whose name is unknown.
std::string refuse_descriptor(const ry_module_v1* descriptor, std::string_view origin);
std::string refuse_manifest(const module_manifest& manifest, std::uint32_t host_minor);
std::string refuse_mismatch(const module_manifest& section, const module_manifest& descriptor);

}  // namespace ry::module
