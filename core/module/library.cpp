#define BOOST_DLL_USE_STD_FS
#include "core/module/library.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/module/file_image.hpp"

namespace ry::module {

namespace {

// The sanitizers' reports need the code of a library to be there at exit. RY_SANITIZE_UNMAP gives their names up,
// so that what is used after it was unmapped is found.
bool always_pinned() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return std::getenv("RY_SANITIZE_UNMAP") == nullptr;
#else
  return false;
#endif
}

[[noreturn]] void refuse(const std::string& what) {
  throw std::runtime_error(what);
}

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
  return out;
}

// A descriptor of bytes that nobody can change any more.
int sealed_copy(std::string_view image, const std::string& name) {
  const int fd = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) refuse("no memory file for it: " + std::generic_category().message(errno));
  std::size_t done = 0;
  while (done < image.size()) {
    const ssize_t n = ::write(fd, image.data() + done, image.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = errno;
      ::close(fd);
      refuse("its copy in memory failed: " + std::generic_category().message(error));
    }
    done += static_cast<std::size_t>(n);
  }
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
    const int error = errno;
    ::close(fd);
    refuse("its copy in memory cannot be sealed: " + std::generic_category().message(error));
  }
  return fd;
}

}  // namespace

struct library::impl {
  boost::dll::shared_library handle;
  std::string path;  // as given to dlopen
  int fd = -1;       // open as long as the library: the loader knows it by this number
  bool pinned = false;

  ~impl() {
    handle.unload();
    // A pinned library keeps its descriptor too, or its name could come to mean another file.
    if (fd >= 0 && !pinned) ::close(fd);
  }
};

library::library(const std::filesystem::path& file, std::string_view sha256_pin, source from,
                 const rehearsal& rehearse)
    : impl_(std::make_unique<impl>()) {
  impl_->path = std::filesystem::absolute(file).string();
  if (!sha256_pin.empty() || from == source::copy) {
    const std::string image = read_image(file);
    if (const std::string found = sha256_hex(image);
        !sha256_pin.empty() && found != lower(sha256_pin))
      refuse("it has the SHA-256 " + found + ", but the configuration pins " + lower(sha256_pin) +
             "; install the pinned file or change the pin");
    impl_->fd = sealed_copy(image, "runyard-" + file.filename().string());
    impl_->path = "/proc/self/fd/" + std::to_string(impl_->fd);
  }
  if (rehearse) {
    const std::string there =
        impl_->fd < 0 ? impl_->path : "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(impl_->fd);
    if (const std::string why = rehearse(there); !why.empty()) refuse(why);
  }
  try {
    using boost::dll::load_mode::type;
    impl_->handle.load(impl_->path, type::rtld_now | type::rtld_local);
  } catch (const std::exception& e) {
    refuse(std::string("the dynamic loader refuses it: ") + e.what());
  }
  if (always_pinned()) pin();
}

library::~library() = default;

const ry_module_v1* library::descriptor() const {
  if (!impl_->handle.has("ry_module_entry")) refuse("it does not export ry_module_entry");
  const auto entry = &impl_->handle.get<const ry_module_v1*()>("ry_module_entry");
  try {
    return entry();
  } catch (const std::exception& e) {
    refuse(std::string("its ry_module_entry threw an exception: ") + e.what());
  } catch (...) {
    refuse("its ry_module_entry threw an exception");
  }
}

void library::pin() noexcept {
  if (impl_->pinned) return;
  // The second reference is never given back.
  impl_->pinned = ::dlopen(impl_->path.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
}

bool library::close() {
  const std::string path = impl_->path;
  impl_->handle.unload();
  void* still = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!still) return true;
  ::dlclose(still);
  impl_->pinned = true;
  return false;
}

}  // namespace ry::module
