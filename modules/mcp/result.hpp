// Results of tools/call as agent.tools/1 hands them over. Without I/O.
#pragma once

#include <string>

#include "rpc.hpp"

namespace mcp {

// The result_json of agent.tools/1: "content" for the model, "is_error", "images", "structured", and under
// "mcp" the result as the server sent it, so that nothing is lost to a reader of more than text. The model is
// given the texts of the content or, where there are none, the structured content; bytes are named by their size.
// What does not fit into max_bytes is cut with a note that says how much. `mismatch`: where the structured
// content differs from what the tool promised; it is then left to those who read "mcp". Bytes other than images stand under
// "files" while they take no more than max_files_bytes together (in base64).
std::string result_json(const json::value& result, std::size_t max_bytes, std::string_view mismatch = {},
                        std::size_t max_files_bytes = 0);

// The same result with a sentence for the model after its content.
std::string with_note(std::string_view result_json, std::string_view note);

// The same for a call that failed otherwise.
std::string error_json(std::string_view sentence);

}  // namespace mcp
