# test_tool(VARIABLE PACKAGE NAME...): finds a program that tests need. If it is missing, its tests are not silently
# skipped: the test tools.NAME fails and names the package. ./test installs all packages.
function(test_tool variable package)
  find_program(${variable} NAMES ${ARGN})
  list(GET ARGN 0 name)
  if(${variable})
    add_test(NAME tools.${name} COMMAND ${${variable}} --version)
  else()
    message(WARNING "${name} is missing (package ${package}): its tests are skipped and tools.${name} fails")
    add_test(NAME tools.${name}
             COMMAND sh -c "echo '${name} is missing: install the package ${package} and configure again'; exit 1")
  endif()
endfunction()
