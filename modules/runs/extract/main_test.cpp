// Tests the program as a process, as the server runs it.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

class main_test : public ::testing::Test {
 protected:
  main_test() {
    std::string name = ::testing::TempDir() + "extract-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~main_test() override { std::filesystem::remove_all(folder_); }

  // The output of the program for a file with this content.
  std::string output(const std::string& content, rlim_t max_memory = RLIM_INFINITY) const {
    const std::filesystem::path file = folder_ / "file";
    std::ofstream(file, std::ios::binary) << content;
    int ends[2];
    if (::pipe(ends) != 0) return "(no pipe)";
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ends[1], 1);
      const rlimit limit{max_memory, max_memory};
      ::setrlimit(RLIMIT_AS, &limit);
      ::execl(RY_EXTRACT_PROGRAM, "runyard-extract", "100000", file.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
    std::string out;
    std::array<char, 4096> piece;
    for (ssize_t n = 0; (n = ::read(ends[0], piece.data(), piece.size())) > 0;)
      out.append(piece.data(), static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? out : "(failed) " + out;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(main_test, a_text_with_a_pdf_header_is_read_as_text) {
  EXPECT_EQ(output("%PDF-1.7 is how PDF files begin.\n"), "text plain\n%PDF-1.7 is how PDF files begin.\n");
  EXPECT_EQ(output("%PDF-1.7\n1 0 obj\n<</Type /Catalog>>\nendobj\n"), "none it is damaged\n");
  EXPECT_EQ(output("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n"), "none it is damaged\n");
}

TEST_F(main_test, insufficient_memory_is_reported) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve more address space than the limit";
#endif
  // Reading requires a buffer of 64 MiB, which is not available.
  EXPECT_EQ(output("{\\rtf1 " + std::string(1u << 20, 'x') + "}", 64u << 20),
            "none reading it needs too much memory\n");
}

}  // namespace
