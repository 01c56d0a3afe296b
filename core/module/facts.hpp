// What a module says about itself: in the ELF section `.ry.module` (JSON, readable without running
// its code) and again in its descriptor. Pure values; any thread.
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

struct module_facts {
  std::string name, version;
  std::uint32_t abi_major = 0, abi_minor = 0, min_host_minor = 0, flags = 0;
  std::vector<need_fact> needs;
  std::vector<std::string> provides;
};

// [a-z][a-z0-9_]{0,62}
bool valid_module_name(std::string_view name) noexcept;
// "<word>/<major>": [a-z][a-z0-9_.]* '/' [1-9][0-9]*, at most 100 bytes.
bool valid_interface_id(std::string_view id) noexcept;

// Throws std::invalid_argument with a sentence naming the member that is wrong.
module_facts facts_of_json(std::string_view json);
// The same from a descriptor whose `magic` and `struct_size` were found good.
module_facts facts_of_descriptor(const ry_module_v1& descriptor);

// The rules below answer one sentence that names both sides and the remedy; empty = fine.
// `origin` is the file, for a module that cannot say its name.
std::string refuse_descriptor(const ry_module_v1* descriptor, std::string_view origin);
std::string refuse_facts(const module_facts& facts, std::uint32_t host_minor);
std::string refuse_mismatch(const module_facts& section, const module_facts& descriptor);

}  // namespace ry::module
