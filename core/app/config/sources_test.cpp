#include "core/app/config/sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace ry::app::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const node* at(const node& root, std::initializer_list<const char*> path) {
  const node* n = &root;
  for (const auto* p : path) {
    if (!n) return nullptr;
    n = n->find(p);
  }
  return n;
}

std::string text(const node* n) {
  return n && n->scalar.is_string() ? std::string(n->scalar.as_string()) : "<none>";
}

std::vector<std::string> formatted(const problems& all) {
  std::vector<std::string> out;
  for (const auto& p : all) out.push_back(p.format());
  return out;
}

TEST(key, reads_dotted_and_quoted_parts) {
  EXPECT_THAT(*parse_key("http.listen"), ElementsAre("http", "listen"));
  EXPECT_THAT(*parse_key("runs.models.\"runyard/b.c\""), ElementsAre("runs", "models", "runyard/b.c"));
  EXPECT_THAT(*parse_key("a.runyard/basic"), ElementsAre("a", "runyard/basic"));
  for (const auto* bad : {"", ".", "a.", ".a", "a..b", "\"a", "\"a\"b", "\"\""}) EXPECT_FALSE(parse_key(bad)) << bad;
  EXPECT_EQ(to_text({"runs", "models", "runyard/basic"}), "runs.models.\"runyard/basic\"");
  EXPECT_EQ(to_text({"http", "origins", "[1]"}), "http.origins[1]");
}

TEST(toml, records_the_location_of_a_key) {
  problems p;
  const auto tree = parse_toml("# c\n[http]\n  listen = \"x\"\n[http.tls]\ncert='y'\n", "c.toml", {}, p);
  EXPECT_THAT(p, IsEmpty());
  EXPECT_EQ(at(tree, {"http", "listen"})->where, "c.toml:3:3");
  EXPECT_EQ(at(tree, {"http", "tls", "cert"})->where, "c.toml:5:1");
  EXPECT_EQ(at(tree, {"http"})->where, "c.toml:2:2");
}

TEST(toml, keeps_the_order_of_the_file) {
  problems p;
  const auto tree = parse_toml("z = 1\na = 2\nm = 3\n", "c.toml", {}, p);
  ASSERT_THAT(tree.members, SizeIs(3));
  EXPECT_EQ(tree.members[0].first, "z");
  EXPECT_EQ(tree.members[2].first, "m");
}

TEST(toml, a_syntax_error_names_line_and_column) {
  problems p;
  parse_toml("a = 1\nb = = 2\n", "conf/x.toml", {}, p);
  ASSERT_THAT(p, SizeIs(1));
  EXPECT_THAT(p[0].format(), ::testing::StartsWith("conf/x.toml:2:5: "));
}

TEST(toml, a_syntax_error_says_how_to_write_the_line) {
  const auto fault = [](const std::string& text) {
    problems p;
    parse_toml(text, "f", {}, p);
    return p.size() == 1 ? p[0].format() : std::to_string(p.size()) + " faults";
  };
  EXPECT_EQ(fault("[http]\nlisten = 127.0.0.1:8080\n"), "f:2:12: a text needs quotes: write listen = \"...\"");
  EXPECT_EQ(fault("public_url = https://runs.example.org # ours\n"),
            "f:1:14: a text needs quotes: write public_url = \"...\"");
  EXPECT_EQ(fault("size = 1MB\n"), "f:1:9: size must be a number without a unit, or a text in quotes: size = \"...\"");
  EXPECT_EQ(fault("access_log = yes\n"), "f:1:14: access_log must be true or false");
  EXPECT_EQ(fault("listen: \"127.0.0.1:8080\"\n"), "f:1:7: a setting is written with \"=\", not \":\": listen = ...");
  EXPECT_EQ(fault("http\nlisten = \"x\"\n"),
            "f:1:5: the line is neither a table such as [http] nor a setting such as key = \"value\"");
  EXPECT_EQ(fault("url = \"https://x\nb = 1\n"), "f:1:17: the text of url has no closing quote");
  EXPECT_EQ(
      fault("dir = \"C:\\data\"\n"),
      "f:1:11: a backslash in double quotes begins an escape sequence: in the text of dir, write \\\\ for a backslash, or put "
      "the text into single quotes");
  EXPECT_EQ(fault("key =\n"), "f:1:6: key has no value: write key = \"...\", or remove the line");
  EXPECT_EQ(fault("a = 1\nb = 2\na = 3\n"), "f:3:5: a is set twice; keep one of the lines");
  EXPECT_EQ(fault("[a]\nx = 1\n[b]\n[a]\ny = 1\n"),
            "f:4:1: the table [a] appears twice; merge its settings into one table");
  EXPECT_THAT(fault("[http\nlisten = 1\n"), ::testing::StartsWith("f:1:6: invalid TOML: "));
}

TEST(toml, a_syntax_error_never_quotes_a_value) {
  for (const char* text : {"secret = hunter2-hunter2\n", "secret = \"hunter2-hunter2\n", "secret = 77hunter2\n",
                           "secret = \"hunter2-hunter2\\x\"\n", "secret: hunter2-hunter2\n"}) {
    problems p;
    parse_toml(text, "f", {}, p);
    ASSERT_EQ(p.size(), 1u);
    EXPECT_THAT(p[0].format(), ::testing::Not(::testing::HasSubstr("hunter2"))) << text;
  }
}

TEST(toml, reads_all_types) {
  problems p;
  const auto tree = parse_toml("i = 42\nf = 1.5\nb = true\nl = [1, \"x\"]\nd = \"2026-01-02\"\nh = 0xff\n", "c", {}, p);
  EXPECT_THAT(p, IsEmpty());
  EXPECT_EQ(at(tree, {"i"})->scalar, 42);
  EXPECT_EQ(at(tree, {"f"})->scalar, 1.5);
  EXPECT_EQ(at(tree, {"b"})->scalar, true);
  EXPECT_THAT(at(tree, {"l"})->items, SizeIs(2));
  EXPECT_EQ(text(at(tree, {"d"})), "2026-01-02");
  EXPECT_EQ(at(tree, {"h"})->scalar, 255);
  parse_toml("x = inf\n", "c", {}, p);
  EXPECT_THAT(formatted(p), ElementsAre("c:1:5: x: must be a finite number"));
}

TEST(toml, dates_and_times_are_rejected) {
  problems p;
  parse_toml("a = 2026-01-02\n[b]\nc = [\"x\", 10:30:00]\nd = 2026-01-02T10:30:00Z\n", "c.toml", {}, p);
  const std::string no = "is a date or time, but no setting has this type; put the value in quotes";
  EXPECT_THAT(formatted(p),
              ElementsAre("c.toml:1:5: a: " + no, "c.toml:3:11: b.c[1]: " + no, "c.toml:4:5: b.d: " + no));
}

TEST(substitution, environment_and_default) {
  problems p;
  const environment env{{"HOST", "db1"}, {"EMPTY", ""}, {"TRAP", "${HOST}"}};
  const auto tree = parse_toml(
      "a = \"x-${HOST}-${PORT:-5432}\"\nb = \"${EMPTY:-full}\"\nc = \"$${HOST} $5 ${EMPTY}\"\n"
      "d = \"${TRAP}\"\ne = [\"${HOST}\"]\nf = \"${NONE:-}\"\n",
      "c", env, p);
  EXPECT_THAT(p, IsEmpty());
  EXPECT_EQ(text(at(tree, {"a"})), "x-db1-5432");
  EXPECT_EQ(text(at(tree, {"b"})), "full");
  EXPECT_EQ(text(at(tree, {"c"})), "${HOST} $5 ");
  EXPECT_EQ(text(at(tree, {"d"})), "${HOST}") << "values are not expanded twice";
  EXPECT_EQ(text(&at(tree, {"e"})->items[0]), "db1");
  EXPECT_EQ(text(at(tree, {"f"})), "");
}

TEST(substitution, a_missing_variable_is_named) {
  problems p;
  parse_toml("[a]\nb = [\"ok\", \"${NOT_THERE}\"]\nc = \"${open\"\n", "c", {}, p);
  ASSERT_THAT(p, SizeIs(2));
  EXPECT_EQ(p[0].format(),
            "c:2:12: a.b[1]: the environment variable NOT_THERE is not set (write ${NOT_THERE:-} to "
            "allow that)");
  EXPECT_THAT(p[1].format(), HasSubstr("c:3:5: a.c: \"${\" without \"}\""));
}

TEST(environment_overrides, separate_the_parts_of_a_key_by_double_underscores) {
  problems p;
  auto tree = parse_toml("[http]\nlisten = \"a\"\n[runs.models]\nFast = \"x\"\n", "c", {}, p);
  apply_environment(tree,
                    {{"RUNYARD_HTTP__LISTEN", "0.0.0.0:9"},
                     {"RUNYARD_DATA_DIR", "/d"},
                     {"RUNYARD_PORT", "tcp://10.0.0.1:80"},
                     {"RUNYARD_PORT_80_TCP_ADDR", "10.0.0.1"},
                     {"RUNYARD_SERVICE_HOST", "10.0.0.1"},
                     {"RUNYARD_TOKEN", "t"},
                     {"RUNYARD_URL", "u"},
                     {"RUNYARD_CONFIG", "c"},
                     {"RUNYARD_RUNS__MODELS__FAST", "y"},
                     {"OTHER_HTTP__LISTEN", "no"}},
                    {{"http", "data_dir"}, {"http.listen", "data_dir"}}, p);
  EXPECT_THAT(p, IsEmpty());
  EXPECT_EQ(text(at(tree, {"http", "listen"})), "0.0.0.0:9");
  EXPECT_EQ(at(tree, {"http", "listen"})->where, "environment RUNYARD_HTTP__LISTEN");
  EXPECT_EQ(text(at(tree, {"data_dir"})), "/d");
  EXPECT_EQ(text(at(tree, {"runs", "models", "Fast"})), "y") << "the key in the file determines the case";
  EXPECT_EQ(at(tree, {"port"}), nullptr) << "container platforms set RUNYARD_PORT";
  EXPECT_EQ(at(tree, {"token"}), nullptr);
  EXPECT_THAT(tree.members, SizeIs(3));
}

TEST(environment_overrides, match_keys_with_characters_that_variables_cannot_contain) {
  problems p;
  auto tree = parse_toml(
      "[runs.models]\n\"runyard/basic\" = \"a\"\nmy-model = \"b\"\nx_y = \"c\"\n\"x/y\" = \"d\"\n\"p.q\" = \"e\"\np-q = \"f\"\n",
      "c", {}, p);
  apply_environment(tree,
                    {{"RUNYARD_RUNS__MODELS__RUNYARD_BASIC", "1"},
                     {"RUNYARD_RUNS__MODELS__MY_MODEL", "2"},
                     {"RUNYARD_RUNS__MODELS__X_Y", "3"},
                     {"RUNYARD_RUNS__MODELS__P_Q", "4"},
                     {"RUNYARD_RUNS__MODELS__NEW_ONE", "5"}},
                    {{"http"}, {"http.listen"}}, p);
  EXPECT_EQ(at(tree, {"runs", "models", "runyard/basic"})->loose, "1");
  EXPECT_EQ(at(tree, {"runs", "models", "my-model"})->loose, "2");
  EXPECT_EQ(at(tree, {"runs", "models", "x_y"})->loose, "3") << "an exact match has precedence";
  EXPECT_EQ(text(at(tree, {"runs", "models", "x/y"})), "d");
  EXPECT_EQ(at(tree, {"runs", "models", "new_one"})->loose, "5") << "no key is similar";
  EXPECT_THAT(formatted(p), ElementsAre("environment RUNYARD_RUNS__MODELS__P_Q: may mean \"p.q\" and p-q; use --set, "
                                        "which distinguishes them"));
}

TEST(environment_overrides, an_unknown_variable_is_a_warning_with_a_suggestion) {
  const known_keys known{{"http", "data_dir", "database"},
                         {"http.listen", "http.base_path", "data_dir", "database.url"}};
  const auto warning = [&](const std::string& variable) {
    problems p;
    node tree;
    tree.is = node::kind::table;
    apply_environment(tree, {{variable, "x"}}, known, p);
    EXPECT_THAT(tree.members, IsEmpty()) << variable;
    EXPECT_TRUE(p.empty() || p[0].warning) << variable;
    return p.empty() ? "" : p[0].format();
  };
  EXPECT_EQ(warning("RUNYARD_HTTP_LISTEN"),
            "environment RUNYARD_HTTP_LISTEN: does not name a setting; did you mean "
            "RUNYARD_HTTP__LISTEN?");
  EXPECT_THAT(warning("RUNYARD_DATABASE_URL"), HasSubstr("did you mean RUNYARD_DATABASE__URL?"));
  EXPECT_THAT(warning("RUNYARD_DATADIR"), HasSubstr("did you mean RUNYARD_DATA_DIR?"));
  EXPECT_THAT(warning("RUNYARD_HTTP____LISTEN"), HasSubstr("did you mean RUNYARD_HTTP__LISTEN?"));
  EXPECT_THAT(warning("RUNYARD_HTTP_LISTN"), HasSubstr("did you mean RUNYARD_HTTP__LISTEN?"));
  EXPECT_THAT(warning("RUNYARD_ZZZZZZZZZZ"), HasSubstr("two underscores"));
}

TEST(environment_overrides, a_variable_replaces_neither_a_table_nor_its_parent) {
  problems p;
  auto tree =
      parse_toml("[log]\nlevel = \"debug\"\n[http]\ntrusted_proxies = [\"10.0.0.1\"]\n[auth.issuers.a]\nissuer = \"x\"",
                 "c.toml", {}, p);
  apply_environment(tree,
                    {{"RUNYARD_AUTH__ISSUERS__A", "1"},
                     {"RUNYARD_HTTP__TRUSTED_PROXIES__1", "10.0.0.2"},
                     {"RUNYARD_LOG__LEVEL__X", "1"}},
                    {{"auth", "http", "log"}, {"http.trusted_proxies", "log.level"}}, p);
  EXPECT_EQ(text(at(tree, {"log", "level"})), "debug");
  EXPECT_EQ(at(tree, {"http", "trusted_proxies"})->items.size(), 1u);
  EXPECT_EQ(text(at(tree, {"auth", "issuers", "a", "issuer"})), "x");
  ASSERT_EQ(p.size(), 3u);
  for (const auto& each : p) EXPECT_TRUE(each.warning) << each.format();
  EXPECT_THAT(p[0].format(), HasSubstr("RUNYARD_AUTH__ISSUERS__A: does not name a setting: there is a table at"));
  EXPECT_THAT(p[2].format(), HasSubstr("RUNYARD_LOG__LEVEL__X: does not name a setting: the value at"));
}

TEST(overrides, are_toml_values_or_strings) {
  problems p;
  node tree;
  tree.is = node::kind::table;
  for (const auto* o : {"a.i=8", "a.b=true", "a.s=127.0.0.1:0", "a.q=\"8\"", "a.l=[\"x\", \"y\"]", "a.e=", "a.eq=x=y",
                        "a.d=2026-01-02", "a.t={k=1}", "a.n=1\nb=2", "q.\"a=b\"=1"})
    apply_override(tree, o, p);
  EXPECT_THAT(p, IsEmpty());
  EXPECT_EQ(at(tree, {"a", "i"})->scalar, 8);
  EXPECT_EQ(at(tree, {"a", "b"})->scalar, true);
  EXPECT_EQ(text(at(tree, {"a", "s"})), "127.0.0.1:0");
  EXPECT_EQ(text(at(tree, {"a", "q"})), "8");
  EXPECT_THAT(at(tree, {"a", "l"})->items, SizeIs(2));
  EXPECT_EQ(text(at(tree, {"a", "e"})), "");
  EXPECT_EQ(text(at(tree, {"a", "eq"})), "x=y");
  EXPECT_EQ(text(at(tree, {"a", "d"})), "2026-01-02");
  EXPECT_EQ(at(tree, {"a", "t", "k"})->scalar, 1);
  EXPECT_EQ(text(at(tree, {"a", "n"})), "1\nb=2") << "a value must not set other keys";
  EXPECT_EQ(at(tree, {"b"}), nullptr);
  EXPECT_EQ(at(tree, {"q", "a=b"})->scalar, 1);
}

TEST(overrides, malformed_ones_are_rejected) {
  for (const auto* bad : {"novalue", "=x", "a..b=1", ""}) {
    problems p;
    node tree;
    tree.is = node::kind::table;
    apply_override(tree, bad, p);
    EXPECT_THAT(p, SizeIs(1)) << bad;
    EXPECT_THAT(tree.members, IsEmpty()) << bad;
  }
}

TEST(overrides, the_name_of_a_setting_must_be_utf8) {
  problems p;
  node tree;
  tree.is = node::kind::table;
  apply_override(tree, "brand.name\xff=AB", p);
  EXPECT_THAT(formatted(p), ElementsAre("--set: brand.\"name\\xff\": the name of a setting must be UTF-8"));
  EXPECT_THAT(tree.members, IsEmpty());
}

TEST(problem, is_one_line_without_control_characters) {
  using std::string_literals::operator""s;
  EXPECT_EQ((problem{"f:1:1", to_text({"a\0b"s, "c\nd"}), "unknown key \x1b[2J \xc2\x9b \xff \xc3\xbc"}).format(),
            "f:1:1: \"a\\x00b\".\"c\\nd\": unknown key \\x1b[2J \\x9b \\xff \xc3\xbc");
}

class files : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-config-XXXXXX";
    dir_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name) << text;
  }
  std::filesystem::path dir_;
};

TEST_F(files, later_sources_take_precedence) {
  write("r.toml", "k.a = 1\nk.b = 1\nk.c = 1\nk.d = 1\nlist = [1, 2]\n");
  write("modules.d/20.toml", "k.b = 3\nk.c = 3\nk.d = 3\n");
  write("modules.d/10.toml", "k.b = 2\nlist = [3]\n");
  write("modules.d/ignored.toml.bak", "k.b = 99\n");
  write("modules.d/.hidden.toml", "k.b = 98\n");
  problems p;
  const auto tree =
      read({dir_ / "r.toml", {"k.d=5"}}, {{"RUNYARD_K__C", "4"}, {"RUNYARD_K__D", "4"}}, {{"k"}, {"k.c", "k.d"}}, p);
  EXPECT_THAT(formatted(p), IsEmpty());
  EXPECT_EQ(at(tree, {"k", "a"})->scalar, 1);
  EXPECT_EQ(at(tree, {"k", "b"})->scalar, 3);
  EXPECT_EQ(at(tree, {"k", "c"})->scalar, 4);
  EXPECT_EQ(at(tree, {"k", "d"})->scalar, 5);
  EXPECT_EQ(at(tree, {"k", "d"})->where, "--set");
  EXPECT_THAT(at(tree, {"list"})->items, SizeIs(1)) << "lists are replaced, not joined";
  EXPECT_EQ(at(tree, {"k", "b"})->where, (dir_ / "modules.d/20.toml").string() + ":1:3");
}

TEST(toml, a_parser_assertion_is_reported_as_a_fault) {
  problems p;
  (void)parse_toml("port = 1\n[[[[http]\ntls = 'x'\n", "f", {}, p);
  ASSERT_THAT(p, SizeIs(1));
  EXPECT_EQ(p[0].where.substr(0, 4), "f:2");
  node tree;
  tree.is = node::kind::table;
  problems none;
  apply_override(tree, "port=[[[[http]", none);
}

TEST_F(files, a_file_that_cannot_be_read_is_a_fault) {
  problems p;
  read({dir_ / "none.toml", {}}, {}, {}, p);
  read({dir_, {}}, {}, {}, p);
  EXPECT_THAT(formatted(p),
              ElementsAre((dir_ / "none.toml").string() + ": cannot be read", dir_.string() + ": cannot be read"));
}

}  // namespace
}  // namespace ry::app::config
