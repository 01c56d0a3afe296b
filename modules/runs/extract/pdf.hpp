// Extracts the text of PDF files by running pdftotext.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace extract {

struct pdf_text {
  std::string text;  // UTF-8
  std::string problem;  // why there is no text: a sentence without a period
  bool damaged = false;  // no PDF reader could read the file; it may not be a PDF
  std::string missing;  // why the text is incomplete, in the same form
};

// Interprets the result of pdftotext: its exit status (-1: terminated by a signal), output and error messages. Pure.
pdf_text judge_pdf(int status, std::string text, std::string_view messages);

pdf_text read_pdf(const char* path, std::size_t max_bytes);

}  // namespace extract
