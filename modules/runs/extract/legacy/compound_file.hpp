// Reads the streams of a compound file (OLE, [MS-CFB]) using libgsf.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct _GsfInfile;

namespace extract {

class compound_file {
 public:
  explicit compound_file(const std::string& path);
  bool readable() const { return root_ != nullptr; }
  // Names are case-insensitive.
  bool has(std::string_view name) const { return find(name).has_value(); }
  // Empty: the stream is missing or larger than 64 MiB.
  std::string stream(std::string_view name) const;
  // The storage (folder) with this name; not readable if it is missing.
  compound_file storage(std::string_view name) const;

 private:
  explicit compound_file(_GsfInfile* root) : root_(root) {}
  struct unref {
    void operator()(_GsfInfile* file) const;
  };
  std::optional<int> find(std::string_view name) const;
  std::unique_ptr<_GsfInfile, unref> root_;
};

}  // namespace extract
