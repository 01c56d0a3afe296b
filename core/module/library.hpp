// One mapped shared library of a module. Loading runs its constructors: inspect() first.
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
  // Maps the image with every symbol resolved at once and none shared with others. The file that it was made from may
  // change or go. Throws std::runtime_error with a sentence.
  explicit library(std::shared_ptr<const sealed_image> image);
  // Unmaps, unless pin() was called.
  ~library();
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  // Calls ry_module_entry(). Throws std::runtime_error: not exported, or an exception came out.
  const ry_module_v1* descriptor() const;
  // The code stays mapped until the process ends, whoever closes it.
  void pin() noexcept;
  // Unmaps now. False: the code is still there (pinned, or its thread-locals keep it). Nothing of
  // the library may be used after this.
  bool close() noexcept;
  // Who answers for its code, see code_range.
  void belongs_to(ry_host* host) noexcept;

 private:
  const std::shared_ptr<const sealed_image> image_;
  const std::unique_ptr<boost::dll::shared_library> loaded_;
  std::optional<code_range> range_;
};

}  // namespace ry::module
