# Target ry_test_switches: provides the header without_protection.hpp (see tests/security/README.md). Targets whose
# sources contain a switch link it privately.
option(RY_TEST_WITHOUT_PROTECTIONS "Allow security tests to disable protections; never deploy such a build" OFF)
set(switches ${PROJECT_BINARY_DIR}/test_switches)
configure_file(${PROJECT_SOURCE_DIR}/cmake/without_protection.hpp.in ${switches}/without_protection.hpp)
add_library(ry_test_switches INTERFACE)
target_include_directories(ry_test_switches INTERFACE ${switches})
if(RY_TEST_WITHOUT_PROTECTIONS)
  message(WARNING "RY_TEST_WITHOUT_PROTECTIONS: this build is for security tests only")
  # This also prevents packaging, because CPack runs the install step.
  install(CODE "message(FATAL_ERROR \"A build with RY_TEST_WITHOUT_PROTECTIONS cannot be installed\")" ALL_COMPONENTS)
endif()
