// Creates binary records and compound files for tests; libgsf writes the compound files, as it does for Gnumeric.
#pragma once
#include <gsf/gsf-outfile-msole.h>
#include <gsf/gsf-outfile.h>
#include <gsf/gsf-output-stdio.h>
#include <gsf/gsf-output.h>
#include <gsf/gsf-utils.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace extract {

inline std::string little(std::uint64_t n, std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(n >> (8 * i));
  return out;
}
inline std::string u16(std::uint64_t n) {
  return little(n, 2);
}
inline std::string u32(std::uint64_t n) {
  return little(n, 4);
}
inline std::string f64(double n) {
  return little(std::bit_cast<std::uint64_t>(n), 8);
}
inline std::string utf16(std::u16string_view text) {
  std::string out;
  for (const char16_t c : text) out += u16(c);
  return out;
}
inline void put(std::string& into, std::size_t at, std::string_view bytes) {
  if (into.size() < at + bytes.size()) into.resize(at + bytes.size(), '\0');
  into.replace(at, bytes.size(), bytes);
}

using streams = std::vector<std::pair<std::string, std::string>>;  // name: "folder/name" for a stream in a folder
inline void write_compound(const std::string& path, const streams& all) {
  gsf_init();
  GsfOutput* file = gsf_output_stdio_new(path.c_str(), nullptr);
  GsfOutfile* root = gsf_outfile_msole_new(file);
  g_object_unref(file);
  for (const auto& [name, content] : all) {
    const std::size_t slash = name.find('/');
    GsfOutput* folder = slash == name.npos ? nullptr : gsf_outfile_new_child(root, name.substr(0, slash).c_str(), TRUE);
    GsfOutput* stream = gsf_outfile_new_child(folder != nullptr ? GSF_OUTFILE(folder) : root,
                                              name.substr(slash == name.npos ? 0 : slash + 1).c_str(), FALSE);
    gsf_output_write(stream, content.size(), reinterpret_cast<const guint8*>(content.data()));
    for (GsfOutput* output : {stream, folder}) {
      if (output == nullptr) continue;
      gsf_output_close(output);
      g_object_unref(output);
    }
  }
  gsf_output_close(GSF_OUTPUT(root));
  g_object_unref(root);
}

}  // namespace extract
