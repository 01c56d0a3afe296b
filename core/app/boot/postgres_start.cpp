#include "core/app/boot/postgres_start.hpp"

#include "core/app/boot/settings.hpp"

namespace ry::app {

postgres_start::postgres_start(const config::config& c, const data_dir_lock& dir_lock) : settings_(db_settings(c)) {
  if (!settings_.connect.url.empty()) return;
  db::embedded_settings s;
  s.data_dir = dir_lock.data_dir();
  own_.emplace(std::move(s));
  starting_ = std::async(std::launch::async, [this] { own_->start(); });
}

postgres_start::~postgres_start() {
  stop();
}

db::settings postgres_start::wait() {
  if (starting_.valid()) starting_.get();
  if (own_) {
    settings_.connect.url = own_->url();
    settings_.connect.live->set(own_->url());
  }
  return settings_;
}

void postgres_start::stop() {
  if (starting_.valid()) starting_.wait();
  if (own_) own_->stop();
}

}  // namespace ry::app
