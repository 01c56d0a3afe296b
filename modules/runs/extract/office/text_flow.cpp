#include "text_flow.hpp"

#include <algorithm>
#include <utility>

namespace extract {

void text_flow::add(std::string_view text) {
  if (full()) return;
  current_text() += text;
  if (!asides_.empty()) pending_bytes_ += text.size();
}

void text_flow::add_repeated(std::string_view text, std::size_t times) {
  for (; times > 0 && !full(); --times) add(text);
}

void text_flow::end_line() {
  add(in_cell() ? " " : "\n");
  // In a table, asides follow the row because they are not part of the cell's value.
  if (in_cell() || level().after.empty()) return;
  const std::string after = std::exchange(level().after, {});
  pending_bytes_ -= after.size();
  add(after);
}

void text_flow::end_cell(std::size_t columns) {
  level().cells = std::max(level().cells - 1, 0);
  std::string& text = current_text();
  while (!text.empty() && text.back() == ' ') text.pop_back();
  add_repeated("\t", columns);
}

void text_flow::end_row() {
  std::string& text = current_text();
  while (!text.empty() && text.back() == '\t') text.pop_back();
  end_line();
}

void text_flow::begin_aside() {
  asides_.emplace_back();
}

void text_flow::end_aside() {
  if (asides_.empty()) return;
  flow_level done = std::move(asides_.back());
  asides_.pop_back();
  done.text += done.after;
  if (!done.text.empty() && done.text.back() != '\n') {
    done.text += '\n';
    ++pending_bytes_;
  }
  level().after += done.text;
}

}  // namespace extract
