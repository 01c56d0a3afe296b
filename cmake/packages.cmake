# Debian packages:  cpack --config build/CPackConfig.cmake -B build/packages
#   runyard              the host, its systemd units, the user it runs as
#   runyard-module-NAME  one module and its drop-in in /etc/runyard/modules.d
#   runyard-dev          the SDK
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME runyard)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Runyard project <packages@runyard.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# Packages depend on the libraries of the release they were built on. The release suffix sorts by release number, so
# packages of a newer release replace those of an older one.
string(TOLOWER "${RY_PLATFORM_NAME}" built_on)
string(REGEX REPLACE "^debian " "deb" built_on "${built_on}")
string(REPLACE " " "" built_on "${built_on}")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
if(built_on)
  string(APPEND CPACK_DEBIAN_PACKAGE_RELEASE "+${built_on}")
endif()
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL host sdk)
set(control ${PROJECT_BINARY_DIR}/deb-control)
set(scripts ${PROJECT_SOURCE_DIR}/packaging/deb)

function(ry_copyright component package)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/${package} RENAME copyright
          COMPONENT ${component})
endfunction()

# The host. Every module, including those of third parties, depends on the ABI that it was built for.
set(abi_next 2)
set(CPACK_DEBIAN_HOST_PACKAGE_NAME runyard)
set(CPACK_DEBIAN_HOST_DESCRIPTION "self-hosted server for agent runs
 Starts runs of agents and streams them over REST and Server-Sent Events. Its features are in modules,
 which are separate packages; this package contains the host that loads them.")
set(CPACK_DEBIAN_HOST_PACKAGE_DEPENDS "adduser, ca-certificates")
set(CPACK_DEBIAN_HOST_PACKAGE_PROVIDES "runyard-abi (= ${ry_sdk_version})")
file(CONFIGURE OUTPUT ${control}/host/conffiles CONTENT "/etc/runyard/runyard.toml\n" @ONLY)
set(CPACK_DEBIAN_HOST_PACKAGE_CONTROL_EXTRA
    "${control}/host/conffiles;${scripts}/postinst;${scripts}/prerm;${scripts}/postrm;${scripts}/triggers")
ry_copyright(host runyard)

# ry_module_package(NAME SUMMARY [NEEDS module ...] [DEPENDS "Debian dependency" ...] [RECOMMENDS ...])
function(ry_module_package name summary)
  if(NOT TARGET ${name}_module)
    return()
  endif()
  cmake_parse_arguments(P "" "" "NEEDS;DEPENDS;RECOMMENDS" ${ARGN})
  string(REPLACE _ - dashed ${name})
  set(package runyard-module-${dashed})
  string(TOUPPER module_${name} upper)
  set(depends "runyard-abi (>= ${ry_sdk_version})" "runyard-abi (<< ${abi_next})")
  foreach(other IN LISTS P_NEEDS)
    string(REPLACE _ - other ${other})
    list(APPEND depends "runyard-module-${other} (>= ${PROJECT_VERSION})")
  endforeach()
  list(APPEND depends ${P_DEPENDS})
  list(JOIN depends ", " depends)
  list(JOIN P_RECOMMENDS ", " recommends)
  file(CONFIGURE OUTPUT ${control}/${name}/conffiles CONTENT "/etc/runyard/modules.d/${name}.toml\n" @ONLY)
  foreach(script preinst postrm)
    configure_file(${scripts}/module.${script}.in ${control}/${name}/${script} @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                   WORLD_READ WORLD_EXECUTE)
  endforeach()
  ry_copyright(module_${name} ${package})
  set(prefix CPACK_DEBIAN_${upper})
  set(${prefix}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(${prefix}_DESCRIPTION "${summary}\n A module of Runyard, the self-hosted server for agent runs."
      PARENT_SCOPE)
  set(${prefix}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(${prefix}_PACKAGE_RECOMMENDS "${recommends}" PARENT_SCOPE)
  set(${prefix}_PACKAGE_CONTROL_EXTRA
      "${control}/${name}/conffiles;${control}/${name}/preinst;${control}/${name}/postrm" PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} module_${name} PARENT_SCOPE)
  set(ry_module_packages ${ry_module_packages} ${package} PARENT_SCOPE)
  set(ry_packaged_modules ${ry_packaged_modules} ${name} PARENT_SCOPE)
endfunction()

ry_module_package(accounts "accounts, tiers, API keys and credits")
ry_module_package(agents "agents and their versions" NEEDS accounts)
ry_module_package(console "web page of Runyard" NEEDS accounts)
ry_module_package(mail "e-mail delivery for other Runyard modules")
ry_module_package(referrals "referral codes and invitations" NEEDS accounts RECOMMENDS runyard-module-mail)
ry_module_package(notifications "notifications for users" NEEDS accounts RECOMMENDS runyard-module-mail)
ry_module_package(notify_builtin "notifications by e-mail, push and webhooks" NEEDS notifications)
ry_module_package(notify_novu "notifications through Novu" NEEDS notifications)
ry_module_package(webhooks "webhooks for domain events")
ry_module_package(bus_nats "distribution of live events between nodes through NATS")
ry_module_package(runs "threads, runs and their streams" NEEDS accounts agents
                  RECOMMENDS poppler-utils poppler-data runyard-module-sandbox-bubblewrap)
ry_module_package(openai_api "API for clients of OpenAI's API" NEEDS accounts agents runs)
ry_module_package(agui "API for clients of the AG-UI protocol" NEEDS accounts agents runs)
ry_module_package(aisdk "API for clients of the Vercel AI SDK" NEEDS accounts runs)
ry_module_package(mcp_server "agents as tools of MCP clients" NEEDS accounts agents runs)
ry_module_package(a2a "API for clients of the Agent2Agent protocol" NEEDS accounts agents runs)
ry_module_package(llm_openai "language models with the OpenAI API" NEEDS runs)
ry_module_package(llm_anthropic "language models with the Anthropic API" NEEDS runs)
ry_module_package(llm_offline "mock language model without network access" NEEDS runs)
ry_module_package(sandbox_bubblewrap "sandbox for the commands of agents" NEEDS runs DEPENDS bubblewrap)
ry_module_package(mcp "tools of MCP servers for agents" NEEDS accounts agents
                  RECOMMENDS runyard-module-mcp-http)
ry_module_package(mcp_http "MCP over Streamable HTTP" NEEDS mcp)
ry_module_package(mcp_sse "MCP over HTTP with Server-Sent Events" NEEDS mcp)
ry_module_package(mcp_json "MCP servers that are local programs" NEEDS mcp)
ry_module_package(mcp_prebuilt "profiles of well-known MCP servers" NEEDS accounts mcp)

get_property(installed GLOBAL PROPERTY ry_installed_modules)
foreach(name IN LISTS installed)
  if(NOT name IN_LIST ry_packaged_modules)
    message(WARNING "cmake/packages.cmake does not tell what the module ${name} needs")
    ry_module_package(${name} "module ${name}")
  endif()
endforeach()
list(JOIN ry_module_packages ", " all_modules)
# The private PostgreSQL; not needed if database.url is set.
set(CPACK_DEBIAN_HOST_PACKAGE_RECOMMENDS "postgresql, ${all_modules}")

# The SDK contains only text files.
set(CPACK_DEBIAN_SDK_PACKAGE_NAME runyard-dev)
set(CPACK_DEBIAN_SDK_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_SDK_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_SDK_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_SDK_DESCRIPTION "SDK for modules of Runyard
 C headers of the module ABI, the C++20 wrapper, CMake and pkg-config files, templates in C, C++ and Rust.")
set(CPACK_DEBIAN_SDK_PACKAGE_RECOMMENDS runyard)
set(CPACK_DEBIAN_SDK_PACKAGE_SUGGESTS "cmake, g++, rustc")
ry_copyright(sdk runyard-dev)

include(CPack)
