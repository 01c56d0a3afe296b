#define BOOST_DLL_USE_STD_FS
#include "core/module/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <boost/dll/shared_library.hpp>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "core/module/host.hpp"
#include "core/module/symbol_versions.hpp"

namespace ry::module {

namespace {

// Sanitizers need a library's code mapped at exit to symbolise their reports. RY_SANITIZE_UNMAP gives up the symbols,
// so that use after unmapping is detected.
bool always_pinned() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return std::getenv("RY_SANITIZE_UNMAP") == nullptr;
#else
  return false;
#endif
}

[[noreturn]] void reject_library(const std::string& what) {
  throw std::runtime_error(what);
}

}  // namespace

library::library(std::shared_ptr<const sealed_image> image)
    : image_(std::move(image)), loaded_(std::make_unique<boost::dll::shared_library>()) {
  using boost::dll::load_mode::type;
  if (!image_->has_path()) {
    // The loader would return the library loaded first for this path, even if the file has changed.
    if (void* already = ::dlopen(image_->path().c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      ::dlclose(already);
      reject_library("it is already loaded; without /proc, a file cannot be loaded a second time");
    }
  }
  std::error_code failed;
  loaded_->load(image_->path(), failed, type::rtld_now | type::rtld_local);
  if (failed) {
    const char* error = ::dlerror();
    // The path of the copy means nothing to the operator, so it is removed.
    reject_library(explain_loader(error != nullptr ? error : "it gives no reason", image_->path()));
  }
  link_map* mapped = nullptr;
  if (::dlinfo(loaded_->native(), RTLD_DI_LINKMAP, &mapped) == 0)
    range_.emplace(mapped->l_ld, image_->file().stem().string());
  if (always_pinned()) pin();
}

library::~library() {
  if (loaded_->is_loaded()) close();
}

const ry_module_v1* library::descriptor() const {
  if (!loaded_->has("ry_module_entry")) reject_library("it does not export ry_module_entry");
  const auto entry = &loaded_->get<const ry_module_v1*()>("ry_module_entry");
  try {
    return entry();
  } catch (const std::exception& e) {
    reject_library(std::string("its ry_module_entry threw an exception: ") + e.what());
  } catch (...) {
    reject_library("its ry_module_entry threw an exception");
  }
}

void library::pin() noexcept {
  // This reference is never released.
  if (::dlopen(image_->path().c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) != nullptr) image_->keep_open();
}

bool library::close() noexcept {
  loaded_->unload();
  void* still = ::dlopen(image_->path().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  const bool gone = still == nullptr;
  if (!gone) {
    ::dlclose(still);
    // The loader identifies the library by its path, so the path must not be reused for another copy.
    image_->keep_open();
    if (range_) range_->stays();
  }
  range_.reset();
  return gone;
}

void library::belongs_to(ry_host* host) noexcept {
  if (range_) range_->belongs_to(host, host != nullptr ? std::string_view(host->name) : std::string_view());
}

}  // namespace ry::module
