#include "core/app/cli/cli.hpp"

int main(int argc, char** argv) {
  return static_cast<int>(ry::app::run_command_line(argc, argv));
}
