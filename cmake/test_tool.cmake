# test_tool(VARIABLE PACKAGE NAME...): a program that tests need. One that is missing does not make the suite smaller in
# silence: a test of its own fails and names the package. ./test installs them all.
function(test_tool variable package)
  find_program(${variable} NAMES ${ARGN})
  list(GET ARGN 0 name)
  if(${variable})
    add_test(NAME tools.${name} COMMAND ${${variable}} --version)
  else()
    message(WARNING "${name} is missing (package ${package}): its tests are left out and tools.${name} fails")
    add_test(NAME tools.${name}
             COMMAND sh -c "echo '${name} is missing: install the package ${package} and configure again'; exit 1")
  endif()
endfunction()
