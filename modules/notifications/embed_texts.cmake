# FILES (*.txt) become the constants of the header OUT, by their names.
set(all "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} content)
  string(APPEND all "    {\"${name}\", R\"ry_text(${content})ry_text\"},\n")
endforeach()
list(LENGTH FILES n)
file(WRITE ${OUT}
     "#pragma once\n#include <array>\n#include <string_view>\n#include <utility>\nnamespace notifications {\ninline constexpr std::array<std::pair<std::string_view, std::string_view>, ${n}> builtin_texts{{\n${all}}};\n}\n")
