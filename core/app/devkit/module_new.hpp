// `runyard module new`: creates a project for a module or a transport from the SDK's templates.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/app/config/exit_code.hpp"

namespace ry::app {

struct new_module {
  std::string name, lang, kind = "module";
  std::string directory;  // empty: the module's name
  std::string templates;  // empty: the templates of this installation
};

// The available languages, in the order of the help text.
std::vector<std::string> template_languages();
std::vector<std::string> template_kinds();

// The template directory of this installation's SDK; it may not exist.
std::filesystem::path default_templates();

// Writes the whole project or nothing. Prints the next steps to standard output, or the reason of a failure to
// standard error.
exit_code write_new_module(const new_module& what);

}  // namespace ry::app
