#include "core/module/elf.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace ry::module {

namespace {

constexpr std::size_t max_names = 20'000;
constexpr std::size_t max_name = 4096;
constexpr std::uint64_t max_ry_section = 256 * 1024;
// The chains of a malicious file can overlap, so the amount that is read is limited too, not only the range.
constexpr std::size_t max_versions = 4096;
constexpr std::size_t max_version_name = 256;

#if defined(__x86_64__)
constexpr Elf64_Half this_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half this_machine = EM_AARCH64;
#else
#error "name this processor's ELF machine number"
#endif

[[noreturn]] void reject_image(const char* why) {
  throw std::invalid_argument(why);
}

class reader {
 public:
  explicit reader(std::string_view image) : image_(image) { read_headers(); }

  elf_contents contents() const {
    elf_contents out;
    for (const auto& s : sections_) {
      const std::string_view name = text_at(names_, s.sh_name);
      if (name == ".ry.module" && !out.ry_section) out.ry_section = ry_section(s);
      if (s.sh_type == SHT_DYNSYM) read_symbols(s, out);
      if (s.sh_type == SHT_DYNAMIC) read_dynamic(s, out);
      if (s.sh_type == SHT_GNU_verneed) {
        // Several sections could repeat the same entries many times.
        if (!out.needed_versions.empty()) reject_image("it is damaged: it has more than one table of needed versions");
        read_needed_versions(s, out);
      }
    }
    return out;
  }

 private:
  std::string_view slice(std::uint64_t offset, std::uint64_t size) const {
    if (offset > image_.size() || size > image_.size() - offset)
      reject_image("it is truncated or damaged: its ELF tables point outside of the file");
    return image_.substr(offset, size);
  }

  template <class T>
  T at(std::string_view table, std::uint64_t index) const {
    T out;
    std::memcpy(&out, table.data() + index * sizeof(T), sizeof(T));
    return out;
  }

  // The NUL-terminated text at `offset` of a string table. It limits the length before the search, so that a table
  // without a NUL does not make each lookup scan the whole table.
  static std::string_view text_at(std::string_view table, std::uint64_t offset, std::size_t most = max_name) {
    if (offset >= table.size()) return {};
    const std::string_view text = table.substr(offset, most);
    return text.substr(0, text.find('\0'));
  }

  std::string_view contents(const Elf64_Shdr& s) const {
    if (s.sh_type == SHT_NOBITS) return {};
    return slice(s.sh_offset, s.sh_size);
  }

  std::string_view linked_strings(const Elf64_Shdr& s) const {
    if (s.sh_link >= sections_.size()) reject_image("it is damaged: an ELF table refers to a missing string table");
    return contents(sections_[s.sh_link]);
  }

  void read_headers() {
    if (image_.size() < sizeof(Elf64_Ehdr) || std::memcmp(image_.data(), ELFMAG, SELFMAG) != 0)
      reject_image("it is not an ELF file");
    const auto h = at<Elf64_Ehdr>(image_, 0);
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != this_machine)
      reject_image("it is built for a different architecture");
    if (h.e_type != ET_DYN) reject_image("it is an ELF file but not a shared library");
    if (h.e_shoff == 0 || h.e_shnum == 0 || h.e_shentsize != sizeof(Elf64_Shdr))
      reject_image("it has no table of sections; do not strip section headers from modules");
    const auto table = slice(h.e_shoff, std::uint64_t{h.e_shnum} * sizeof(Elf64_Shdr));
    for (std::uint64_t i = 0; i < h.e_shnum; ++i) sections_.push_back(at<Elf64_Shdr>(table, i));
    if (h.e_shstrndx >= sections_.size()) reject_image("it is damaged: its section names are missing");
    names_ = contents(sections_[h.e_shstrndx]);
  }

  std::string ry_section(const Elf64_Shdr& s) const {
    if (s.sh_size > max_ry_section) reject_image("its .ry.module section is larger than 256 KiB");
    std::string_view text = contents(s);
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    return std::string(text);
  }

  void read_symbols(const Elf64_Shdr& s, elf_contents& out) const {
    const auto strings = linked_strings(s);
    const auto table = contents(s);
    for (std::uint64_t i = 0; i < table.size() / sizeof(Elf64_Sym); ++i) {
      const auto sym = at<Elf64_Sym>(table, i);
      const auto bind = ELF64_ST_BIND(sym.st_info);
      const auto visibility = ELF64_ST_VISIBILITY(sym.st_other);
      if (sym.st_shndx == SHN_UNDEF || sym.st_name == 0) continue;
      if (bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE) continue;
      if (visibility == STV_HIDDEN || visibility == STV_INTERNAL) continue;
      if (out.exported.size() >= max_names) return;
      const std::string name(text_at(strings, sym.st_name));
      out.exported.push_back(name);
      if (bind == STB_GNU_UNIQUE) out.unique.push_back(name);
    }
  }

  void read_dynamic(const Elf64_Shdr& s, elf_contents& out) const {
    const auto strings = linked_strings(s);
    const auto table = contents(s);
    for (std::uint64_t i = 0; i < table.size() / sizeof(Elf64_Dyn); ++i) {
      const auto entry = at<Elf64_Dyn>(table, i);
      if (entry.d_tag == DT_NULL) return;
      if (entry.d_tag == DT_NEEDED && out.libraries.size() < max_names)
        out.libraries.emplace_back(text_at(strings, entry.d_un.d_val));
    }
  }

  // Reads an entry of a chain whose links are byte offsets.
  template <class T>
  static T entry_at(std::string_view table, std::uint64_t offset) {
    if (offset > table.size() || table.size() - offset < sizeof(T))
      reject_image("it is damaged: its table of needed versions points outside of itself");
    T out;
    std::memcpy(&out, table.data() + offset, sizeof(T));
    return out;
  }

  static std::string version_text(std::string_view strings, std::uint64_t offset) {
    const auto text = text_at(strings, offset, max_version_name + 1);
    if (text.empty() || text.size() > max_version_name)
      reject_image("it is damaged: a name in its table of needed versions is empty or too long");
    return std::string(text);
  }

  // Version names are printed in logs and terminals, so they must not contain control characters.
  static std::string version_name(std::string_view strings, std::uint64_t offset) {
    std::string text = version_text(strings, offset);
    if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x21 && c <= 0x7e; }))
      reject_image("it is damaged: a version name in its table of needed versions is not printable ASCII");
    return text;
  }

  void read_needed_versions(const Elf64_Shdr& s, elf_contents& out) const {
    const auto strings = linked_strings(s);
    const auto table = contents(s);
    std::size_t left = max_versions;
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < s.sh_info; ++i) {
      const auto need = entry_at<Elf64_Verneed>(table, at);
      if (need.vn_version != VER_NEED_CURRENT) reject_image("its table of needed versions is of an unknown kind");
      library_versions of{version_text(strings, need.vn_file), {}};
      std::uint64_t aux_at = at + need.vn_aux;
      for (std::uint64_t k = 0; k < need.vn_cnt; ++k) {
        if (left-- == 0) reject_image("it needs more than 4096 symbol versions");
        const auto aux = entry_at<Elf64_Vernaux>(table, aux_at);
        if ((aux.vna_flags & VER_FLG_WEAK) == 0) of.versions.push_back(version_name(strings, aux.vna_name));
        if (aux.vna_next == 0) break;
        aux_at += aux.vna_next;
      }
      out.needed_versions.push_back(std::move(of));
      if (need.vn_next == 0) break;
      if (left-- == 0) reject_image("it needs more than 4096 symbol versions");
      at += need.vn_next;
    }
  }

  std::string_view image_, names_;
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace

elf_contents read_elf(std::string_view image) {
  return reader(image).contents();
}

}  // namespace ry::module
