#include "compound_file.hpp"

#include <gsf/gsf-infile-msole.h>
#include <gsf/gsf-infile.h>
#include <gsf/gsf-input-stdio.h>
#include <gsf/gsf-input.h>
#include <gsf/gsf-utils.h>

#include <algorithm>
#include <ry/cpp/text.hpp>

namespace extract {
namespace {

constexpr gsf_off_t max_stream_bytes = 64 << 20;

struct unref_object {
  void operator()(void* object) const { g_object_unref(object); }
};

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return ry::lower_ascii(x) == ry::lower_ascii(y); });
}

}  // namespace

void compound_file::unref::operator()(_GsfInfile* file) const {
  g_object_unref(file);
}

compound_file::compound_file(const std::string& path) {
  gsf_init();
  // Suppresses libgsf's warnings about damaged files.
  g_log_set_default_handler([](const char*, GLogLevelFlags, const char*, void*) {}, nullptr);
  const std::unique_ptr<GsfInput, unref_object> input(gsf_input_stdio_new(path.c_str(), nullptr));
  if (input) root_.reset(gsf_infile_msole_new(input.get(), nullptr));
}

std::optional<int> compound_file::find(std::string_view name) const {
  const int n = root_ ? gsf_infile_num_children(root_.get()) : 0;
  for (int i = 0; i < n; ++i) {
    const char* found = gsf_infile_name_by_index(root_.get(), i);
    if (found != nullptr && same_name(found, name)) return i;
  }
  return std::nullopt;
}

std::string compound_file::stream(std::string_view name) const {
  const std::optional<int> at = find(name);
  if (!at) return {};
  const std::unique_ptr<GsfInput, unref_object> input(gsf_infile_child_by_index(root_.get(), *at));
  const gsf_off_t size = input ? gsf_input_size(input.get()) : 0;
  if (size <= 0 || size > max_stream_bytes) return {};
  std::string out(static_cast<std::size_t>(size), '\0');
  if (gsf_input_read(input.get(), out.size(), reinterpret_cast<guint8*>(out.data())) == nullptr) return {};
  return out;
}

compound_file compound_file::storage(std::string_view name) const {
  const std::optional<int> at = find(name);
  GsfInput* child = at ? gsf_infile_child_by_index(root_.get(), *at) : nullptr;
  if (child != nullptr && !GSF_IS_INFILE(child)) {
    g_object_unref(child);
    child = nullptr;
  }
  return compound_file(child != nullptr ? GSF_INFILE(child) : nullptr);
}

}  // namespace extract
