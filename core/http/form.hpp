// A form on its way in: parts kept in memory, files on disk, limits with their reasons. The parsing
// is done on the request's loop; what touches the disk is collected in batches that the caller runs
// on a thread that may block, one at a time.
#pragma once

#include <ry/if/http.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/error.hpp"
#include "core/http/multipart.hpp"

namespace ry::http::serving {

// File work in order; made on the loop, run once elsewhere.
struct spool_batch {
  struct op {
    enum class kind { open, write, close };
    kind what;
    std::string path;                 // open
    std::size_t offset = 0, len = 0;  // write: a piece of `data`
  };
  std::vector<op> ops;
  std::string data;
  bool empty() const noexcept { return ops.empty(); }
};

// The files of one form. run() is never called twice at once.
class spool {
 public:
  ~spool();
  // 0, or the errno of what failed. [blocking]
  int run(const spool_batch& batch) noexcept;

 private:
  int fd_ = -1;
};

class form_reader final : private multipart_parser::sink {
 public:
  struct file_names {
    std::string prefix;  // "<dir>/form-1a2b-"
    std::uint64_t next = 0;
  };
  struct part {
    std::string name, filename, content_type, value, path;
    std::uint64_t size = 0;
    bool is_file = false;
  };

  // `names` outlives this object; it gives out file names. A content type that is no form: see
  // failed().
  form_reader(std::string_view content_type, const ry_form_limits& limits, file_names& names);
  form_reader(const form_reader&) = delete;
  form_reader& operator=(const form_reader&) = delete;

  // A piece of the body; the form is broken or over a limit when failed() is set afterwards.
  void feed(std::string_view data);
  void finish();
  // A batch failed with this errno.
  void fail_disk(int error);
  // The body itself failed.
  void fail_body(core::error e) {
    if (!failed_) failed_ = std::move(e);
  }
  const std::optional<core::error>& failed() const noexcept { return failed_; }

  // Bytes that wait for the disk.
  std::size_t unwritten() const noexcept { return batch_.data.size(); }
  bool has_batch() const noexcept { return !batch_.empty(); }
  spool_batch take_batch();

  // Valid after finish(), as long as this object.
  ry_form view();
  // Files that were begun, to be deleted with the request.
  std::vector<std::string> paths() const;

 private:
  enum class kind { multipart, urlencoded, none };
  bool part_begin(const multipart_parser::part_head& head) override;
  bool part_data(std::string_view data) override;
  bool part_end() override;
  bool over(const char* reason, const char* message, std::uint64_t limit);
  void malformed(const char* why);
  void urlencoded_pair(std::string_view pair);
  // That many bytes more stay in memory.
  bool keep(std::uint64_t bytes);

  ry_form_limits limits_;
  std::uint64_t max_in_memory_;  // values, names, file names and types together
  file_names& names_;
  kind kind_ = kind::none;
  std::optional<multipart_parser> multipart_;
  std::string pending_pair_;
  std::vector<part> parts_;
  std::vector<ry_form_part> views_;
  spool_batch batch_;
  std::uint64_t total_ = 0;
  std::uint64_t in_memory_ = 0;
  std::uint32_t files_ = 0;
  std::optional<core::error> failed_;
};

// Fills in the defaults of members that are 0 or that the caller's struct is too short for.
ry_form_limits complete_limits(const ry_form_limits* given, std::uint64_t default_total) noexcept;

}  // namespace ry::http::serving
