// Calls of SQL functions with many parameters: each argument is passed by name, so that none can be mixed up.
//
//   const sql_call call("outcome, detail", "runs.start_runs", arg("p_accounts", accounts, "text[]::uuid[]"), ...);
//   ry::result<ry::rows> rows = co_await call.run_on(db);
#pragma once
#include <string>
#include <string_view>
#include <tuple>

namespace runs {

template <class T>
struct sql_argument {
  std::string_view name;
  const T& value;
  // The types that the value is cast to, for example "text[]::uuid[]"; empty: PostgreSQL infers the type.
  std::string_view cast;
};

// `value` must outlive the sql_call.
template <class T>
sql_argument<T> arg(std::string_view name, const T& value, std::string_view cast = {}) {
  return {name, value, cast};
}
template <class T>
sql_argument<T> arg(std::string_view name, const T&& value, std::string_view cast = {}) = delete;

template <class... T>
class sql_call {
 public:
  sql_call(std::string_view columns, std::string_view function, const sql_argument<T>&... arguments)
      : arguments_(arguments...) {
    text_.append("select ").append(columns).append(" from ").append(function).append("(");
    int n = 0;
    const auto add = [&](std::string_view name, std::string_view cast) {
      if (n != 0) text_ += ", ";
      text_.append(name).append(" => $").append(std::to_string(++n));
      if (!cast.empty()) text_.append("::").append(cast);
    };
    (add(arguments.name, arguments.cast), ...);
    text_ += ')';
  }
  sql_call(const sql_call&) = delete;

  // "select outcome, detail from runs.start_runs(p_accounts => $1::text[]::uuid[], ...)"
  const std::string& text() const { return text_; }
  // `target`: a ry::database or a ry::tx; returns its ry::result<ry::rows>. This object must outlive the query.
  template <class Target>
  auto run_on(Target& target) const {
    return std::apply([&](const auto&... a) { return target.query(text_, a.value...); }, arguments_);
  }

 private:
  std::string text_;
  std::tuple<sql_argument<T>...> arguments_;
};

}  // namespace runs
