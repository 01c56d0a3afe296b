#include "pdf.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace extract {
namespace {

constexpr std::size_t max_message_bytes = 64 * 1024;
constexpr int not_installed = 127, copying_not_allowed = 3;

struct pipe_ends {
  int read = -1, write = -1;
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  void close_write() { ::close(std::exchange(write, -1)); }
  ~pipe_ends() {
    for (int fd : {read, write})
      if (fd >= 0) ::close(fd);
  }
};

// False: end of file or error.
bool read_some(int fd, std::string& to, std::size_t max_bytes) {
  std::array<char, 65536> piece;
  const ssize_t n = ::read(fd, piece.data(), piece.size());
  if (n < 0) return errno == EINTR;
  to.append(piece.data(), std::min(static_cast<std::size_t>(n), max_bytes - std::min(max_bytes, to.size())));
  return n > 0;
}

[[noreturn]] void become_pdftotext(const pipe_ends& out, const pipe_ends& err, const char* path) {
  ::dup2(out.write, 1);
  ::dup2(err.write, 2);
  ::execl("/usr/bin/pdftotext", "pdftotext", "-enc", "UTF-8", "-eol", "unix", path, "-", static_cast<char*>(nullptr));
  ::_exit(not_installed);
}

}  // namespace

pdf_text judge_pdf(int status, std::string text, std::string_view messages) {
  pdf_text out;
  const auto reports = [&](std::string_view words) { return messages.find(words) != messages.npos; };
  const bool blank = text.find_first_not_of(" \t\r\n\f") == text.npos;
  if (status == not_installed) {
    out.problem = "pdftotext is not installed";
  } else if (reports("Incorrect password")) {
    out.problem = "it is encrypted and needs a password";
  } else if (status == copying_not_allowed) {
    out.problem = "its permissions do not allow text extraction";
  } else if (reports("Unsupported security handler") || reports("Unsupported version/revision")) {
    out.problem = "it is encrypted in a way that cannot be read";
  } else if (reports("Missing language pack")) {
    // The package contains the character maps of Chinese, Japanese and Korean fonts.
    out.missing = "the package poppler-data is not installed on this server";
    if (blank) out.problem = "its characters cannot be read, because " + out.missing;
  } else if (blank && status == 0) {
    out.problem = "it has no text layer: it is probably a scan or has images only";
  } else if (blank) {
    out.problem = "it is damaged";
    out.damaged = true;
  }
  if (out.problem.empty()) out.text = std::move(text);
  return out;
}

pdf_text read_pdf(const char* path, std::size_t max_bytes) {
  pipe_ends out, err;
  pdf_text failed;
  failed.problem = "it could not be read";
  if (!out.open() || !err.open()) return failed;
  const pid_t child = ::fork();
  if (child < 0) return failed;
  if (child == 0) become_pdftotext(out, err, path);
  out.close_write();
  err.close_write();
  std::string text, messages;
  std::array<pollfd, 2> waiting{{{out.read, POLLIN, 0}, {err.read, POLLIN, 0}}};
  while ((waiting[0].fd >= 0 || waiting[1].fd >= 0) && text.size() <= max_bytes) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) break;
    if (waiting[0].revents != 0 && !read_some(out.read, text, max_bytes + 1)) waiting[0].fd = -1;
    if (waiting[1].revents != 0 && !read_some(err.read, messages, max_message_bytes)) waiting[1].fd = -1;
  }
  ::close(std::exchange(out.read, -1));  // SIGPIPE terminates pdftotext if it has more output
  ::close(std::exchange(err.read, -1));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return judge_pdf(WIFEXITED(status) ? WEXITSTATUS(status) : -1, std::move(text), messages);
}

}  // namespace extract
