// One mapped shared library of a module. Loading runs its constructors: call inspect() first.
#pragma once

#include <ry/abi.h>

#include <memory>
#include <optional>

#include "core/module/code_map.hpp"
#include "core/module/file_image.hpp"

namespace boost::dll {
class shared_library;
}

namespace ry::module {

class library {
 public:
  // Maps the image with all symbols resolved immediately (RTLD_NOW) and none shared (RTLD_LOCAL). The original file
  // may change or disappear. Throws std::runtime_error with a message for the operator.
  explicit library(std::shared_ptr<const sealed_image> image);
  // Unmaps the library, unless pin() was called.
  ~library();
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  // Calls ry_module_entry(). Throws std::runtime_error if it is not exported or throws.
  const ry_module_v1* descriptor() const;
  // Keeps the code mapped until the process ends, even after close().
  void pin() noexcept;
  // Unmaps the library. Returns false if the code stays mapped (pinned, or kept by its thread-locals). Nothing of the
  // library may be used afterwards.
  bool close() noexcept;
  // Attributes the code to a host, see code_range.
  void belongs_to(ry_host* host) noexcept;

 private:
  const std::shared_ptr<const sealed_image> image_;
  const std::unique_ptr<boost::dll::shared_library> loaded_;
  std::optional<code_range> range_;
};

}  // namespace ry::module
