// A module that violates the contract: its functions throw through the ABI, behind a cast that hides this from the
// compiler. The host must respond and continue. create() throws if the setting throw_in_create is set.
#include <ry/if/http.h>
#include <ry/if/registrar.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace {

using plain_handler = ry_status (*)(void*, const ry_request_view*, ry_request*);
using plain_create = ry_status (*)(const ry_host*, ry_get_interface_fn, ry_registrar*, ry_str, void**, ry_errbuf*);

ry_status handle(void*, const ry_request_view*, ry_request*) {
  throw std::runtime_error("out of a handler");
}

ry_status create(const ry_host* host, ry_get_interface_fn get, ry_registrar* registrar, ry_str config, void** self,
                 ry_errbuf*) {
  static const char setting[] = "\"throw_in_create\":true";
  if (memmem(config.ptr, config.len, setting, sizeof setting - 1) != nullptr) {
    throw std::runtime_error("out of create");
  }
  const auto* reg = static_cast<const ry_registrar_v1*>(
      get(host, {RY_REGISTRAR_1, sizeof RY_REGISTRAR_1 - 1}, sizeof(ry_registrar_v1)));
  ry_route r{};
  r.struct_size = sizeof r;
  r.flags = RY_ROUTE_PUBLIC;
  r.method = {"GET", 3};
  r.pattern = {"/abi/unguarded", 14};
  r.handle = reinterpret_cast<ry_handler_fn>(static_cast<plain_handler>(&handle));
  *self = const_cast<ry_registrar_v1*>(reg);
  return reg->route(registrar, &r);
}

constexpr char manifest[] =
    R"({"name":"abi_unguarded","version":"1.0.0","abi_major":1,"abi_minor":0,"min_host_minor":0,)"
    R"("flags":0,"needs":[],"provides":[]})";
constexpr char schema[] = R"({"type":"object","properties":{"throw_in_create":{"type":"boolean"}}})";
struct section {
  char text[sizeof manifest - 1];
};
constexpr section in_section() {
  section s{};
  for (std::size_t i = 0; i < sizeof s.text; ++i) s.text[i] = manifest[i];
  return s;
}
__attribute__((section(".ry.module"), used)) constexpr section manifest_section = in_section();

const ry_module_v1 descriptor = {RY_ABI_MAGIC,
                                 sizeof(ry_module_v1),
                                 RY_ABI_MAJOR,
                                 RY_ABI_MINOR,
                                 0,
                                 0,
                                 {"abi_unguarded", 13},
                                 {"1.0.0", 5},
                                 {schema, sizeof schema - 1},
                                 nullptr,
                                 0,
                                 sizeof(ry_need),
                                 nullptr,
                                 0,
                                 reinterpret_cast<decltype(ry_module_v1::create)>(static_cast<plain_create>(&create)),
                                 [](void*, ry_errbuf*) noexcept -> ry_status { return RY_OK; },
                                 [](void*, std::int64_t, ry_done done) noexcept { done.fn(done.ctx, RY_OK, nullptr); },
                                 [](void*) noexcept {},
                                 [](void*, ry_errbuf*) noexcept -> ry_status { return RY_OK; }};

}  // namespace

extern "C" RY_EXPORT const ry_module_v1* ry_module_entry(void) {
  return &descriptor;
}
