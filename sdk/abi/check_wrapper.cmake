# Compiles every header of the C++ wrapper by itself with COMPILER and FLAGS, and prints the compile time of a
# translation unit that includes only ry/ry.hpp. WORK: a directory for temporary files.
file(GLOB headers RELATIVE ${INCLUDE} ${INCLUDE}/ry/*.hpp ${INCLUDE}/ry/cpp/*.hpp)
file(MAKE_DIRECTORY ${WORK})
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
foreach(header IN LISTS headers)
  file(WRITE ${WORK}/one.cpp "#include <${header}>\n")
  set(mode -fsyntax-only)
  if(header STREQUAL "ry/ry.hpp")
    set(mode -c -o ${WORK}/one.o)
  endif()
  string(TIMESTAMP before "%s%f")
  execute_process(
    COMMAND ${COMPILER} -std=c++20 ${flags} -O0 -Wall -Wextra -Wconversion -Wno-missing-field-initializers -Werror
            -I${INCLUDE} ${mode} ${WORK}/one.cpp
    RESULT_VARIABLE rc ERROR_VARIABLE err)
  string(TIMESTAMP after "%s%f")
  if(NOT rc EQUAL 0)
    message(FATAL_ERROR "<${header}> with ${COMPILER}:\n${err}")
  endif()
  if(header STREQUAL "ry/ry.hpp")
    math(EXPR ms "(${after} - ${before}) / 1000")
    message(STATUS "a translation unit with only <ry/ry.hpp>: ${ms} ms with ${COMPILER} -O0")
  endif()
endforeach()
