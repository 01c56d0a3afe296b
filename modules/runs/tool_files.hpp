// What the result of a tool holds beside the text for the model: images for models that see, and bytes that are stored in
// the run's workspace, where the model finds them by a line in the text.
#pragma once
#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conversation.hpp"
#include "live_run.hpp"
#include "parts.hpp"

namespace runs {

// Something of a result that may have to be stored.
struct result_file {
  enum class form { base64, plain };
  // file: stored always; image: when the model is not shown it.
  enum class purpose { file, image };
  std::string name, media_type;  // as the source gave them
  std::string data;
  form as = form::base64;
  purpose is = purpose::file;
  bool in_message = false;  // an image that is a part of the message
};

// The members `images` and `files` of a result of agent.tools/1. Of the images, as many as may be sent to a model are added to
// `message_parts`.
std::vector<result_file> files_of_result(const boost::json::object& result, std::string& message_parts);

struct stored_file {
  std::string path;  // in the workspace; named by its content, so that the same bytes are stored once
  std::string media_type, bytes;
};
// Those that are to be stored, decoded, and lines for the model about those that cannot be. Pure; takes milliseconds for
// megabytes.
struct files_to_store {
  std::vector<stored_file> files;
  std::string notes;
};
enum class model_sees { images, no_images };
files_to_store choose_files(const std::vector<result_file>& all, model_sees sees);

// Stores them in the run's workspace and adds a line for each to the content. Never throws: what goes wrong is such a line.
ry::task<void> store_result_files(parts& p, std::shared_ptr<live_run> run, std::vector<result_file> all,
                                  tool_outcome& outcome);

}  // namespace runs
