#include "core/http/form.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/http/answer.hpp"
#include "core/http/message.hpp"
#include "core/http/uri.hpp"
#include "core/observe/log.hpp"

namespace ry::http::serving {

spool::~spool() {
  if (fd_ >= 0) ::close(fd_);
}

int spool::run(const spool_batch& batch) noexcept {
  for (const auto& op : batch.ops) {
    switch (op.what) {
      case spool_batch::op::kind::open:
        fd_ = ::open(op.path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (fd_ < 0) return errno;
        break;
      case spool_batch::op::kind::write: {
        const char* p = batch.data.data() + op.offset;
        std::size_t left = op.len;
        while (left > 0) {
          const auto n = ::write(fd_, p, left);
          if (n < 0 && errno == EINTR) continue;
          if (n <= 0) return n < 0 ? errno : EIO;
          p += n;
          left -= static_cast<std::size_t>(n);
        }
        break;
      }
      case spool_batch::op::kind::close:
        if (::close(std::exchange(fd_, -1)) != 0) return errno;
        break;
    }
  }
  return 0;
}

ry_form_limits complete_limits(const ry_form_limits* given, std::uint64_t default_total) noexcept {
  ry_form_limits l{sizeof(ry_form_limits), 0, 0, 0, 0, 0, 0};
  if (RY_HAS(given, ry_form_limits, max_files)) l.max_files = given->max_files;
  if (RY_HAS(given, ry_form_limits, max_file_bytes)) l.max_file_bytes = given->max_file_bytes;
  if (RY_HAS(given, ry_form_limits, max_total_bytes)) l.max_total_bytes = given->max_total_bytes;
  if (RY_HAS(given, ry_form_limits, max_value_bytes)) l.max_value_bytes = given->max_value_bytes;
  if (RY_HAS(given, ry_form_limits, max_parts)) l.max_parts = given->max_parts;
  if (l.max_total_bytes == 0) l.max_total_bytes = default_total;
  if (l.max_file_bytes == 0) l.max_file_bytes = l.max_total_bytes;
  if (l.max_files == 0) l.max_files = 1000;
  if (l.max_value_bytes == 0) l.max_value_bytes = 1024 * 1024;
  if (l.max_parts == 0) l.max_parts = 1000;
  return l;
}

form_reader::form_reader(std::string_view content_type, const ry_form_limits& limits, file_names& names)
    : limits_(limits), max_in_memory_(std::max<std::uint64_t>(2 * 1024 * 1024, limits.max_value_bytes)), names_(names) {
  const auto semi = content_type.find(';');
  auto type = content_type.substr(0, semi);
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  if (iequals(type, "application/x-www-form-urlencoded")) {
    kind_ = kind::urlencoded;
    return;
  }
  if (!iequals(type, "multipart/form-data")) {
    failed_ = core::error{RY_INVALID_ARGUMENT,
                          "http.form_malformed",
                          "Content-Type must be multipart/form-data or "
                          "application/x-www-form-urlencoded",
                          {},
                          415,
                          0};
    return;
  }
  const auto boundary = multipart_boundary(content_type);
  if (boundary.empty()) {
    malformed("Content-Type has no usable boundary");
    return;
  }
  kind_ = kind::multipart;
  multipart_.emplace(boundary, static_cast<multipart_parser::sink&>(*this));
}

void form_reader::malformed(const char* why) {
  failed_ = core::error{RY_INVALID_ARGUMENT, "http.form_malformed", std::string("Malformed form: ") + why, {}, 400, 0};
}

void form_reader::fail_disk(int error) {
  observe::log(observe::level::error, "http", "an uploaded file could not be stored",
               {{"error", std::error_code(error, std::generic_category()).message()}});
  if (error == ENOSPC || error == EDQUOT)
    failed_ = core::error{RY_UNAVAILABLE, "http.spool_full", "No disk space to store the upload", {}, 507, 0};
  else
    failed_ = core::error{RY_UNAVAILABLE, "http.spool_failed", "The upload could not be stored", {}, 503, 0};
}

bool form_reader::over(const char* reason, const char* message, std::uint64_t limit) {
  core::error e{RY_RESOURCE_EXHAUSTED, reason, message, "{\"message\":", 413, 0};
  append_json_string(e.detail_json, message);
  e.detail_json += ",\"limit\":";
  append_number(e.detail_json, limit);
  e.detail_json += ",\"field\":";
  append_json_string(e.detail_json, parts_.empty() ? std::string_view() : parts_.back().name);
  e.detail_json += '}';
  failed_ = std::move(e);
  return false;
}

void form_reader::feed(std::string_view data) {
  if (failed_) return;
  total_ += data.size();
  if (total_ > limits_.max_total_bytes) {
    over("http.form_too_large", "The form is too large", limits_.max_total_bytes);
    return;
  }
  if (kind_ == kind::multipart) {
    if (multipart_->feed(data) == multipart_parser::state::malformed) malformed(multipart_->error());
    return;
  }
  pending_pair_.append(data);
  std::size_t at = 0;
  for (auto amp = pending_pair_.find('&'); amp != std::string::npos && !failed_; amp = pending_pair_.find('&', at)) {
    urlencoded_pair(std::string_view(pending_pair_).substr(at, amp - at));
    at = amp + 1;
  }
  pending_pair_.erase(0, at);
  // Percent-encoding makes a value at most three times as long.
  if (!failed_ && pending_pair_.size() > 3 * limits_.max_value_bytes + 1024)
    over("http.form_too_large", "A field of the form is too large", limits_.max_value_bytes);
}

void form_reader::finish() {
  if (failed_) return;
  if (kind_ == kind::multipart) {
    if (multipart_->finish() == multipart_parser::state::malformed) malformed(multipart_->error());
  } else {
    urlencoded_pair(pending_pair_);
  }
}

void form_reader::urlencoded_pair(std::string_view pair) {
  if (pair.empty()) return;
  if (parts_.size() >= limits_.max_parts) {
    over("http.form_too_many_parts", "The form has too many fields", limits_.max_parts);
    return;
  }
  const auto eq = pair.find('=');
  part p;
  if (!form_decode(pair.substr(0, eq), p.name) ||
      (eq != std::string_view::npos && !form_decode(pair.substr(eq + 1), p.value)))
    return malformed("a field is badly encoded");
  p.size = p.value.size();
  parts_.push_back(std::move(p));
  const auto& kept = parts_.back();
  if (kept.size > limits_.max_value_bytes)
    over("http.form_too_large", "A field of the form is too large", limits_.max_value_bytes);
  else
    keep(kept.name.size() + kept.size);
}

bool form_reader::keep(std::uint64_t bytes) {
  in_memory_ += bytes;
  return in_memory_ <= max_in_memory_ ||
         over("http.form_too_large", "The fields of the form are too large together", max_in_memory_);
}

bool form_reader::part_begin(const multipart_parser::part_head& head) {
  if (parts_.size() >= limits_.max_parts)
    return over("http.form_too_many_parts", "The form has too many parts", limits_.max_parts);
  parts_.push_back({head.name, head.filename, head.content_type, {}, {}, 0, head.is_file});
  auto& p = parts_.back();
  if (!keep(p.name.size() + p.filename.size() + p.content_type.size())) return false;
  if (!p.is_file) return true;
  if (++files_ > limits_.max_files)
    return over("http.form_too_many_files", "The form has too many files", limits_.max_files);
  p.path = names_.prefix + std::to_string(names_.next++);
  batch_.ops.push_back({spool_batch::op::kind::open, p.path});
  return true;
}

bool form_reader::part_data(std::string_view data) {
  auto& p = parts_.back();
  p.size += data.size();
  if (!p.is_file) {
    if (p.size > limits_.max_value_bytes)
      return over("http.form_too_large", "A field of the form is too large", limits_.max_value_bytes);
    if (!keep(data.size())) return false;
    p.value.append(data);
    return true;
  }
  if (p.size > limits_.max_file_bytes)
    return over("http.form_file_too_large", "A file of the form is too large", limits_.max_file_bytes);
  auto& last = batch_.ops;
  const auto offset = batch_.data.size();
  batch_.data.append(data);
  if (!last.empty() && last.back().what == spool_batch::op::kind::write)
    last.back().len += data.size();
  else
    last.push_back({spool_batch::op::kind::write, {}, offset, data.size()});
  return true;
}

bool form_reader::part_end() {
  if (parts_.back().is_file) batch_.ops.push_back({spool_batch::op::kind::close, {}});
  return true;
}

spool_batch form_reader::take_batch() {
  return std::exchange(batch_, {});
}

ry_form form_reader::view() {
  views_.clear();
  views_.reserve(parts_.size());
  for (const auto& p : parts_)
    views_.push_back({sizeof(ry_form_part), p.is_file ? 1u : 0u, core::view(p.name), core::view(p.filename),
                      core::view(p.content_type), core::view(p.value), core::view(p.path), p.size});
  return {sizeof(ry_form), sizeof(ry_form_part), views_.data(), views_.size()};
}

std::vector<std::string> form_reader::paths() const {
  std::vector<std::string> out;
  for (const auto& p : parts_)
    if (!p.path.empty()) out.push_back(p.path);
  return out;
}

}  // namespace ry::http::serving
