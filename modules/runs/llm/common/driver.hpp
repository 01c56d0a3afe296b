// Implements llm.provider/1 for a driver over HTTP. A Driver has:
//   static constexpr const char* kind;
//   explicit Driver(std::string_view name, std::string_view config_json);   // throws ry::error
//   const llm::endpoint& at() const;
//   llm::exchange prepare(std::string_view request_json) const;             // throws llm::bad_request
//   ry_llm_limits limits() const;                                           // struct_size is not read
#pragma once

#include <ry/ext/llm_provider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "image_type.hpp"
#include "request.hpp"
#include "stream_call.hpp"

namespace llm {

// Larger requests are built on a blocking thread, because each MiB of images takes several milliseconds.
inline constexpr std::size_t max_bytes_built_on_loop = 512 * 1024;

// Logs changes to requests. Logs each message once, because later requests of the run contain the same changes.
// Thread: any.
class notice_log {
 public:
  void write(const ry::context& ctx, std::string_view provider, const std::vector<notice>& notices) {
    for (const auto& n : notices) {
      {
        const std::lock_guard lock(mutex_);
        if (written_.size() >= max_remembered) written_.clear();
        if (!written_.insert(std::hash<std::string_view>()(n.message)).second) continue;
      }
      ctx.log(RY_LOG_WARN, "a request was changed for its model provider",
              {{"provider", provider}, {"code", n.code}, {"change", std::string_view(n.message)}});
    }
  }

 private:
  static constexpr std::size_t max_remembered = 1024;
  std::mutex mutex_;
  std::unordered_set<std::size_t> written_;
};

// Converts a provider's rules for the runs module.
inline ry_llm_limits limits_of(std::size_t tools, const image_limits& images) {
  ry_llm_limits out{};
  out.tools = static_cast<std::uint32_t>(tools);
  out.image_side = images.side;
  out.many_images = static_cast<std::uint32_t>(images.many);
  out.image_side_of_many = images.side_of_many;
  out.gifs = images.gifs == image_limits::gif::none    ? RY_LLM_GIF_NONE
             : images.gifs == image_limits::gif::still ? RY_LLM_GIF_STILL
                                                       : 0u;
  out.image_bytes = images.encoded_bytes;
  out.output_schema = 1;  // natively, or by take_output_schema()
  return out;
}

template <class Driver>
class http_driver_module {
 public:
  http_driver_module(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    static constexpr ry_llm_provider_v1 table{
        sizeof(ry_llm_provider_v1), 0, &open, &close, &complete, &cancel, &limits};
    reg.contribute(RY_LLM_PROVIDER_1, Driver::kind, &table, this);
  }

 private:
  // A configured provider.
  struct opened {
    Driver driver;
    endpoint at;
  };

  static ry_status open(void* self, ry_str name, ry_str config, void** provider, ry_errbuf* err) noexcept {
    return ry::guard(
        [&] {
          Driver driver(ry::view(name), ry::view(config));
          endpoint at = driver.at();
          at.trust = static_cast<http_driver_module*>(self)->trust(at.ca_pem);
          at.ca_pem.clear();
          *provider = new opened{std::move(driver), std::move(at)};
        },
        err);
  }
  // Throws ry::error about the setting ca_file.
  std::uint64_t trust(const std::string& pem) {
    if (pem.empty()) return 0;
    char text[256];
    ry_errbuf error{text, sizeof text, 0};
    std::uint64_t number = 0;
    const auto st = ctx_.interface<ry_http_client_v1>().trust(ctx_.host(), ry::str(pem), &number, &error);
    if (st != RY_OK) throw ry::bad_request("llm.config", "ca_file cannot be used: " + std::string(text, error.len));
    return number;
  }
  static void close(void*, void* provider) noexcept { delete static_cast<opened*>(provider); }
  static ry_status complete(void* self, void* provider, ry_str request, ry_exec* exec, const ry_llm_sink* sink,
                            void* ctx, void** call) noexcept {
    auto& m = *static_cast<http_driver_module*>(self);
    return ry::guard([&]() -> ry_status {
      const auto& [driver, at] = *static_cast<const opened*>(provider);
      const stream_call::caller from{exec, *sink, ctx, estimate_tokens(request.len)};
      if (request.len > max_bytes_built_on_loop) {
        auto build = [&m, &of = driver, json = ry::text(request)] { return m.prepare(of, json); };
        return stream_call::start(m.ctx_, at, std::move(build), from, call);
      }
      try {
        return stream_call::start(m.ctx_, at, m.prepare(driver, ry::view(request)), from, call);
      } catch (const bad_request& e) {
        m.ctx_.log(RY_LOG_WARN, "a request was refused", {{"reason", std::string_view(e.what())}});
        return RY_INVALID_ARGUMENT;
      }
    });
  }
  static void cancel(void*, void* call) noexcept { stream_call::cancel(call); }
  static ry_status limits(void*, void* provider, ry_str, ry_llm_limits* out) noexcept {
    return ry::guard([&] {
      ry_llm_limits reported = static_cast<const Driver*>(provider)->limits();
      reported.struct_size = out->struct_size;
      std::memcpy(out, &reported, std::min<std::size_t>(out->struct_size, sizeof reported));
    });
  }

  exchange prepare(const Driver& driver, std::string_view request) {
    exchange e = driver.prepare(request);
    notices_.write(ctx_, driver.at().name, e.notices);
    return e;
  }

  ry::context& ctx_;
  notice_log notices_;
};

}  // namespace llm
