// The stored form of message bodies: sealed with the deployment's key and the context "mail.body".
//
// Thread: any. Errors: seal() throws ry::error; open() returns it (RY_DATA_LOSS: the key has changed, or the text is
// damaged).
#pragma once

#include <ry/ry.hpp>
#include <string>
#include <string_view>

namespace mail {

struct bodies {
  std::string text, html;  // html empty: text only
};

inline constexpr std::string_view unsubscribe_mark = "{{unsubscribe_url}}";

bool is_sealed(std::string_view body_text) noexcept;
std::string seal_bodies(const ry::context& ctx, std::string_view text, std::string_view html);
ry::result<bodies> open_bodies(const ry::context& ctx, std::string_view body_text);

}  // namespace mail
