# The installation, in components that are also the packages: `host`, `sdk` (see sdk/CMakeLists.txt) and `module_NAME`
# for each module.
#   cmake --install build --prefix /usr/local                      everything
#   cmake --install build --prefix /usr --component module_runs    one of them
# Directories below the prefix: bin/, lib/runyard/modules, lib/systemd/system, share/doc. The configuration goes to
# PREFIX/etc/runyard, and to /etc/runyard for the prefix /usr.
include(GNUInstallDirs)
set(ry_installed ${PROJECT_BINARY_DIR}/installed)

# Installs a configuration file. Use it only for a first installation or with a package manager, which asks before it
# overwrites changes of the operator.
function(ry_install_conf component file below)
  install(CODE "
    set(etc \"\${CMAKE_INSTALL_PREFIX}/etc\")
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
      set(etc /etc)
    endif()
    file(INSTALL DESTINATION \"\${etc}/runyard/${below}\" TYPE FILE FILES \"${file}\")"
    COMPONENT ${component})
endfunction()

# Installs a file in which @CMAKE_INSTALL_PREFIX@ is replaced at installation.
function(ry_install_unit file)
  install(CODE "
    configure_file(\"${PROJECT_SOURCE_DIR}/packaging/systemd/${file}.in\" \"${ry_installed}/${file}\" @ONLY)
    file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\" TYPE FILE
         FILES \"${ry_installed}/${file}\")"
    COMPONENT host)
endfunction()

install(TARGETS runyard RUNTIME DESTINATION bin COMPONENT host)
# The program itself generates the manual page and the completions, from the definitions of its commands.
set(pages ${PROJECT_BINARY_DIR}/pages)
add_custom_command(
  OUTPUT ${pages}/runyard.1 ${pages}/runyard ${pages}/_runyard ${pages}/runyard.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
  COMMAND runyard manual > ${pages}/runyard.1
  COMMAND runyard completion bash > ${pages}/runyard
  COMMAND runyard completion zsh > ${pages}/_runyard
  COMMAND runyard completion fish > ${pages}/runyard.fish
  DEPENDS runyard VERBATIM)
add_custom_target(cli_pages ALL DEPENDS ${pages}/runyard.1)
install(FILES ${pages}/runyard.1 DESTINATION share/man/man1 COMPONENT host)
install(FILES ${pages}/runyard DESTINATION share/bash-completion/completions COMPONENT host)
install(FILES ${pages}/_runyard DESTINATION share/zsh/vendor-completions COMPONENT host)
install(FILES ${pages}/runyard.fish DESTINATION share/fish/vendor_completions.d COMPONENT host)
ry_install_unit(runyard.service)
ry_install_unit(runyard.socket)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION share/doc/runyard/docs COMPONENT host)
install(FILES ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION share/doc/runyard COMPONENT host)

# An installed server stores its data in a system directory, not in the current directory.
file(READ ${PROJECT_SOURCE_DIR}/conf/runyard.toml text)
string(REPLACE "\ndata_dir = \".runyard\"" "\ndata_dir = \"/var/lib/runyard\"" installed_text "${text}")
if(installed_text STREQUAL text)
  message(FATAL_ERROR "conf/runyard.toml: there is no line data_dir = \".runyard\"")
endif()
file(WRITE ${ry_installed}/runyard.toml "${installed_text}")
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS conf/runyard.toml)
ry_install_conf(host ${ry_installed}/runyard.toml "")
install(CODE "
  set(etc \"\${CMAKE_INSTALL_PREFIX}/etc\")
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(etc /etc)
  endif()
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${etc}/runyard/modules.d\")" COMPONENT host)

# Sets ry_installed_modules: the names of the modules, in the order of the targets.
function(ry_install_modules dir)
  get_property(targets DIRECTORY ${dir} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    if(NOT target MATCHES "^(.*)_module$")
      continue()
    endif()
    set(name ${CMAKE_MATCH_1})
    get_target_property(output_dir ${target} LIBRARY_OUTPUT_DIRECTORY)
    if(output_dir MATCHES "/checks$")  # loaded by `runyard module check`
      install(TARGETS ${target} LIBRARY DESTINATION lib/runyard/checks COMPONENT host)
      continue()
    endif()
    install(TARGETS ${target} LIBRARY DESTINATION lib/runyard/modules COMPONENT module_${name})
    if(EXISTS ${PROJECT_SOURCE_DIR}/conf/modules.d/${name}.toml)
      ry_install_conf(module_${name} ${PROJECT_SOURCE_DIR}/conf/modules.d/${name}.toml modules.d)
    endif()
    set_property(GLOBAL APPEND PROPERTY ry_installed_modules ${name})
  endforeach()
  get_property(subdirectories DIRECTORY ${dir} PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS subdirectories)
    ry_install_modules(${each})
  endforeach()
endfunction()
ry_install_modules(${PROJECT_SOURCE_DIR}/modules)
install(TARGETS runyard-extract RUNTIME DESTINATION bin COMPONENT module_runs)
install(TARGETS runyard-sandbox-exec RUNTIME DESTINATION bin COMPONENT module_sandbox_bubblewrap)
