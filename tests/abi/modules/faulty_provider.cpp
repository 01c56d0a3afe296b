// A driver of llm.provider/1 (kind "faulty") that violates the contract in each response; the model name selects how:
// silent        no end, not even after cancel()
// late          text and a second end after the end
// inside        all callbacks inside complete()
// elsewhere     all callbacks on another thread
// good          no violation
#include <ry/ext/llm_provider.h>

#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <thread>

namespace {

struct answer {
  ry_llm_sink sink;
  void* ctx;
  std::string fault;

  void text(const char* t) const { sink.on_text(ctx, ry::str(t)); }
  void end() const {
    ry_llm_end e{};
    e.struct_size = sizeof e;
    e.finish = RY_LLM_FINISH_STOP;
    e.usage.struct_size = sizeof e.usage;
    e.usage.output_tokens = 3;
    sink.on_end(ctx, RY_OK, &e, nullptr);
  }
  void whole() const {
    text("a sound answer");
    end();
  }
};

class faulty {
 public:
  faulty(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    reg.contribute(RY_LLM_PROVIDER_1, "faulty", table(), this);
  }

 private:
  ry_status begin(std::string_view request, ry_exec* exec, const ry_llm_sink& sink, void* ctx, void** call) {
    answer a{sink, ctx, {}};
    for (const char* fault : {"silent", "late", "inside", "elsewhere"})
      if (request.find(std::string("\"model\":\"") + fault + '"') != request.npos) a.fault = fault;
    *call = this;
    if (a.fault == "silent") return RY_OK;
    if (a.fault == "inside") {
      a.whole();
    } else if (a.fault == "elsewhere") {
      std::thread([a] { a.whole(); }).detach();
    } else {
      ctx_.post(exec, [a] {
        a.whole();
        if (a.fault.empty()) return;
        a.text(" and more");
        a.end();
      });
    }
    return RY_OK;
  }
  static const ry_llm_provider_v1* table() noexcept {
    static const ry_llm_provider_v1 t = [] {
      ry_llm_provider_v1 v{};
      v.struct_size = sizeof v;
      v.open = [](void* self, ry_str, ry_str, void** provider, ry_errbuf*) noexcept {
        *provider = self;
        return RY_OK;
      };
      v.close = [](void*, void*) noexcept {};
      v.complete = [](void* self, void*, ry_str request, ry_exec* exec, const ry_llm_sink* sink, void* ctx,
                      void** call) noexcept {
        return ry::guard([&] { return static_cast<faulty*>(self)->begin(ry::view(request), exec, *sink, ctx, call); });
      };
      v.cancel = [](void*, void*) noexcept {};
      return v;
    }();
    return &t;
  }

  ry::context& ctx_;
};

}  // namespace

RY_MODULE(faulty, ABI_NAME, "1.0.0", .needs("ry.core/1", RY_LLM_PROVIDER_1).settings("{}"));
