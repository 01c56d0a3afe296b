// The text of PDF files, by pdftotext in a process of its own.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace extract {

struct pdf_text {
  std::string text;  // UTF-8
  std::string problem;  // why there is no text; a sentence without a full stop
  bool damaged = false;  // no PDF reader could read it; perhaps it is no PDF
  std::string missing;  // why the text is incomplete; the same
};

// The outcome of a run of pdftotext: its exit status (-1: it did not end by itself), output and error messages. Pure.
pdf_text judge_pdf(int status, std::string text, std::string_view messages);

pdf_text read_pdf(const char* path, std::size_t max_bytes);

}  // namespace extract
