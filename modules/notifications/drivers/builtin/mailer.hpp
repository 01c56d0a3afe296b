// Sends e-mails through the module mail.
#pragma once

#include <ry/svc/mail.h>
#include <ry/cpp/notify.hpp>
#include <ry/ry.hpp>

namespace notify_builtin {

class mailer {
 public:
  explicit mailer(const ry::context& ctx) : ctx_(ctx) {}
  // Call it once before the first use. Without the module mail, e-mails are skipped.
  void start();

  ry::task<ry::notify::result> send(ry::notify::notification n) const;
  // Returns the results of sent messages, in their order.
  ry::task<ry::notify::results> follow(std::vector<ry::notify::sent> sent) const;

 private:
  const ry::context& ctx_;
  ry::service<ry_mail_v1> mail_;
};

}  // namespace notify_builtin
