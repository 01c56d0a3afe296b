// Converts results of tools/call to the form of agent.tools/1. Without I/O.
#pragma once

#include <string>

#include "rpc.hpp"

namespace mcp {

// The result_json of agent.tools/1: "content" for the model, "is_error", "images", "structured", "files", and under
// "mcp" the unchanged result of the server. The model gets the texts of the content or, if there are none, the
// structured content; binary data is replaced by its size. Output beyond max_bytes is truncated with a note.
// `mismatch`: where the structured content violates the tool's output schema; it is then omitted, except under "mcp".
// Binary data other than images goes to "files", up to max_files_bytes in total (in base64).
std::string result_json(const json::value& result, std::size_t max_bytes, std::string_view mismatch = {},
                        std::size_t max_files_bytes = 0);

// The same result with a note for the model appended to its content and to the server's own content under "mcp".
std::string with_note(std::string_view result_json, std::string_view note);

// The result_json of a call that failed without a result.
std::string error_json(std::string_view message);

}  // namespace mcp
