# Compares the tokens and macros of all C headers with GOLDEN, which contains them as released. -DUPDATE=ON rewrites
# GOLDEN: only for additions that sdk/POLICY.md allows.
file(GLOB headers RELATIVE ${INCLUDE} ${INCLUDE}/ry/*.h ${INCLUDE}/ry/if/*.h ${INCLUDE}/ry/svc/*.h
     ${INCLUDE}/ry/ext/*.h)
list(SORT headers)
# Empty standard headers exclude the C library's text from the comparison.
file(MAKE_DIRECTORY ${WORK}/std)
file(WRITE ${WORK}/std/stddef.h "")
file(WRITE ${WORK}/std/stdint.h "")
set(all "")
foreach(header IN LISTS headers)
  string(APPEND all "#include <${header}>\n")
endforeach()
file(WRITE ${WORK}/all.c "${all}")
execute_process(COMMAND ${COMPILER} -std=c99 -E -P -dD -nostdinc -I${WORK}/std -I${INCLUDE} ${WORK}/all.c
                OUTPUT_VARIABLE out RESULT_VARIABLE rc ERROR_VARIABLE err)
if(NOT rc EQUAL 0)
  message(FATAL_ERROR "${err}")
endif()
# CMake would treat text with semicolons as a list.
string(REPLACE ";" "\\;" out "${out}")
string(REGEX REPLACE "\n#(define|undef) [^R][^\n]*" "" out "\n${out}")
string(REGEX REPLACE "\n#define RY_[A-Z_]*_H *\n" "\n" out "${out}")
string(REGEX REPLACE "[ \t]+" " " out "${out}")
string(REGEX REPLACE "\n[ \n]*" "\n" out "${out}")
string(REGEX REPLACE "^\n" "" out "${out}")
string(REPLACE "\\;" ";" out "${out}")
if(UPDATE)
  file(WRITE ${GOLDEN} "${out}")
  return()
endif()
file(WRITE ${WORK}/now.tokens "${out}")
execute_process(COMMAND diff -u ${GOLDEN} ${WORK}/now.tokens RESULT_VARIABLE rc OUTPUT_VARIABLE diff)
if(NOT rc EQUAL 0)
  message(FATAL_ERROR "the ABI headers differ from ${GOLDEN}. If sdk/POLICY.md allows the change, add it to "
                      "sdk/CHANGELOG.md and build the target sdk_abi_golden.\n${diff}")
endif()
