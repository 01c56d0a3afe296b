# ry_test_switches: the header without_protection.hpp (tests/security/README.md). Sources that have a switch link it privately.
option(RY_TEST_WITHOUT_PROTECTIONS "Let security tests switch protections off; never install such a build" OFF)
set(switches ${PROJECT_BINARY_DIR}/test_switches)
configure_file(${PROJECT_SOURCE_DIR}/cmake/without_protection.hpp.in ${switches}/without_protection.hpp)
add_library(ry_test_switches INTERFACE)
target_include_directories(ry_test_switches INTERFACE ${switches})
if(RY_TEST_WITHOUT_PROTECTIONS)
  message(WARNING "RY_TEST_WITHOUT_PROTECTIONS: this build is for security tests only")
  # Packages are made by installing, too.
  install(CODE "message(FATAL_ERROR \"A build with RY_TEST_WITHOUT_PROTECTIONS cannot be installed\")" ALL_COMPONENTS)
endif()
