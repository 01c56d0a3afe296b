// Driver `offline` of llm.provider/1: no language model, but real tool calls.
#include <memory>
#include <ry/ry.hpp>

#include "playback.hpp"
#include "request.hpp"
#include "settings.hpp"

namespace {

class offline_module {
 public:
  offline_module(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    static constexpr ry_llm_provider_v1 table{
        sizeof(ry_llm_provider_v1), 0, &open, &close, &complete, &cancel, nullptr};
    reg.contribute(RY_LLM_PROVIDER_1, "offline", &table, this);
  }

 private:
  static ry_status open(void*, ry_str, ry_str config_json, void** provider, ry_errbuf* err) noexcept {
    return ry::guard(
        [&] {
          const auto config = llm::parse_config(ry::view(config_json), {"delay_ms", "chunk_bytes"});
          auto rate = std::make_unique<offline::playback_rate>();
          rate->delay_ms = static_cast<std::uint64_t>(llm::number_setting(config, "delay_ms", 15, 0, 60'000));
          rate->chunk_bytes = static_cast<std::size_t>(llm::number_setting(config, "chunk_bytes", 24, 1, 65'536));
          *provider = rate.release();
        },
        err);
  }
  static void close(void*, void* provider) noexcept { delete static_cast<offline::playback_rate*>(provider); }
  static ry_status complete(void* self, void* provider, ry_str request, ry_exec* exec, const ry_llm_sink* sink,
                            void* ctx, void** call) noexcept {
    auto& m = *static_cast<offline_module*>(self);
    return ry::guard([&]() -> ry_status {
      try {
        return offline::playback::start(m.ctx_, offline::make_plan(ry::view(request)),
                                        *static_cast<const offline::playback_rate*>(provider), request.len, exec, *sink,
                                        ctx, call);
      } catch (const llm::bad_request& e) {
        m.ctx_.log(RY_LOG_WARN, "a request was refused", {{"reason", std::string_view(e.what())}});
        return RY_INVALID_ARGUMENT;
      }
    });
  }
  static void cancel(void*, void* call) noexcept { offline::playback::cancel(call); }

  ry::context& ctx_;
};

}  // namespace

RY_MODULE(offline_module, "llm_offline", "1.0.0", .needs("llm.provider/1"));
