# Runs check_headers.cmake on a copy of the headers in WORK, in which a view has padding; it must fail.
file(REMOVE_RECURSE ${WORK})
file(COPY ${INCLUDE}/ry DESTINATION ${WORK})
file(READ ${WORK}/ry/if/trace.h text)
string(REPLACE "  uint32_t reserved0;\n" "" text "${text}")
file(WRITE ${WORK}/ry/if/trace.h "${text}")
set(INCLUDE ${WORK})
include(${CMAKE_CURRENT_LIST_DIR}/check_headers.cmake)
