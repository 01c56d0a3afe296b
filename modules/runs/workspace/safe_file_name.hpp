// Names of the files that clients and tools send. Pure.
#pragma once
#include <set>
#include <string>
#include <string_view>

namespace runs {

// A name that is safe in every file system and on a command line: no directories, no control, invisible or
// bidirectional characters, no leading dot or dash, at most 120 bytes, valid UTF-8. Never empty.
std::string safe_file_name(std::string_view received);
// "a.txt", "a_2.txt", "a_3.txt": the n-th candidate for a name.
std::string numbered_name(const std::string& name, unsigned n);
// The first free candidate for `name`; adds it to `taken`.
std::string unique_name(const std::string& name, std::set<std::string>& taken);

}  // namespace runs
