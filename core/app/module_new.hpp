// `runyard module new`: a project for a module or a transport, written from the SDK's templates.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/app/exit_code.hpp"

namespace ry::app {

struct new_module {
  std::string name, lang, kind = "module";
  std::string directory;  // empty: the name
  std::string templates;  // empty: those of this installation
};

// What can be asked for, in the order of help texts.
std::vector<std::string> template_languages();
std::vector<std::string> template_kinds();

// Where this installation's SDK keeps its templates; the folder need not exist.
std::filesystem::path default_templates();

// Writes the project, or nothing at all; says on standard output how to go on, on standard error why
// not.
exit_code write_new_module(const new_module& what);

}  // namespace ry::app
