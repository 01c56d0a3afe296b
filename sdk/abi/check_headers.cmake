# Compiles every header of INCLUDE/ry/{.,if,svc,ext} by itself: COMPILER, LANGUAGE (c, c++), STANDARD.
file(GLOB headers ${INCLUDE}/ry/*.h ${INCLUDE}/ry/if/*.h ${INCLUDE}/ry/svc/*.h ${INCLUDE}/ry/ext/*.h)
list(LENGTH headers n)
if(n LESS 18)
  message(FATAL_ERROR "only ${n} headers found below ${INCLUDE}/ry")
endif()
execute_process(
  COMMAND ${COMPILER} -x ${LANGUAGE} -std=${STANDARD} -fsyntax-only -pedantic -Wall -Wextra -Wpadded
          -Werror ${headers}
  RESULT_VARIABLE rc ERROR_VARIABLE err)
if(NOT rc EQUAL 0)
  message(FATAL_ERROR "${COMPILER} -std=${STANDARD}:\n${err}")
endif()
message(STATUS "${n} headers compile by themselves with ${COMPILER} -std=${STANDARD}")
