# find_package(ry-sdk 1.0): the headers as ry::sdk, and ry_add_module() with its helpers (RyModule.cmake).
#   RY_SDK_DIR        the files other than headers: cmake/, rust/, templates/
#   RY_SDK_RUST_DIR   ry_sys.rs, the headers in Rust
get_filename_component(_ry_sdk_share ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(RY_SDK_DIR ${_ry_sdk_share}/runyard/sdk)
set(RY_SDK_RUST_DIR ${RY_SDK_DIR}/rust)
if(NOT TARGET ry::sdk)
  add_library(ry::sdk INTERFACE IMPORTED)
  set_target_properties(ry::sdk PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                           ${_ry_sdk_share}/../include)
endif()
if(NOT TARGET ry_sdk)
  add_library(ry_sdk INTERFACE IMPORTED)
  target_link_libraries(ry_sdk INTERFACE ry::sdk)
endif()
unset(_ry_sdk_share)
include(${RY_SDK_DIR}/cmake/RyModule.cmake)
