#include "legacy_office.hpp"

#include "compound_file.hpp"
#include "presentation_binary.hpp"
#include "word_binary.hpp"
#include "workbook_binary.hpp"

namespace extract {
namespace {

void read_presentation(const compound_file& root, std::size_t max_bytes, office_text& out) {
  // PowerPoint 97 can save a document for both PowerPoint 95 and 97; the version for PowerPoint 97 is then in this
  // storage.
  const compound_file dual = root.storage("PP97_DUALSTORAGE");
  const compound_file& file = dual.readable() ? dual : root;
  if (file.has("EncryptedSummary")) {
    out.problem = "it is encrypted and needs a password";
    return;
  }
  read_presentation_binary(file.stream("PowerPoint Document"), file.stream("Current User"), max_bytes, out);
}

}  // namespace

office_text read_legacy_office(const std::string& path, std::size_t max_bytes) {
  office_text out;
  const compound_file file(path);
  if (!file.readable()) {
    out.problem = "it is in the binary format of old office programs (doc, xls, ppt) and damaged";
  } else if (file.has("EncryptedPackage") || file.has("EncryptionInfo")) {
    out.problem = "it is encrypted and needs a password";
  } else if (file.has("WordDocument")) {
    read_word_binary(file.stream("WordDocument"), file.stream("0Table"), file.stream("1Table"), max_bytes, out);
  } else if (file.has("Workbook")) {
    read_workbook_binary(file.stream("Workbook"), max_bytes, out);
  } else if (file.has("Book")) {
    read_workbook_binary(file.stream("Book"), max_bytes, out);
  } else if (file.has("PowerPoint Document")) {
    read_presentation(file, max_bytes, out);
  } else if (file.has("PP40")) {
    out.problem = "it is a presentation of PowerPoint 95 or earlier, which cannot be read; save it as pptx";
  } else if (file.has("__properties_version1.0")) {
    out.problem = "it is a message of Outlook (msg), which cannot be read; save it as text";
  } else {
    out.problem = "it is a compound file (OLE) that contains no document of Word, Excel or PowerPoint";
  }
  return out;
}

}  // namespace extract
