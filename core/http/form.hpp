// Reads a form while it is received: values stay in memory, files go to disk, limits apply to both. Parsing runs on the
// request's loop; disk operations are collected in batches, which the caller runs on a blocking thread, one at a time.
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

// Ordered file operations; filled on the loop, run once on a blocking thread.
struct spool_batch {
  struct op {
    enum class kind { open, write, close };
    kind what;
    std::string path;  // open
    std::size_t offset = 0, len = 0;  // write: a piece of `data`
  };
  std::vector<op> ops;
  std::string data;
  bool empty() const noexcept { return ops.empty(); }
};

// Writes the files of one form. Calls of run() must not overlap.
class spool {
 public:
  ~spool();
  // Returns 0 or the errno of the failed operation. [blocking]
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

  // `names` generates file names and outlives this object. A content type other than a form sets failed().
  form_reader(std::string_view content_type, const ry_form_limits& limits, file_names& names);
  form_reader(const form_reader&) = delete;
  form_reader& operator=(const form_reader&) = delete;

  // Takes a piece of the body. Sets failed() if the form is malformed or over a limit.
  void feed(std::string_view data);
  void finish();
  // Reports that a batch failed with this errno.
  void fail_disk(int error);
  // Reports that receiving the body failed.
  void fail_body(core::error e) {
    if (!failed_) failed_ = std::move(e);
  }
  const std::optional<core::error>& failed() const noexcept { return failed_; }

  // Bytes not yet passed to a batch.
  std::size_t unwritten() const noexcept { return batch_.data.size(); }
  bool has_batch() const noexcept { return !batch_.empty(); }
  spool_batch take_batch();

  // Call it after finish(). The view is valid for the lifetime of this object.
  ry_form view();
  // The files created so far; the caller deletes them with the request.
  std::vector<std::string> paths() const;

 private:
  enum class kind { multipart, urlencoded, none };
  bool part_begin(const multipart_parser::part_head& head) override;
  bool part_data(std::string_view data) override;
  bool part_end() override;
  bool over(const char* reason, const char* message, std::uint64_t limit);
  void malformed(const char* why);
  void urlencoded_pair(std::string_view pair);
  // Counts bytes kept in memory; false: over the limit.
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

// Sets the defaults of members that are 0 or beyond the size of the caller's struct.
ry_form_limits complete_limits(const ry_form_limits* given, std::uint64_t default_total) noexcept;

}  // namespace ry::http::serving
