#include "core/db/call.hpp"

#include <boost/endian/conversion.hpp>
#include <charconv>
#include <cstring>
#include <limits>

#include "core/db/failure.hpp"

namespace ry::db {

namespace {

constexpr unsigned oid_bytea = 17, oid_int8 = 20, oid_text = 25, oid_uuid = 2950;
constexpr unsigned oid_int8_array = 1016, oid_text_array = 1009;
constexpr std::size_t max_params = 65535;
constexpr std::size_t max_value = 1u << 30;  // the server's limit for one field

[[noreturn]] void reject_argument(std::string reason, std::string message) {
  throw failure({RY_INVALID_ARGUMENT, std::move(reason), std::move(message), {}, 0, 0});
}

void check_text(std::string_view s, std::size_t index) {
  if (s.find('\0') != std::string_view::npos)
    reject_argument("db.nul_byte",
                    "Text with a NUL byte cannot be stored (parameter $" + std::to_string(index + 1) + ").");
}

void put(std::string& out, std::int32_t v) {
  const auto be = boost::endian::native_to_big(v);
  out.append(reinterpret_cast<const char*>(&be), sizeof be);
}
void put(std::string& out, std::int64_t v) {
  const auto be = boost::endian::native_to_big(v);
  out.append(reinterpret_cast<const char*>(&be), sizeof be);
}

// Header of a one-dimensional array in the binary format of array_recv.
void array_head(std::string& out, std::size_t n, bool has_null, unsigned element) {
  put(out, std::int32_t{n ? 1 : 0});
  put(out, std::int32_t{has_null ? 1 : 0});
  put(out, static_cast<std::int32_t>(element));
  if (!n) return;
  put(out, static_cast<std::int32_t>(n));
  put(out, std::int32_t{1});
}

// Approximate upper bound of a parameter's encoded size.
std::size_t room_of(const ry_value& v) {
  constexpr std::size_t head = 24;
  switch (v.kind) {
    case RY_V_TEXT:
      return head + v.u.s.len;
    case RY_V_BYTES:
      return head + v.u.b.len;
    case RY_V_INT_ARRAY:
      return head + 12 * std::min<std::size_t>(v.u.a.len, max_value);
    case RY_V_TEXT_ARRAY: {
      std::size_t room = head;
      for (const ry_str& s : std::span(static_cast<const ry_str*>(v.u.a.items), v.u.a.len))
        room += 4 + (s.ptr ? std::min<std::size_t>(s.len, max_value) : 0);
      return room;
    }
    default:
      return 2 * head;
  }
}

}  // namespace

call::call(std::string_view schema, std::string_view sql, std::span<const ry_value> params, std::uint32_t flags,
           std::chrono::milliseconds timeout)
    : flags_(flags), timeout_(timeout) {
  if (sql.find('\0') != std::string_view::npos)
    reject_argument("db.nul_byte", "A statement must not contain a NUL byte.");
  if (params.size() > max_params) reject_argument("db.parameters", "A statement takes at most 65535 parameters.");
  // Reserve once: appending large batches would copy the buffer several times.
  std::size_t room = 0;
  for (const ry_value& v : params) room += room_of(v);
  data_.reserve(room);
  for (std::size_t i = 0; i < params.size(); ++i) add(params[i], i);

  schema_len_ = schema.size();
  key_.reserve(schema.size() + sql.size() + params.size() + 2);
  key_.append(schema).push_back('\n');
  for (const auto t : types_)
    key_.push_back(t == 0 ? '?' : t == oid_bytea ? 'b' : t == oid_uuid ? 'u' : t == oid_int8_array ? 'i' : 't');
  key_.push_back('\n');
  sql_at_ = key_.size();
  key_.append(sql);
}

void call::add(const ry_value& v, std::size_t index) {
  const auto begin = data_.size();
  unsigned type = 0;
  bool binary = false, null = false;
  switch (v.kind) {
    case RY_V_NULL:
      null = true;
      break;
    case RY_V_BOOL:
      data_.append(v.u.i ? "t" : "f");
      break;
    case RY_V_INT:
    case RY_V_DOUBLE: {
      char buf[40];
      const auto r = v.kind == RY_V_INT ? std::to_chars(buf, buf + sizeof buf, v.u.i)
                                        : std::to_chars(buf, buf + sizeof buf, v.u.d);
      data_.append(buf, r.ptr);
      break;
    }
    case RY_V_TEXT: {
      const auto s = core::sv(v.u.s);
      check_text(s, index);
      data_.append(s);
      break;
    }
    case RY_V_BYTES:
      type = oid_bytea;
      binary = true;
      data_.append(core::sv(v.u.b));
      break;
    case RY_V_UUID:
      if (v.u.b.len != 16)
        reject_argument("db.uuid", "A UUID parameter has 16 bytes (parameter $" + std::to_string(index + 1) + ").");
      type = oid_uuid;
      binary = true;
      data_.append(core::sv(v.u.b));
      break;
    case RY_V_INT_ARRAY: {
      type = oid_int8_array;
      binary = true;
      const auto* items = static_cast<const std::int64_t*>(v.u.a.items);
      array_head(data_, v.u.a.len, false, oid_int8);
      for (std::size_t i = 0; i < v.u.a.len; ++i) {
        put(data_, std::int32_t{8});
        put(data_, items[i]);
      }
      break;
    }
    case RY_V_TEXT_ARRAY: {
      type = oid_text_array;
      binary = true;
      const std::span items(static_cast<const ry_str*>(v.u.a.items), v.u.a.len);
      bool has_null = false;
      for (const auto& s : items) has_null |= s.ptr == nullptr;
      array_head(data_, items.size(), has_null, oid_text);
      for (const auto& s : items) {
        if (!s.ptr) {
          put(data_, std::int32_t{-1});
          continue;
        }
        check_text(core::sv(s), index);
        if (s.len > max_value) break;  // rejected below
        put(data_, static_cast<std::int32_t>(s.len));
        data_.append(core::sv(s));
      }
      break;
    }
    default:
      reject_argument("db.parameter_kind", "Parameter $" + std::to_string(index + 1) + " is of an unknown kind.");
  }
  const auto length = data_.size() - begin;
  if (length > max_value || (v.kind >= RY_V_INT_ARRAY && v.kind != RY_V_UUID && v.u.a.len > max_value))
    reject_argument("db.parameter_size", "Parameter $" + std::to_string(index + 1) + " is too large.");
  types_.push_back(type);
  lengths_.push_back(null ? 0 : static_cast<int>(length));
  formats_.push_back(binary ? 1 : 0);
  offsets_.push_back(null ? -1 : static_cast<std::ptrdiff_t>(begin));
  data_.push_back('\0');  // libpq reads text parameters up to the NUL byte
}

const char* const* call::values() const {
  values_.clear();
  for (const auto o : offsets_) values_.push_back(o < 0 ? nullptr : data_.data() + o);
  return values_.data();
}

}  // namespace ry::db
