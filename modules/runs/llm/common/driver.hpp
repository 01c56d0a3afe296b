// The table of llm.provider/1 around a driver over HTTP. A Driver has:
//   static constexpr const char* kind;
//   explicit Driver(std::string_view name, std::string_view config_json);   // throws ry::error
//   const llm::endpoint& at() const;
//   llm::exchange prepare(std::string_view request_json) const;             // throws llm::bad_request
#pragma once

#include <ry/ext/llm_provider.h>

#include <memory>
#include <ry/ry.hpp>

#include "request.hpp"
#include "stream_call.hpp"

namespace llm {

// A larger request is not made on a loop: each MiB of pictures takes it some milliseconds.
inline constexpr std::size_t most_on_a_loop = 512 * 1024;

template <class Driver>
class http_driver_module {
 public:
  http_driver_module(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    static constexpr ry_llm_provider_v1 table{
        sizeof(ry_llm_provider_v1), 0, &open, &close, &complete, &cancel};
    reg.contribute(RY_LLM_PROVIDER_1, Driver::kind, &table, this);
  }

 private:
  static ry_status open(void*, ry_str name, ry_str config, void** provider,
                        ry_errbuf* err) noexcept {
    return ry::guard([&] { *provider = new Driver(ry::view(name), ry::view(config)); }, err);
  }
  static void close(void*, void* provider) noexcept { delete static_cast<Driver*>(provider); }
  static ry_status complete(void* self, void* provider, ry_str request, ry_exec* exec,
                            const ry_llm_sink* sink, void* ctx, void** call) noexcept {
    auto& m = *static_cast<http_driver_module*>(self);
    return ry::guard([&]() -> ry_status {
      const auto& driver = *static_cast<const Driver*>(provider);
      const stream_call::caller by{exec, *sink, ctx, estimate_tokens(request.len)};
      if (request.len > most_on_a_loop) {
        return stream_call::start(m.ctx_, driver.at(),
                                  [&driver, json = ry::text(request)] { return driver.prepare(json); }, by, call);
      }
      try {
        return stream_call::start(m.ctx_, driver.at(), driver.prepare(ry::view(request)), by, call);
      } catch (const bad_request& why) {
        m.ctx_.log(RY_LOG_WARN, "a request was refused", {{"reason", std::string_view(why.what())}});
        return RY_INVALID_ARGUMENT;
      }
    });
  }
  static void cancel(void*, void* call) noexcept { stream_call::cancel(call); }

  ry::context& ctx_;
};

}  // namespace llm
