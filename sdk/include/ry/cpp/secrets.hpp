// Encryption at rest and masking in the log: ry.secrets/1.
#pragma once

#include <ry/cpp/take.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace ry {

// Masks a text in the host's log during the lifetime of this object and for a while afterwards.
class masked_text {
 public:
  masked_text(const context& ctx, std::string text) : ctx_(&ctx), text_(std::move(text)) {
    table().mask(ctx_->host(), str(text_));
  }
  masked_text(masked_text&& other) noexcept : ctx_(std::exchange(other.ctx_, nullptr)), text_(std::move(other.text_)) {}
  masked_text& operator=(masked_text&&) = delete;
  ~masked_text() {
    if (ctx_ != nullptr) table().unmask(ctx_->host(), str(text_));
  }

 private:
  const ry_secrets_v1& table() const noexcept { return ctx_->interface<ry_secrets_v1>(); }
  const context* ctx_;
  std::string text_;
};

class secrets {
 public:
  explicit secrets(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_secrets_v1>()) {}
  // Encrypts; `binding` ("mcp.header:<row id>") binds the result to its use.
  result<std::string> seal(std::string_view binding, std::string_view plain) const {
    return detail::taken("secrets.seal", [&](ry_take_fn take, void* p) {
      return table_->seal(ctx_->host(), str(binding), raw(plain), take, p);
    });
  }
  result<std::string> open(std::string_view binding, std::string_view sealed) const {
    return detail::taken("secrets.open", [&](ry_take_fn take, void* p) {
      return table_->open(ctx_->host(), str(binding), raw(sealed), take, p);
    });
  }
  // Masks this text in the host's log permanently; use masked_text for a user's secret.
  void redact(std::string_view secret) const noexcept { table_->redact(ctx_->host(), str(secret)); }

 private:
  const context* ctx_;
  const ry_secrets_v1* table_;
};
inline secrets context::secrets() const {
  return ry::secrets(*this);
}

}  // namespace ry
