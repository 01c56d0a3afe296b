#include "core/observe/open_span.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/observe/tracer.hpp"

namespace ry::observe {

namespace {

std::int64_t steady_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::unique_ptr<open_span::state> open_span::begin(const ry_trace& node, span_kind kind) {
  if (!node.home || !node.sampled()) return nullptr;
  auto out = std::make_unique<state>(state{node.home, steady_ns(), {}});
  auto& s = out->s;
  s.trace_id = node.trace_id;
  s.flags = node.flags;
  s.state = node.state;
  s.kind = kind;
  s.begun_ns = unix_ns();
  return out;
}

open_span::open_span(const trace_ref& parent, span_kind kind, std::string_view name) {
  if (!parent) return;
  under_way_ = begin(*parent, kind);
  if (!under_way_) return;
  auto& s = under_way_->s;
  s.span_id = under_way_->home->new_span_id();
  s.parent_id = parent->span_id;
  s.name = name;
}

open_span open_span::of(const trace_ref& node, span_kind kind) {
  open_span out;
  if (!node) return out;
  out.under_way_ = begin(*node, kind);
  if (!out) return out;
  auto& s = out.under_way_->s;
  s.span_id = node->span_id;
  s.parent_id = node->parent_id;
  s.remote_parent = node->remote_parent;
  return out;
}

void open_span::name(std::string text) {
  if (under_way_) under_way_->s.name = std::move(text);
}
void open_span::set(std::string_view key, std::string value) {
  if (under_way_) under_way_->s.attributes.push_back({key, std::move(value)});
}
void open_span::set(std::string_view key, std::int64_t value) {
  if (under_way_) under_way_->s.attributes.push_back({key, value});
}
void open_span::fail(std::string type) {
  if (!under_way_ || std::exchange(under_way_->s.failed, true)) return;
  under_way_->s.attributes.push_back({"error.type", std::move(type)});
}

void open_span::end() noexcept {
  const auto done = std::move(under_way_);
  if (!done) return;
  done->s.ended_ns = done->s.begun_ns + std::max<std::int64_t>(0, steady_ns() - done->steady_ns);
  done->home->record(std::move(done->s));
}

}  // namespace ry::observe
