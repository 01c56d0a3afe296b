// Bodies of e-mails for mail.enqueue(), encrypted by the module mail.
#pragma once

#include <ry/svc/mail.h>
#include <ry/ry.hpp>

#include <string>
#include <string_view>

namespace ry {

// For the parameter body_text; body_html is then null. html: empty: none. Throws ry::error.
inline std::string seal_mail_bodies(const service<ry_mail_v1>& mail, std::string_view text, std::string_view html) {
  return detail::taken("mail.seal_bodies",
                       [&](ry_take_fn take, void* ctx) {
                         return mail->seal_bodies(mail.self(), str(text), str(html), take, ctx);
                       })
      .value();
}

}  // namespace ry
