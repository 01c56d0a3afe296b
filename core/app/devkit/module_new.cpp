#include "core/app/devkit/module_new.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

#include "core/app/boot/module_names.hpp"
#include "core/app/boot/paths.hpp"
#include "core/module/manifest.hpp"

namespace ry::app {

namespace fs = std::filesystem;

namespace {

// The module name that the templates use, in texts and in file names.
constexpr std::string_view placeholder = "ry_sample";

// Reserved words, which cannot be identifiers.
constexpr std::array<std::string_view, 45> words_of_c = {
    "alignas",  "alignof", "auto",   "bool",          "break",  "case",          "char",    "const",    "constexpr",
    "continue", "default", "do",     "double",        "else",   "enum",          "extern",  "false",    "float",
    "for",      "goto",    "if",     "inline",        "int",    "long",          "nullptr", "register", "restrict",
    "return",   "short",   "signed", "sizeof",        "static", "static_assert", "struct",  "switch",   "thread_local",
    "true",     "typedef", "typeof", "typeof_unqual", "union",  "unsigned",      "void",    "volatile", "while"};
constexpr std::array<std::string_view, 92> words_of_cpp = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char8_t",
    "char16_t",    "char32_t", "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};
constexpr std::array<std::string_view, 51> words_of_rust = {
    "abstract", "as",      "async", "await",   "become", "box",   "break", "const", "continue", "crate", "do",
    "dyn",      "else",    "enum",  "extern",  "false",  "final", "fn",    "for",   "gen",      "if",    "impl",
    "in",       "let",     "loop",  "macro",   "match",  "mod",   "move",  "mut",   "override", "priv",  "pub",
    "ref",      "return",  "self",  "static",  "struct", "super", "trait", "true",  "try",      "type",  "typeof",
    "unsafe",   "unsized", "use",   "virtual", "where",  "while", "yield"};
constexpr std::array<std::string_view, 6> targets_of_cmake = {"all", "clean", "help", "install", "package", "test"};

std::string named(std::string text, const std::string& name) {
  for (std::size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos; at += name.size())
    text.replace(at, placeholder.size(), name);
  return text;
}

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return text;
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file.string());
}

void write_project(const fs::path& from, const fs::path& to, const std::string& name) {
  fs::create_directories(to.parent_path());
  if (!fs::create_directory(to)) throw std::runtime_error(to.string() + " already exists");
  try {
    for (const auto& entry : fs::directory_iterator(from)) {
      const auto file = to / named(entry.path().filename().string(), name);
      if (fs::exists(file))
        throw std::runtime_error("the project has a file " + file.filename().string() +
                                 " besides the module's own; choose another name");
      write(file, named(read(entry.path()), name));
    }
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(to, ignored);
    throw;
  }
}

std::string comma_separated(const std::vector<std::string>& all) {
  std::string out;
  for (const auto& each : all) out += (out.empty() ? "" : ", ") + each;
  return out;
}

std::string fault_of(const new_module& what) {
  const auto has = [](const auto& all, const auto& one) { return std::find(all.begin(), all.end(), one) != all.end(); };
  if (!module::valid_module_name(what.name))
    return "the name must be a lowercase letter, followed by lowercase letters, digits and _ (at most 63): " +
           what.name;
  if (!has(template_languages(), what.lang)) return "--lang must be one of " + comma_separated(template_languages());
  const auto clash = [&](std::span<const std::string_view> words, const char* where) {
    return has(words, what.name) ? what.name + where + "; choose another name" : std::string();
  };
  auto fault = what.lang == "c"     ? clash(words_of_c, " is a keyword of C")
               : what.lang == "cpp" ? clash(words_of_cpp, " is a keyword of C++")
                                    : clash(words_of_rust, " is a keyword of Rust");
  if (fault.empty()) fault = clash(targets_of_cmake, " is a target of every CMake project");
  if (!fault.empty()) return fault;
  if (const auto why = taken_by(what.name); !why.empty()) return "no module can be called " + what.name + ": " + why;
  if (!has(template_kinds(), what.kind)) return "--kind must be one of " + comma_separated(template_kinds());
  return {};
}

}  // namespace

std::vector<std::string> template_languages() {
  return {"c", "cpp", "rust"};
}
std::vector<std::string> template_kinds() {
  return {"module", "transport"};
}

fs::path default_templates() {
  return executable_dir().parent_path() / "share" / "runyard" / "sdk" / "templates";
}

exit_code write_new_module(const new_module& what) {
  if (const auto fault = fault_of(what); !fault.empty()) {
    std::fprintf(stderr, "runyard: %s\n", fault.c_str());
    return exit_code::refused;
  }
  const fs::path templates = what.templates.empty() ? default_templates() : fs::path(what.templates);
  const auto from = templates / what.lang / what.kind;
  const fs::path to = fs::absolute(what.directory.empty() ? what.name : what.directory);
  std::error_code ec;
  if (!fs::is_directory(from, ec)) {
    std::fprintf(stderr, "runyard: there are no templates in %s; install the SDK, or name them with --templates\n",
                 templates.c_str());
    return exit_code::failed;
  }
  try {
    write_project(from, to, what.name);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "runyard: %s\n", e.what());
    return exit_code::failed;
  }
  std::printf(
      "%s is written. Next:\n"
      "  cmake -S %s -B %s/build && cmake --build %s/build\n"
      "  runyard module check %s/build/modules/%s.so\n",
      to.c_str(), to.c_str(), to.c_str(), to.c_str(), to.c_str(), what.name.c_str());
  return exit_code::ok;
}

}  // namespace ry::app
