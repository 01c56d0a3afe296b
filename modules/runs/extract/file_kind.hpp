// What a file is by its content. Pure.
#pragma once
#include <string_view>

namespace extract {

// workbook_stream: of Excel 3 and 4, which did not use compound files.
enum class file_kind { pdf, zip, compound_file, rich_text, workbook_stream, other };
// `head`: the beginning of the file; `tail`: its last bytes, which may overlap.
file_kind kind_of(std::string_view head, std::string_view tail);

// Whether the beginning of a file has objects of a PDF ("1 0 obj"). Without any, a file that begins with "%PDF-1.7" may be a text.
bool has_pdf_objects(std::string_view head);

// Whether a piece of a compound file (OLE) has the directory entry of an encrypted package: what Office makes of a document with a
// password or with rights management. `piece` begins at a multiple of 128 bytes in the file.
bool names_encrypted_package(std::string_view piece);

}  // namespace extract
