#include "workbook_binary.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "biff.hpp"
#include "code_pages.hpp"
#include "office/cell_format.hpp"
#include "office/reading.hpp"

namespace extract {
namespace {

// BIFF2 records have no style number; programs also write them into later workbooks.
enum record_type : unsigned {
  number_of_biff2 = 0x03,
  label_of_biff2 = 0x04,
  formula = 0x06,
  end_of_part = 0x0A,
  note = 0x1C,
  format_of_biff3 = 0x1E,
  date_mode = 0x22,
  encryption = 0x2F,
  code_page = 0x42,
  object = 0x5D,
  sheet_name = 0x85,
  number_run = 0xBD,
  rich_label = 0xD6,
  style = 0xE0,
  shared_strings = 0xFC,
  shared_label = 0xFD,
  text_object = 0x1B6,
  number = 0x203,
  label = 0x204,
  boolean = 0x205,
  formula_of_biff3 = 0x206,
  formula_string = 0x207,
  begin_biff3 = 0x209,
  style_of_biff3 = 0x243,
  packed_number = 0x27E,
  formula_of_biff4 = 0x406,
  begin_biff4 = 0x409,
  format = 0x41E,
  style_of_biff4 = 0x443,
  begin_part = 0x809,
  chart_text = 0x100D,
  chart_values = 0x1065,
};

constexpr unsigned biff8 = 0x0600, chart_part = 0x20;  // in a begin_part record
constexpr std::size_t max_gap = 1024;  // empty cells shown between two cells
constexpr std::size_t max_styles = 65536;

struct sheet_entry {
  std::size_t position = 0;
  bool hidden = false;
  std::string name;
};

std::string_view error_name(unsigned code) {
  static constexpr std::array<std::pair<unsigned, std::string_view>, 8> names{{{0x00, "#NULL!"},
                                                                               {0x07, "#DIV/0!"},
                                                                               {0x0F, "#VALUE!"},
                                                                               {0x17, "#REF!"},
                                                                               {0x1D, "#NAME?"},
                                                                               {0x24, "#NUM!"},
                                                                               {0x2A, "#N/A"},
                                                                               {0x2B, "#GETTING_DATA"}}};
  for (const auto& [number, name] : names)
    if (number == code) return name;
  return "#ERROR";
}

double unpacked(std::uint32_t packed) {
  const double value = (packed & 2) != 0
                           ? static_cast<double>(static_cast<std::int32_t>(packed) >> 2)
                           : std::bit_cast<double>(static_cast<std::uint64_t>(packed & ~std::uint32_t{3}) << 32);
  return (packed & 1) != 0 ? value / 100 : value;
}

// The data that the sheets share.
class workbook {
 public:
  workbook(std::string_view stream, std::size_t max_bytes) : stream_(stream), max_bytes_(max_bytes) {}
  // False: the workbook is encrypted.
  bool read_globals();
  void read_sheets(std::string& out);

 private:
  friend class sheet;
  biff_reader reader(const biff_record& r, std::size_t at = 0) const {
    return biff_reader(r, code_page_, version_ == 8, 0, at);
  }
  void read_global(const biff_record& r);
  void read_strings(const biff_record& r);
  void read_sheet_name(const biff_record& r);
  void read_format(const biff_record& r);
  void add_style(unsigned format_id) {
    if (format_of_style_.size() < max_styles) format_of_style_.push_back(format_id);
  }
  std::string formatted(double value, unsigned style_id) const;

  const std::string_view stream_;
  const std::size_t max_bytes_;
  int version_ = 8;  // BIFF version
  unsigned code_page_ = 1252;
  date_system dates_ = date_system::from_1900;
  std::vector<sheet_entry> sheets_;
  std::vector<std::string> strings_;
  std::map<unsigned, number_format> formats_;
  std::vector<unsigned> format_of_style_;
};

// The cells and other texts of one sheet.
class sheet {
 public:
  explicit sheet(const workbook& book) : book_(book) {}
  void take(const biff_record& r);
  void write(std::string& out) const;
  bool full() const { return used_ > book_.max_bytes_; }

 private:
  using cell_position = std::pair<std::uint32_t, std::uint32_t>;  // row, column
  cell_position position_of(little_endian body) const;
  void put(cell_position at, std::string text);
  void take_number_run(const biff_record& r);
  void take_formula(const biff_record& r, cell_position at);
  void take_text_object(const biff_record& r);
  void take_note(const biff_record& r, cell_position at);
  void add_aside(std::string text);

  const workbook& book_;
  std::map<cell_position, std::string> cells_;
  std::map<unsigned, std::string> object_texts_;
  std::map<unsigned, cell_position> notes_;  // by object id
  std::vector<std::string> asides_;
  std::optional<cell_position> cell_awaiting_string_;
  unsigned object_ = 0;
  bool is_chart_ = false;
  std::uint32_t chart_values_ = 0;
  std::size_t used_ = 0;
};

// "B2"
std::string cell_name(std::pair<std::uint32_t, std::uint32_t> at) {
  std::string letters;
  for (std::uint32_t n = at.second + 1; n > 0; n = (n - 1) / 26)
    letters.insert(letters.begin(), static_cast<char>('A' + (n - 1) % 26));
  return letters + std::to_string(at.first + 1);
}

std::string workbook::formatted(double value, unsigned style_id) const {
  number_format as;
  if (style_id < format_of_style_.size()) {
    const auto own = formats_.find(format_of_style_[style_id]);
    as = own != formats_.end() ? own->second : builtin_number_format(format_of_style_[style_id]);
  }
  std::array<char, 512> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return show_number(std::string_view(digits.data(), static_cast<std::size_t>(end.ptr - digits.data())), as, dates_);
}

void workbook::read_strings(const biff_record& r) {
  biff_reader in = reader(r, 4);
  const std::size_t n = r.body().u32(4);
  in.skip(4);
  while (strings_.size() < n && !in.at_end()) strings_.push_back(in.string(in.u16()));
}

void workbook::read_sheet_name(const biff_record& r) {
  const little_endian body = r.body();
  biff_reader in = reader(r, 6);
  const std::size_t n = in.u8();
  const std::string name = in.string(n);
  sheets_.push_back(
      {body.u32(0), (body.u8(4) & 3) != 0, name.empty() ? "Sheet" + std::to_string(sheets_.size() + 1) : name});
}

void workbook::read_format(const biff_record& r) {
  biff_reader in = reader(r);
  unsigned id = r.type == format ? in.u16() : 0;
  if (version_ < 5) id = static_cast<unsigned>(formats_.size());  // numbered in order
  const std::size_t n = version_ == 8 ? in.u16() : in.u8();
  formats_[id] = parse_number_format(in.string(n));
}

void workbook::read_global(const biff_record& r) {
  const little_endian body = r.body();
  switch (r.type) {
    case begin_part:
      version_ = body.u16(0) == biff8 ? 8 : 5;
      break;
    case begin_biff3:
      version_ = 3;
      break;
    case begin_biff4:
      version_ = 4;
      break;
    case date_mode:
      dates_ = body.u16(0) != 0 ? date_system::from_1904 : date_system::from_1900;
      break;
    case code_page:
      code_page_ = body.u16(0);
      break;
    case sheet_name:
      read_sheet_name(r);
      break;
    case shared_strings:
      read_strings(r);
      break;
    case format:
    case format_of_biff3:
      read_format(r);
      break;
    case style:
      add_style(body.u16(2));
      break;
    case style_of_biff3:
    case style_of_biff4:
      add_style(body.u8(1));
      break;
    default:
      break;
  }
}

bool workbook::read_globals() {
  biff_stream in(stream_);
  for (biff_record r; in.next(r) && r.type != end_of_part;) {
    if (r.type == encryption) return false;
    read_global(r);
  }
  // Before Excel 5, a file is a single sheet.
  if (sheets_.empty()) sheets_.push_back({0, false, "Sheet1"});
  return true;
}

void workbook::read_sheets(std::string& out) {
  std::set<std::size_t> seen;
  std::size_t read = 0;
  for (const sheet_entry& entry : sheets_) {
    if (!seen.insert(entry.position).second || out.size() >= max_bytes_ || read > 2 * stream_.size()) continue;
    sheet cells(*this);
    biff_stream in(stream_, entry.position);
    int depth = 0;
    for (biff_record r; !cells.full() && in.next(r);) {
      if (r.type == begin_part) ++depth;
      if (r.type == end_of_part && --depth <= 0) break;
      // The cells of a chart in a sheet are skipped: they repeat cells of sheets.
      if (depth <= 1 || r.type == chart_text) cells.take(r);
    }
    read += in.position() - std::min(in.position(), entry.position);
    out += "--- Sheet: " + entry.name + (entry.hidden ? " (hidden)" : "") + " ---\n";
    cells.write(out);
  }
}

void sheet::put(cell_position at, std::string text) {
  if (text.empty()) return;
  used_ += text.size() + 1;
  cells_[at] = one_line(std::move(text));
}

void sheet::add_aside(std::string text) {
  used_ += text.size() + 1;
  if (!text.empty()) asides_.push_back(one_line(std::move(text)));
}

void sheet::take_number_run(const biff_record& r) {
  const little_endian body = r.body();
  const std::uint32_t row = body.u16(0), first = body.u16(2);
  for (std::size_t at = 4, i = 0; at + 8 <= body.size(); at += 6, ++i)
    put({row, first + static_cast<std::uint32_t>(i)}, book_.formatted(unpacked(body.u32(at + 2)), body.u16(at)));
}

void sheet::take_formula(const biff_record& r, cell_position at) {
  const little_endian body = r.body();
  constexpr unsigned no_number = 0xFFFF, is_string = 0, is_boolean = 1, is_error = 2;
  if (body.u16(12) != no_number) return put(at, book_.formatted(body.f64(6), body.u16(4)));
  if (body.u8(6) == is_string) cell_awaiting_string_ = at;
  if (body.u8(6) == is_boolean) put(at, body.u8(8) != 0 ? "TRUE" : "FALSE");
  if (body.u8(6) == is_error) put(at, std::string(error_name(body.u8(8))));
}

void sheet::take_text_object(const biff_record& r) {
  const std::size_t n = r.body().u16(10);
  if (n == 0 || r.parts.size() < 2) return;
  biff_reader in(r, book_.code_page_, book_.version_ == 8, 1);
  object_texts_[object_] += in.string(n);
  used_ += n;
}

void sheet::take_note(const biff_record& r, cell_position at) {
  const little_endian body = r.body();
  if (book_.version_ == 8) {
    notes_[body.u16(6)] = at;
  } else {
    biff_reader in = book_.reader(r, 6);
    add_aside(cell_name(at) + ": " + in.string(body.u16(4)));
  }
}

// In a chart, the points of a series are a column. They are shown as a row, separately for each kind of values (names,
// sizes).
sheet::cell_position sheet::position_of(little_endian body) const {
  constexpr std::uint32_t max_rows = 65536;
  return is_chart_ ? cell_position{chart_values_ * max_rows + body.u16(2), body.u16(0)}
                   : cell_position{body.u16(0), body.u16(2)};
}

void sheet::take(const biff_record& r) {
  const little_endian body = r.body();
  const cell_position at = position_of(body);
  switch (r.type) {
    case shared_label:
      if (const std::size_t n = body.u32(6); n < book_.strings_.size()) put(at, book_.strings_[n]);
      break;
    case number_of_biff2:
      put(at, book_.formatted(body.f64(7), 0));
      break;
    case number:
      put(at, book_.formatted(body.f64(6), body.u16(4)));
      break;
    case packed_number:
      put(at, book_.formatted(unpacked(body.u32(6)), body.u16(4)));
      break;
    case number_run:
      take_number_run(r);
      break;
    case label_of_biff2: {
      biff_reader in = book_.reader(r, 8);
      put(at, in.string(body.u8(7)));
      break;
    }
    case label:
    case rich_label: {
      biff_reader in = book_.reader(r, 8);
      put(at, in.string(body.u16(6)));
      break;
    }
    case boolean:
      put(at, body.u8(7) != 0 ? std::string(error_name(body.u8(6))) : body.u8(6) != 0 ? "TRUE" : "FALSE");
      break;
    case formula:
    case formula_of_biff3:
    case formula_of_biff4:
      take_formula(r, at);
      break;
    case formula_string:
      if (cell_awaiting_string_) {
        biff_reader in = book_.reader(r, 2);
        put(*cell_awaiting_string_, in.string(body.u16(0)));
        cell_awaiting_string_.reset();
      }
      break;
    case begin_part:
      is_chart_ = body.u16(2) == chart_part;
      break;
    case chart_values:
      chart_values_ = body.u16(0);
      break;
    case object:
      object_ = body.u16(6);
      break;
    case text_object:
      take_text_object(r);
      break;
    case note:
      take_note(r, at);
      break;
    case chart_text: {
      biff_reader in = book_.reader(r, 3);
      add_aside(in.string(body.u8(2)));
      break;
    }
    default:
      break;
  }
}

void sheet::write(std::string& out) const {
  std::optional<std::uint32_t> row;
  std::uint32_t column = 0;
  for (const auto& [at, text] : cells_) {
    if (out.size() >= book_.max_bytes_) return;
    if (row != at.first) {
      if (row) out += '\n';
      row = at.first;
      column = 0;
    }
    out.append(std::min<std::size_t>(at.second - column, max_gap), '\t');
    column = at.second;
    out += text;
  }
  if (row) out += '\n';
  for (const auto& [id, text] : object_texts_) {
    const auto of = notes_.find(id);
    out += (of == notes_.end() ? "" : cell_name(of->second) + ": ") + one_line(text) + "\n";
  }
  for (const std::string& text : asides_) out += text + "\n";
}

}  // namespace

void read_workbook_binary(std::string_view stream, std::size_t max_bytes, office_text& out) {
  workbook book(stream, max_bytes);
  if (!book.read_globals()) {
    out.problem = "it is encrypted and needs a password";
    return;
  }
  out.kind = "xls";
  book.read_sheets(out.text);
}

}  // namespace extract
