#include "core/module/manifest.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <stdexcept>

#include "core/exec/error.hpp"
#include "core/module/text.hpp"

namespace ry::module {

namespace {

namespace json = boost::json;

constexpr std::uint32_t known_flags = RY_MODULE_USES_DRAFT | RY_MODULE_NO_UNLOAD | RY_MODULE_NO_RELOAD;
constexpr std::size_t max_list = 256;
constexpr std::size_t max_text = 1024;
constexpr std::size_t max_schema = 256 * 1024;

[[noreturn]] void reject_manifest(const std::string& why) {
  throw std::invalid_argument(why);
}

const json::value* member(const json::object& o, const char* key) {
  const auto it = o.find(key);
  return it == o.end() ? nullptr : &it->value();
}

std::string text_member(const json::object& o, const char* key) {
  const auto* v = member(o, key);
  if (!v || !v->is_string()) reject_manifest(std::string("its .ry.module section lacks the string \"") + key + "\"");
  const auto& s = v->get_string();
  if (s.size() > max_text) reject_manifest(std::string("\"") + key + "\" in its .ry.module section is too long");
  return std::string(s);
}

std::uint32_t number(const json::value* v, const char* key, bool required) {
  if (!v && !required) return 0;
  if (v && v->is_bool()) return v->get_bool() ? 1 : 0;
  if (v) {
    boost::system::error_code ec;
    const auto n = v->to_number<std::uint32_t>(ec);
    if (!ec) return n;
  }
  reject_manifest(std::string("its .ry.module section lacks the integer \"") + key + "\"");
}

const json::array* list_member(const json::object& o, const char* key) {
  const auto* v = member(o, key);
  if (!v) return nullptr;
  if (!v->is_array() || v->get_array().size() > max_list)
    reject_manifest(std::string("\"") + key + "\" in its .ry.module section is not a list, or too long");
  return &v->get_array();
}

std::string named(const module_manifest& f) {
  return "module " + in_quotes(f.name) + (f.version.empty() ? "" : " " + f.version);
}

std::string abi(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string ids(const std::vector<need_fact>& needs) {
  std::string out;
  for (const auto& n : needs) {
    if (!out.empty()) out += ", ";
    out += n.id;
    if (n.optional) out += " (optional)";
    if (n.min_size) out += " of at least " + std::to_string(n.min_size) + " bytes";
  }
  return out.empty() ? "nothing" : out;
}

std::string ids(const std::vector<std::string>& list) {
  std::string out;
  for (const auto& s : list) out += (out.empty() ? "" : ", ") + s;
  return out.empty() ? "nothing" : out;
}

}  // namespace

bool valid_module_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > 63 || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

bool valid_interface_id(std::string_view id) noexcept {
  const std::size_t slash = id.find('/');
  if (id.size() > 100 || slash == std::string_view::npos || slash == 0) return false;
  const std::string_view word = id.substr(0, slash), major = id.substr(slash + 1);
  if (word[0] < 'a' || word[0] > 'z' || major.empty() || major[0] == '0') return false;
  return std::all_of(word.begin(), word.end(),
                     [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
                     }) &&
         std::all_of(major.begin(), major.end(), [](char c) { return c >= '0' && c <= '9'; });
}

module_manifest manifest_of_json(std::string_view text) {
  boost::system::error_code ec;
  const json::value v = json::parse(text, ec);
  if (ec || !v.is_object()) reject_manifest("its .ry.module section is not a JSON object");
  const json::object& o = v.get_object();
  module_manifest f;
  f.name = text_member(o, "name");
  if (!valid_module_name(f.name))
    reject_manifest("its name " + in_quotes(f.name) +
                    " is not valid: a lower-case letter followed by at most 62 of a-z, 0-9 and _");
  f.version = text_member(o, "version");
  f.abi_major = number(member(o, "abi_major"), "abi_major", true);
  f.abi_minor = number(member(o, "abi_minor"), "abi_minor", true);
  f.min_host_minor = number(member(o, "min_host_minor"), "min_host_minor", true);
  f.flags = number(member(o, "flags"), "flags", false);
  if (const auto* list = list_member(o, "needs"))
    for (const auto& e : *list) {
      if (!e.is_object())
        reject_manifest("\"needs\" in its .ry.module section contains an element that is not an object");
      need_fact n;
      n.id = text_member(e.get_object(), "id");
      n.optional = number(member(e.get_object(), "optional"), "optional", false) != 0;
      n.min_size = number(member(e.get_object(), "min_size"), "min_size", false);
      f.needs.push_back(std::move(n));
    }
  if (const auto* list = list_member(o, "provides"))
    for (const auto& e : *list) {
      if (!e.is_string() || e.get_string().size() > max_text)
        reject_manifest("\"provides\" in its .ry.module section contains an element that is not a short string");
      f.provides.emplace_back(e.get_string());
    }
  for (const auto& n : f.needs)
    if (!valid_interface_id(n.id)) reject_manifest("it needs " + in_quotes(n.id) + ", which is not an interface id");
  for (const auto& p : f.provides)
    if (!valid_interface_id(p)) reject_manifest("it provides " + in_quotes(p) + ", which is not an interface id");
  return f;
}

module_manifest manifest_of_descriptor(const ry_module_v1& d) {
  module_manifest f;
  f.name = core::str(d.name);
  f.version = core::str(d.version);
  f.abi_major = d.abi_major;
  f.abi_minor = d.abi_minor;
  f.min_host_minor = d.min_host_minor;
  f.flags = d.flags;
  const auto* at = reinterpret_cast<const unsigned char*>(d.needs);
  for (std::size_t i = 0; i < d.n_needs; ++i, at += d.need_stride) {
    const auto& n = *reinterpret_cast<const ry_need*>(at);
    f.needs.push_back({core::str(n.id), n.optional != 0, n.min_size});
  }
  for (std::size_t i = 0; i < d.n_provides; ++i) f.provides.push_back(core::str(d.provides[i]));
  return f;
}

std::string refuse_descriptor(const ry_module_v1* d, std::string_view origin) {
  const std::string who = "module file " + in_quotes(origin) + ": ";
  if (!d) return who + "ry_module_entry() returned no descriptor; rebuild it with the SDK.";
  if (d->magic != RY_ABI_MAGIC)
    return who + "its descriptor has the wrong magic number (" + std::to_string(d->magic) + ", this host expects " +
           std::to_string(RY_ABI_MAGIC) + "); it is not built with this SDK or for this architecture.";
  // Check the ABI major first: the layout of the following members depends on it.
  if (d->struct_size >= 12 && d->abi_major != RY_ABI_MAJOR)
    return who + "it is built for host ABI major " + std::to_string(d->abi_major) + "; this host provides major " +
           std::to_string(RY_ABI_MAJOR) + ". " +
           (d->abi_major > RY_ABI_MAJOR ? "Upgrade the host." : "Rebuild it with a newer SDK.");
  if (d->struct_size < sizeof(ry_module_v1) || d->struct_size > 64 * 1024)
    return who + "its descriptor states a size of " + std::to_string(d->struct_size) +
           " bytes; this host expects at least " + std::to_string(sizeof(ry_module_v1)) + ". Rebuild it with the SDK.";
  if (!d->create || !d->start || !d->stop || !d->destroy || !d->health)
    return who + "a lifecycle function of its descriptor is NULL; all five are required.";
  const auto bad = [](ry_str s, std::size_t most) { return s.len > most || (s.len && !s.ptr); };
  if (bad(d->name, 63) || bad(d->version, max_text) || bad(d->config_schema_json, max_schema))
    return who + "a string in its descriptor is empty or too long.";
  if (!valid_module_name(core::sv(d->name)))
    return who + "its name " + in_quotes(core::sv(d->name)) +
           " is not valid: a lower-case letter followed by at most 62 of a-z, 0-9 and _.";
  if (d->n_needs > max_list || (d->n_needs && !d->needs) ||
      (d->n_needs &&
       (d->need_stride < sizeof(ry_need) || d->need_stride > 4096 || d->need_stride % alignof(ry_need) != 0)))
    return who + "the list of needs in its descriptor is malformed.";
  if (d->n_provides > max_list || (d->n_provides && !d->provides))
    return who + "the list of what it provides in its descriptor is malformed.";
  const auto* at = reinterpret_cast<const unsigned char*>(d->needs);
  for (std::size_t i = 0; i < d->n_needs; ++i, at += d->need_stride) {
    const auto& n = *reinterpret_cast<const ry_need*>(at);
    if (n.struct_size < sizeof(ry_need) || n.struct_size > d->need_stride || bad(n.id, 100) ||
        !valid_interface_id(core::sv(n.id)))
      return who + "need " + std::to_string(i + 1) + " of its descriptor is malformed.";
  }
  for (std::size_t i = 0; i < d->n_provides; ++i)
    if (bad(d->provides[i], 100) || !valid_interface_id(core::sv(d->provides[i])))
      return who + "item " + std::to_string(i + 1) + " of what it provides is not an interface id.";
  return {};
}

std::string refuse_manifest(const module_manifest& f, std::uint32_t host_minor) {
  const std::string host = abi(RY_ABI_MAJOR, host_minor);
  if (f.abi_major != RY_ABI_MAJOR)
    return named(f) + " is built for host ABI " + abi(f.abi_major, f.abi_minor) + "; this host provides " + host +
           ". " + (f.abi_major > RY_ABI_MAJOR ? "Upgrade the host." : "Rebuild it with a newer SDK.");
  if (f.min_host_minor > host_minor)
    return named(f) + " needs host ABI >= " + abi(f.abi_major, f.min_host_minor) + "; this host provides " + host +
           ". Upgrade the host or rebuild with -DRY_ABI_MINOR=" + std::to_string(host_minor) + ".";
  if (const std::uint32_t unknown = f.flags & ~known_flags)
    return named(f) + " sets flags that this host (ABI " + host + ") does not support (" + std::to_string(unknown) +
           "). Upgrade the host or rebuild it with an older SDK.";
  if ((f.flags & RY_MODULE_USES_DRAFT) && f.abi_minor != host_minor)
    return named(f) + " uses draft interfaces of host ABI " + abi(f.abi_major, f.abi_minor) +
           ", which only that version provides; this host provides " + host + ". Rebuild it with this host's SDK.";
  return {};
}

std::string refuse_mismatch(const module_manifest& section, const module_manifest& descriptor) {
  const auto differ = [&](const char* what, const std::string& a, const std::string& b) {
    return named(descriptor) + ": its .ry.module section states " + what + " " + a + " but its descriptor states " + b +
           "; rebuild it so that both come from one source (RY_MODULE or ry_add_module).";
  };
  const auto n = [](std::uint32_t v) { return std::to_string(v); };
  const auto& s = section;
  const auto& d = descriptor;
  if (s.name != d.name) return differ("name", in_quotes(s.name), in_quotes(d.name));
  if (s.version != d.version) return differ("version", in_quotes(s.version), in_quotes(d.version));
  if (s.abi_major != d.abi_major || s.abi_minor != d.abi_minor)
    return differ("ABI", abi(s.abi_major, s.abi_minor), abi(d.abi_major, d.abi_minor));
  if (s.min_host_minor != d.min_host_minor) return differ("min_host_minor", n(s.min_host_minor), n(d.min_host_minor));
  if (s.flags != d.flags) return differ("flags", n(s.flags), n(d.flags));
  const auto by_id = [](const need_fact& a, const need_fact& b) { return a.id < b.id; };
  auto sn = s.needs, dn = d.needs;
  std::sort(sn.begin(), sn.end(), by_id);
  std::sort(dn.begin(), dn.end(), by_id);
  if (sn != dn) return differ("that it needs", ids(sn), ids(dn));
  auto sp = s.provides, dp = d.provides;
  std::sort(sp.begin(), sp.end());
  std::sort(dp.begin(), dp.end());
  if (sp != dp) return differ("that it provides", ids(sp), ids(dp));
  return {};
}

}  // namespace ry::module
