# A module's source with only the SDK compiles in about a second. A time depends on the machine, so the preprocessed
# lines are counted instead: at most twice those of five standard headers that every coroutine needs, which take half a
# second.
# usage: cmake -DINCLUDE=DIR -DCOMPILER=FILE -DWORK=DIR [-DMORE=HEADER] -P check_weight.cmake
cmake_minimum_required(VERSION 3.20)

function(lines_of out headers)
  set(text "")
  foreach(header ${headers})
    string(APPEND text "#include <${header}>\n")
  endforeach()
  file(MAKE_DIRECTORY ${WORK})
  file(WRITE ${WORK}/weight.cpp "${text}")
  execute_process(COMMAND ${COMPILER} -std=c++20 -I${INCLUDE} -E -P ${WORK}/weight.cpp OUTPUT_FILE ${WORK}/weight.ii
                  RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${headers} cannot be read")
  endif()
  file(READ ${WORK}/weight.ii text)
  string(REGEX REPLACE "[^\n]+" "" text "${text}")
  string(LENGTH "${text}" n)
  set(${out} ${n} PARENT_SCOPE)
endfunction()

lines_of(base "string;vector;coroutine;optional;functional")
lines_of(sdk "ry/ry.hpp;${MORE}")
math(EXPR most "2 * ${base}")
message(STATUS "ry/ry.hpp: ${sdk} lines, ${base} of the standard library alone")
if(base EQUAL 0 OR sdk GREATER most)
  message(FATAL_ERROR "too heavy: at most ${most} lines; what else does the SDK include?")
endif()
