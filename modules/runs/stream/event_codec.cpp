#include "stream/event_codec.hpp"

#include <array>
#include <charconv>
#include <optional>

#include "stream/event_text.hpp"

namespace runs {
namespace {

constexpr std::array<std::string_view, 2> text_types{"llm_response_chunk", "reasoning_chunk"};
constexpr std::string_view id = "id: ", data = "\ndata: {\"type\": \"",
                           sequence = "\", \"sequence\": ", content = ", \"content\": ", end_of_event = "}\n\n",
                           end_of_block = "\n\n", end_of_list = "]\n\n";

bool skip(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

std::string_view text_type_at(std::string_view text) {
  for (const std::string_view type : text_types)
    if (text.starts_with(type)) return type;
  return {};
}

// The size of the JSON string at the beginning of the text; 0: the text does not begin with one.
std::size_t string_size(std::string_view text) {
  if (!text.starts_with('"')) return 0;
  for (std::size_t at = text.find('"', 1); at != std::string_view::npos; at = text.find('"', at + 1)) {
    std::size_t backslashes = 0;
    while (text[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at + 1;
  }
  return 0;
}

// The expected wire form of a text chunk up to its content. Reused for the next chunk, in which usually only the
// sequence number differs.
class chunk_prefix {
 public:
  explicit chunk_prefix(std::uint64_t number) : number_(std::to_string(number)) {}
  std::string_view number() const { return number_; }
  // The type of the text chunk at the front of `wire`, or empty.
  std::string_view type_of(std::string_view wire) {
    if (!text_.empty() && wire.starts_with(text_)) return type_;
    if (wire.size() < id.size() + number_.size() + data.size()) return {};
    const std::string_view type = text_type_at(wire.substr(id.size() + number_.size() + data.size()));
    if (type.empty() || type == type_) return {};
    type_ = type;
    write();
    return wire.starts_with(text_) ? type_ : std::string_view();
  }
  std::size_t size() const { return text_.size(); }
  void next() {
    std::size_t at = number_.size();
    while (at > 0 && number_[at - 1] == '9') number_[--at] = '0';
    if (at == 0)
      number_.insert(0, 1, '1');
    else
      ++number_[at - 1];
    if (type_.empty()) return;
    if (at == 0) return write();
    number_.copy(text_.data() + id.size(), number_.size());
    number_.copy(text_.data() + text_.size() - content.size() - number_.size(), number_.size());
  }

 private:
  void write() {
    text_.clear();
    text_.append(id).append(number_).append(data).append(type_).append(sequence).append(number_).append(content);
  }
  std::string number_, text_;
  std::string_view type_;
};

struct text_chunk {
  std::string_view type;
  std::string_view text;  // the JSON string
  std::size_t wire_bytes;  // of the complete event
};

// The first event of `wire`, if it is a text chunk that the encoding reproduces byte for byte.
std::optional<text_chunk> chunk_at(std::string_view wire, chunk_prefix& expected) {
  const std::string_view type = expected.type_of(wire);
  if (type.empty()) return std::nullopt;
  const std::string_view rest = wire.substr(expected.size());
  const std::size_t size = string_size(rest);
  if (size == 0 || !rest.substr(size).starts_with(end_of_event)) return std::nullopt;
  return text_chunk{type, rest.substr(0, size), expected.size() + size + end_of_event.size()};
}

std::size_t event_size(std::string_view wire) {
  const std::size_t end = wire.find(end_of_block);
  return end == std::string_view::npos ? wire.size() : end + end_of_block.size();
}

// Adds the events of a line that contains merged text chunks.
void unfold_line(std::string_view line, unfolded& out) {
  const std::string_view type = text_type_at(line);
  if (type.empty()) return;
  line.remove_prefix(type.size());
  std::uint64_t number = 0;
  if (!skip(line, " ")) return;
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
  line.remove_prefix(static_cast<std::size_t>(parsed.ptr - line.data()));
  if (parsed.ec != std::errc() || !skip(line, " [")) return;
  do {
    const std::size_t size = string_size(line);
    if (size == 0) return;
    event_text(out.wire, number++, type).json("content", line.substr(0, size));
    ++out.count;
    line.remove_prefix(size);
  } while (skip(line, ","));
}

}  // namespace

void log_rows::add(std::string_view wire, std::uint64_t from, std::uint64_t to) {
  std::string row;
  std::size_t wire_bytes = 0;
  std::string_view open_type;  // the chunk type of the unfinished line at the end of the row
  const auto end_line = [&] {
    if (!open_type.empty()) row += end_of_list;
    open_type = {};
  };
  const auto end_row = [&](std::uint64_t last) {
    end_line();
    firsts.push_back(static_cast<std::int64_t>(from));
    lasts.push_back(static_cast<std::int64_t>(last));
    texts.push_back(std::move(row));
    row.clear();
    wire_bytes = 0;
    from = last + 1;
  };
  chunk_prefix expected(from);
  for (std::uint64_t at = from; !wire.empty(); ++at, expected.next()) {
    const std::optional<text_chunk> chunk = chunk_at(wire, expected);
    const std::size_t size = chunk ? chunk->wire_bytes : event_size(wire);
    // Upper bound: the chunk may need a separate line.
    const std::size_t added_bytes =
        chunk ? chunk->type.size() + expected.number().size() + chunk->text.size() + 2 * end_of_list.size() + 3
              : size + (open_type.empty() ? 0 : end_of_list.size());
    if (at != from && (row.size() + added_bytes > max_bytes || wire_bytes + size > max_wire_bytes)) end_row(at - 1);
    if (!chunk || chunk->type != open_type) end_line();
    if (!chunk) {
      row += wire.substr(0, size);
    } else if (!open_type.empty()) {
      row += ',';
      row += chunk->text;
    } else {
      row.append(chunk->type).append(" ").append(expected.number()).append(" [").append(chunk->text);
      open_type = chunk->type;
    }
    wire_bytes += size;
    wire.remove_prefix(size);
  }
  if (!row.empty()) end_row(to);
}

unfolded unfold(std::string_view rows) {
  unfolded out;
  while (!rows.empty()) {
    const std::size_t size = event_size(rows);
    const std::string_view block = rows.substr(0, size);
    if (block.starts_with(id)) {
      out.wire += block;
      ++out.count;
    } else {
      unfold_line(block, out);
    }
    rows.remove_prefix(size);
  }
  return out;
}

}  // namespace runs
