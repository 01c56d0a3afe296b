// The ry_registrar of one create() call: checks arguments immediately and stages what is valid.
#pragma once

#include <ry/if/registrar.h>

#include <string>
#include <thread>

#include "core/module/manifest.hpp"
#include "core/module/registration.hpp"

// Belongs to one create() call and to the thread that makes it.
struct ry_registrar {
  ry_registrar(ry_host* host, const ry::module::module_manifest& manifest)
      : host(host), manifest(manifest), thread(std::this_thread::get_id()) {}

  ry_host* const host;
  const ry::module::module_manifest& manifest;
  const std::thread::id thread;
  ry::module::registration staged;
  std::string problem;  // the message of the first rejection
};
