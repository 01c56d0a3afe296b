// Determines the type of a file from its content. Pure.
#pragma once
#include <string_view>

namespace extract {

// workbook_stream: a workbook of Excel 3 or 4, which did not use compound files.
enum class file_kind { pdf, zip, compound_file, rich_text, workbook_stream, other };
// `head`: the beginning of the file; `tail`: its last bytes, which may overlap `head`.
file_kind kind_of(std::string_view head, std::string_view tail);

// Whether the beginning of a file contains PDF objects ("1 0 obj"). Without any, a file that begins with "%PDF-1.7" may
// be plain text.
bool has_pdf_objects(std::string_view head);

// Whether a piece of a compound file (OLE) contains the directory entry of an encrypted package, which Office writes
// for a document with a password or with rights management. `piece` begins at a multiple of 128 bytes in the file.
bool names_encrypted_package(std::string_view piece);

}  // namespace extract
