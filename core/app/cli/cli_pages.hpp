// The manual page and the shell completions of the command line, generated from its definitions.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace ry::app {

// The page in roff, for man(1).
std::string manual_page(const CLI::App& app, const std::string& version);

// A script to be sourced or installed; `shell` is bash, zsh or fish. Empty for any other shell.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace ry::app
