// Creates office documents as archives for tests.
#pragma once
#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "office.hpp"

namespace extract {

class office_fixture : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-office-XXXXXX";
    const int fd = ::mkstemp(name);
    ASSERT_GE(fd, 0);
    ::close(fd);
    path = name;
  }
  void TearDown() override { std::filesystem::remove(path); }

  using parts = std::vector<std::pair<std::string, std::string>>;
  void pack(const parts& all) {
    const std::unique_ptr<archive, int (*)(archive*)> out(archive_write_new(), &archive_write_free);
    archive_write_set_format_zip(out.get());
    ASSERT_EQ(archive_write_open_filename(out.get(), path.c_str()), ARCHIVE_OK);
    for (const auto& [name, content] : all) {
      const std::unique_ptr<archive_entry, void (*)(archive_entry*)> e(archive_entry_new(), &archive_entry_free);
      archive_entry_set_pathname(e.get(), name.c_str());
      archive_entry_set_size(e.get(), static_cast<la_int64_t>(content.size()));
      archive_entry_set_filetype(e.get(), AE_IFREG);
      archive_entry_set_perm(e.get(), 0644);
      ASSERT_EQ(archive_write_header(out.get(), e.get()), ARCHIVE_OK);
      archive_write_data(out.get(), content.data(), content.size());
    }
  }
  office_text read(std::size_t max_bytes = 100000) { return read_office(path, max_bytes); }

  std::string path;
};

// An entry of "_rels/.rels" or of the relationships of a part.
struct named_relationship {
  std::string id, type, target;
};
inline std::string relationships(const std::vector<named_relationship>& all) {
  std::string out = R"(<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">)";
  for (const named_relationship& r : all)
    out += "<Relationship Id=\"" + r.id +
           "\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/" + r.type + "\" Target=\"" +
           r.target + "\"/>";
  return out + "</Relationships>";
}

}  // namespace extract
