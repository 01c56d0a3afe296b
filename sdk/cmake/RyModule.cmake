# ry_add_module(NAME
#   SOURCES a.cpp ...        sources of the module, one of them with RY_MODULE
#   [LIBS lib ...]           libraries that only the module uses; linked privately, their symbols stay hidden
#   [NEEDS libx.so ...]      name prefixes of shared libraries that it may need at load time, in addition to
#                            the C and C++ run time
#   [MIGRATIONS dir]         dir/*.sql and dir/functions/*.sql in order of their ids become the header "migrations.hpp", see
#                            embed_migrations.cmake
#   [OPENAPI dir]            dir/NAME.json, OpenAPI objects for ry_registrar_v1::describe, become the header
#                            "openapi.hpp" with ry_openapi::NAME
#   [OUTPUT name]            file name without ".so"; default NAME
#   [TESTS x_test.cpp ...]   GoogleTest program NAME_module_test over the same sources
#   [PGTESTS x_pgtest.cpp ...]  the same for tests that need PostgreSQL (label pg)
#   [TEST_LIBS lib ...])
#
# Creates the target NAME_module: ${RY_MODULE_DIR}/OUTPUT.so, which exports only ry_module_entry and needs no other
# shared libraries. With RY_TESTS, tests check this. Works in the source tree and from an installed copy: the header
# directory is next to the directory of this file.
include_guard(GLOBAL)

if(NOT TARGET ry_sdk)
  add_library(ry_sdk INTERFACE IMPORTED GLOBAL)
  set_target_properties(ry_sdk PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                          ${CMAKE_CURRENT_LIST_DIR}/../include)
endif()

# Exactly one exported symbol, and no unresolved symbols at link or load time. For modules in any language.
function(ry_module_link_flags target)
  if(NOT RY_MODULE_DIR)
    set(RY_MODULE_DIR ${CMAKE_BINARY_DIR}/modules)
  endif()
  set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/module.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,-z,now
                                        -Wl,--exclude-libs,ALL)
  # Sanitizer runtimes are part of the executable, so their symbols are intentionally undefined in a module.
  if(NOT RY_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY
                                                                    ${RY_MODULE_DIR}
                                             LINK_DEPENDS ${map})
endfunction()

# Adds a test that the library exports only ry_module_entry.
function(ry_module_symbol_test target)
  if(RY_TESTS)
    add_test(NAME module.${target}.symbols
             COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:${target}> -P
                     ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_symbols.cmake)
  endif()
endfunction()

# Adds a test that the library needs only the C and C++ run time and the libraries named after the target.
function(ry_module_library_test target)
  if(RY_TESTS AND NOT RY_SANITIZE)
    add_test(NAME module.${target}.libraries
             COMMAND ${CMAKE_COMMAND} -DOBJDUMP=${CMAKE_OBJDUMP} -DLIBRARY=$<TARGET_FILE:${target}>
                     "-DALLOWED=${ARGN}" -P
                     ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_libraries.cmake)
  endif()
endfunction()

function(ry_add_module name)
  cmake_parse_arguments(M "" "MIGRATIONS;OPENAPI;OUTPUT" "SOURCES;LIBS;NEEDS;TESTS;PGTESTS;TEST_LIBS" ${ARGN})
  if(NOT M_SOURCES)
    message(FATAL_ERROR "ry_add_module(${name}): SOURCES is missing")
  endif()
  if(M_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ry_add_module(${name}): unknown arguments ${M_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT M_OUTPUT)
    set(M_OUTPUT ${name})
  endif()

  add_library(${name}_objects OBJECT ${M_SOURCES})
  set_target_properties(${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET
                                                   hidden C_VISIBILITY_PRESET hidden
                                                   VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${name}_objects PUBLIC cxx_std_20)
  target_include_directories(${name}_objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name}_objects PUBLIC ry_sdk ${M_LIBS})

  if(M_MIGRATIONS)
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/${name}_generated)
    file(GLOB sql CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${M_MIGRATIONS}/*.sql
                                    ${CMAKE_CURRENT_SOURCE_DIR}/${M_MIGRATIONS}/functions/*.sql)
    if(NOT sql)
      message(FATAL_ERROR "ry_add_module(${name}): no *.sql in ${M_MIGRATIONS}")
    endif()
    add_custom_command(
      OUTPUT ${generated}/migrations.hpp
      COMMAND ${CMAKE_COMMAND} "-DFILES=${sql}" -DOUT=${generated}/migrations.hpp -P
              ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_migrations.cmake
      DEPENDS ${sql} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_migrations.cmake
      VERBATIM)
    target_sources(${name}_objects PRIVATE ${generated}/migrations.hpp)
    target_include_directories(${name}_objects PUBLIC ${generated})
  endif()

  if(M_OPENAPI)
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/${name}_generated)
    file(GLOB json CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${M_OPENAPI}/*.json)
    if(NOT json)
      message(FATAL_ERROR "ry_add_module(${name}): no *.json in ${M_OPENAPI}")
    endif()
    add_custom_command(
      OUTPUT ${generated}/openapi.hpp
      COMMAND ${CMAKE_COMMAND} "-DFILES=${json}" -DOUT=${generated}/openapi.hpp -P
              ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_openapi.cmake
      DEPENDS ${json} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_openapi.cmake
      VERBATIM)
    target_sources(${name}_objects PRIVATE ${generated}/openapi.hpp)
    target_include_directories(${name}_objects PUBLIC ${generated})
  endif()

  add_library(${name}_module MODULE)
  target_link_libraries(${name}_module PRIVATE ${name}_objects)
  set_target_properties(${name}_module PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${M_OUTPUT})
  ry_module_link_flags(${name}_module)
  ry_module_symbol_test(${name}_module)
  ry_module_library_test(${name}_module ${M_NEEDS})

  # Outside this source tree RY_TESTS is not defined: listed tests are built unless it is OFF.
  if((M_TESTS OR M_PGTESTS) AND NOT DEFINED RY_TESTS)
    set(RY_TESTS ON)
  endif()
  if(RY_TESTS AND (M_TESTS OR M_PGTESTS) AND NOT COMMAND gtest_discover_tests)
    find_package(GTest)
    if(NOT GTest_FOUND)
      message(FATAL_ERROR "ry_add_module(${name}): TESTS needs GoogleTest (libgtest-dev and libgmock-dev), or -DRY_TESTS=OFF")
    endif()
    include(GoogleTest)
  endif()

  if(RY_TESTS AND M_TESTS)
    add_executable(${name}_module_test ${M_TESTS})
    target_link_libraries(${name}_module_test PRIVATE ${name}_objects ${M_TEST_LIBS} GTest::gmock
                                                      GTest::gtest_main)
    gtest_discover_tests(${name}_module_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES
                         TIMEOUT 120)
  endif()
  if(RY_TESTS AND M_PGTESTS)
    add_executable(${name}_module_pgtest ${M_PGTESTS})
    target_link_libraries(${name}_module_pgtest PRIVATE ${name}_objects ${M_TEST_LIBS} GTest::gmock
                                                        GTest::gtest_main)
    gtest_discover_tests(${name}_module_pgtest TEST_PREFIX ${name}.pg. DISCOVERY_TIMEOUT 60
                         PROPERTIES TIMEOUT 180 LABELS pg)
  endif()
endfunction()
