// Files in tool results: images for models with vision, and files that are stored in the run's workspace. A line of the
// result text tells the model their path.
#pragma once
#include <boost/json/object.hpp>
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "run/conversation.hpp"
#include "run/live_run.hpp"
#include "settings/settings.hpp"
#include "workspace/run_workspace.hpp"

namespace runs {

// A part of a result that may have to be stored.
struct result_file {
  enum class form { base64, plain };
  // file: always stored; image: stored if the model does not receive it.
  enum class purpose { file, image };
  std::string name, media_type;  // as the source sent them
  std::string data;
  form encoding = form::base64;
  purpose use = purpose::file;
  bool in_message = false;  // an image that is part of the message
};

// Reads the members `images` and `files` of a result of agent.tools/1. Adds images to `message_parts` up to the limit
// of a message.
std::vector<result_file> files_of_result(const boost::json::object& result, std::string& message_parts);

struct stored_file {
  std::string path;  // in the workspace; derived from the content, so that the same bytes are stored once
  std::string media_type, bytes;
};
// The decoded files to store, and lines for the model about files that cannot be stored. Pure; takes several
// milliseconds for megabytes.
struct files_to_store {
  std::vector<stored_file> files;
  std::string notes;
};
enum class model_sees { images, no_images };
files_to_store choose_files(const std::vector<result_file>& all, model_sees sees);

// Stores the files in the run's workspace and adds a line for each to the content. Never throws: the line reports a
// failure.
ry::task<void> store_result_files(const ry::context& ctx, const settings& config, const run_workspace& files,
                                  std::shared_ptr<live_run> run, std::vector<result_file> all, tool_outcome& outcome);

}  // namespace runs
