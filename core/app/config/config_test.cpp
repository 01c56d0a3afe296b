#include "core/app/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <fstream>
#include <regex>
#include <set>

#include "core/app/config/schema.hpp"

namespace ry::app::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const defaults places{".runyard", "/usr/lib/runyard/modules"};

config with(std::vector<std::string> overrides, environment env = {}) {
  return config({{}, std::move(overrides)}, env, places);
}

std::vector<std::string> faults(const config& c) {
  std::vector<std::string> out;
  for (const auto& p : c.faults()) out.push_back(p.format());
  return out;
}

TEST(config, defaults_apply_without_a_file) {
  const auto c = with({});
  ASSERT_THAT(faults(c), IsEmpty());
  EXPECT_EQ(c.text("deployment.mode"), "local");
  EXPECT_EQ(c.text("http.listen"), "127.0.0.1:8080");
  EXPECT_EQ(c.text("data_dir"), ".runyard");
  EXPECT_EQ(c.text("database.url"), "");
  EXPECT_EQ(c.integer("http.max_connections"), 20000);
  EXPECT_EQ(c.duration("http.header_timeout_seconds"), std::chrono::seconds(10));
  EXPECT_THAT(c.module_paths(), ElementsAre("/usr/lib/runyard/modules"));
  EXPECT_THAT(c.modules(), IsEmpty());
}

TEST(config, reads_values_lists_and_durations) {
  const auto c = with({"http.header_timeout_seconds=0.25", "auth.jwt.audience=web", "modules.path=/a:/b",
                       "http.cors.origins=[\"https://x\"]", "http.access_log=false"});
  ASSERT_THAT(faults(c), IsEmpty());
  EXPECT_EQ(c.duration("http.header_timeout_seconds"), std::chrono::milliseconds(250));
  EXPECT_THAT(c.list("auth.jwt.audience"), ElementsAre("web"));
  EXPECT_THAT(c.list("http.cors.origins"), ElementsAre("https://x"));
  EXPECT_THAT(c.module_paths(), ElementsAre("/a", "/b"));
  EXPECT_FALSE(c.flag("http.access_log"));
}

TEST(config, variables_that_match_no_setting_are_warnings) {
  auto c = with({}, {{"RUNYARD_MODULES__FOO", "1"},
                     {"RUNYARD_AUTH__ISSUERS__A", "1"},
                     {"RUNYARD_LOG__LEVEL__X", "1"},
                     {"RUNYARD_HTTP__LISTEN__0", "a"},
                     {"RUNYARD_HTTP__TRUSTED_PROXIES__1", "1"},
                     {"RUNYARD_MODULES__FOO2__ENABLED__X", "1"}});
  EXPECT_THAT(faults(c), IsEmpty());
  EXPECT_EQ(c.warnings().size(), 6u);
  EXPECT_EQ(c.text("log.level"), "info");
  EXPECT_EQ(c.text("http.listen"), "127.0.0.1:8080");
  EXPECT_THAT(c.list("http.trusted_proxies"), IsEmpty());
  EXPECT_THAT(c.names("auth.issuers"), IsEmpty());
  EXPECT_THAT(c.modules(), IsEmpty());
  // A module's settings are known only from its schema.
  auto m = with({}, {{"RUNYARD_STOCK__LEVELS", "1"}, {"RUNYARD_STOCK__SIZE__X", "1"}, {"RUNYARD_STOCK__SIZE2", "7"}});
  const auto text =
      m.module_settings("stock", R"({"type": "object", "properties": {"size": {"type": "integer", "default": 3},
    "size2": {"type": "integer"}, "levels": {"type": "object", "additionalProperties": {"type": "integer"}}}})");
  EXPECT_THAT(faults(m), IsEmpty());
  EXPECT_EQ(m.warnings().size(), 2u);
  EXPECT_EQ(text.value_or(""), R"({"size2":7,"size":3,"levels":{}})");
  EXPECT_THAT(faults(with({}, {{"RUNYARD_LOG__LEVEL", "loud"}})), ElementsAre(HasSubstr("log.level: must be one of")));
}

TEST(config, a_numeric_looking_secret_stays_text) {
  const auto c = with({}, {{"RUNYARD_AUTH__JWT__HS256_SECRET", "00123456789012345678901234567890"}});
  ASSERT_THAT(faults(c), IsEmpty());
  EXPECT_EQ(c.text("auth.jwt.hs256_secret"), "00123456789012345678901234567890");
}

TEST(config, all_host_faults_are_reported_together) {
  const auto c = with({"http.lsiten=x", "deployment.mode=prod", "http.base_path=api/", "log.level=loud", "nosuch=1"});
  EXPECT_THAT(faults(c),
              ElementsAre(HasSubstr("--set: http.lsiten: unknown key; did you mean \"listen\"?"),
                          HasSubstr("http.base_path: must be a path such as /runyard"),
                          HasSubstr("deployment.mode: must be one of"), HasSubstr("log.level: must be one of")))
      << "unknown tables are reported once the modules are known";
}

TEST(config, settings_that_require_each_other_are_checked) {
  EXPECT_THAT(faults(with({"http.tls.cert=c.pem"})),
              ElementsAre("--set: http.tls.key: is required together with http.tls.cert"));
  EXPECT_THAT(faults(with({"auth.jwt.jwks_url=https://x/y", "auth.jwt.jwks_file=z"})),
              ElementsAre("--set: auth.jwt.jwks_file: cannot be combined with auth.jwt.jwks_url; keep one"));
}

TEST(config, a_message_that_begins_with_a_setting_gets_its_position) {
  const std::string file = testing::TempDir() + "ry_config_place.toml";
  std::ofstream(file) << "[runs]\n"
                         "steps = 1\n"
                         "[runs.models]\n"
                         "\"runyard/basic\" = \"a/b\"\n"
                         "[runs.hooks.a]\n"
                         "on = [\"x\",\n"
                         "      \"y\"]\n";
  auto c = config({file, {"runs.steps_more=2"}}, {}, places);
  ASSERT_THAT(faults(c), IsEmpty());
  const auto line = [&](const char* text) {
    const auto position = c.position_of(text);
    return position.starts_with(file + ":") ? position.substr(file.size() + 1) : position;
  };
  EXPECT_EQ(line("runs.steps must be more"), "2:1");
  EXPECT_EQ(line("runs.steps: must be more"), "2:1");
  EXPECT_EQ(line("runs.steps_more is too many"), "--set");
  EXPECT_EQ(line("runs.models.\"runyard/basic\" is no model"), "4:1");
  EXPECT_EQ(line("runs.hooks.a.on[1] is no status"), "7:7");
  EXPECT_EQ(line("runs.hooks.a.off is missing"), "5:13") << "the table to which it belongs";
  EXPECT_EQ(line("runs.stepsize is unknown"), "1:2");
  EXPECT_EQ(line("what is wrong?"), file);
  c.refuse("runs.hooks.a.on[0]", "is no status");
  EXPECT_THAT(faults(c), ElementsAre(file + ":6:7: runs.hooks.a.on[0]: is no status"));
  std::remove(file.c_str());
}

TEST(config, tables_of_unknown_modules_are_refused) {
  auto c = with({"runs.timeout_seconds=1", "accuonts.x=1", "modules.agnts.enabled=true", "modules.own.path=/x/own.so",
                 "htpp.listen=1"});
  ASSERT_THAT(faults(c), IsEmpty());
  c.check_names({"runs", "accounts", "agents", "own"});
  EXPECT_THAT(faults(c), ElementsAre("--set: accuonts: unknown key, and no module of this name is installed; did "
                                     "you mean \"accounts\"?",
                                     "--set: htpp: unknown key, and no module of this name is installed; did you "
                                     "mean \"http\"?",
                                     "--set: modules.agnts: there is no module \"agnts\" in modules.path; did you "
                                     "mean \"agents\"?"));
}

TEST(config, a_nested_table_configures_the_module_with_the_joined_name) {
  const std::vector<std::string> names = {"mcp", "mcp_json", "mcp_http"};
  const auto* outer = R"({"type":"object","properties":{"n":{"type":"integer"}}})";
  const auto* inner = R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}})";
  auto c = with({"mcp.n=1", "mcp.json.a=2", "mcp_json.b=3"});
  c.check_names(names);
  EXPECT_EQ(c.module_settings("mcp", outer), R"({"n":1})");
  EXPECT_EQ(c.module_settings("mcp_json", inner), R"({"b":3,"a":2})");
  EXPECT_THAT(c.listing(), HasSubstr("mcp_json.a = 2  # --set\n"));

  auto twice = with({"mcp.json.a=2", "mcp_json.a=3"});
  twice.check_names(names);
  EXPECT_THAT(faults(twice), ElementsAre("--set: mcp.json.a: is given twice, also as mcp_json.a (--set)"));

  auto without = with({"mcp.json.a=2"});
  without.check_names({"mcp"});
  EXPECT_EQ(without.module_settings("mcp", outer), std::nullopt);
}

TEST(config, module_settings_are_checked_against_the_modules_schema) {
  auto c = with(
      {"runs.timeout_seconds=5", "runs.key=s3cret-value", "modules.runs.enabled=true", "modules.runs.required=false"});
  const auto* schema = R"({"type":"object","properties":{
      "timeout_seconds":{"type":"integer","default":3000},"steps":{"type":"integer","default":50},
      "key":{"type":"string","secret":true}}})";
  const auto settings = c.module_settings("runs", schema);
  ASSERT_TRUE(settings);
  EXPECT_EQ(*settings, R"({"timeout_seconds":5,"key":"s3cret-value","steps":50})");
  EXPECT_THAT(c.secret_texts(), ElementsAre("s3cret-value"));
  EXPECT_THAT(c.listing(), HasSubstr("runs.key = \"********\"  # --set\n"));
  EXPECT_THAT(c.listing(), HasSubstr("runs.steps = 50  # default\n"));
  EXPECT_THAT(c.listing(), Not(HasSubstr("s3cret")));
  const auto m = c.modules();
  ASSERT_EQ(m.size(), 1u);
  EXPECT_TRUE(m[0].enabled);
  EXPECT_FALSE(m[0].required);

  EXPECT_FALSE(c.module_settings("runs", R"({"properties":{"key":{"type":"integer"}}})"));
  EXPECT_THAT(faults(c), ElementsAre("--set: runs.timeout_seconds: unknown key",
                                     "--set: runs.key: must be an integer, not a string"));
  EXPECT_EQ(*with({}).module_settings("bare", ""), "{}");
}

TEST(config, unused_settings_are_reported) {
  auto c = with({"runs.steps=5", "webhooks.endpoints.a.url=x", "mail={}", "http.threads=1"});
  c.check_names({"runs", "webhooks", "mail"});
  ASSERT_TRUE(c.module_settings("runs", R"({"properties":{"steps":{"type":"integer"}}})"));
  std::vector<std::string> messages;
  for (const auto& p : c.unchecked()) messages.push_back(p.format());
  EXPECT_THAT(messages, ElementsAre("--set: webhooks: has no effect and was not checked: the module is not enabled"));
  EXPECT_THAT(faults(c), IsEmpty());
}

TEST(config, an_invalid_schema_is_a_fault_of_the_module) {
  auto c = with({});
  EXPECT_FALSE(c.module_settings("m", "{"));
  EXPECT_FALSE(c.module_settings("m", R"({"type":"thing"})"));
  EXPECT_THAT(faults(c), ElementsAre("module m: its settings schema cannot be used: no JSON",
                                     HasSubstr("module m: its settings schema cannot be used: the top level")));
}

// The shipped file documents every key with its default: uncommented, it must change nothing.
std::string shipped() {
  std::ifstream in(RY_CONF_DIR "/runyard.toml");
  return {std::istreambuf_iterator<char>(in), {}};
}

void leaves(const boost::json::value& schema, const std::string& prefix, std::set<std::string>& out) {
  const auto& o = schema.as_object();
  if (!o.contains("properties")) {
    out.insert(prefix);
    return;
  }
  for (const auto& [key, child] : o.at("properties").as_object())
    leaves(child, prefix.empty() ? std::string(key) : prefix + "." + std::string(key), out);
}

TEST(shipped_file, documents_every_key_with_its_default) {
  const auto text = shipped();
  ASSERT_FALSE(text.empty());
  const auto uncommented =
      std::regex_replace(text, std::regex("(^|\n)# ?([a-z0-9_.]+ = |\\[[a-z0-9_.]+\\]\n)"), "$1$2");
  problems p;
  auto tree = parse_toml(uncommented, "runyard.toml", {}, p);
  const auto schema = host_schema(places);
  const auto value = check(tree, schema, {}, p);
  std::vector<std::string> messages;
  for (const auto& each : p) messages.push_back(each.format());
  ASSERT_THAT(messages, IsEmpty());

  const auto plain = check(parse_toml("", "", {}, p), schema, {}, p);
  std::set<std::string> all;
  leaves(schema, "", all);
  for (const auto& key : all) {
    const node* n = &tree;
    const auto *v = &value, *d = &plain;
    const auto path = parse_key(key).value();
    for (const auto& part : path) {
      n = n ? n->find(part) : nullptr;
      v = &v->at(part);
      d = &d->at(part);
    }
    EXPECT_TRUE(n) << key << " is not described in conf/runyard.toml";
    if (key == "data_dir") continue;
    EXPECT_EQ(boost::json::serialize(*v), boost::json::serialize(*d)) << key;
  }
}

TEST(shipped_file, is_valid_unchanged) {
  const config c({RY_CONF_DIR "/runyard.toml", {}}, {}, places);
  EXPECT_THAT(faults(c), IsEmpty());
  std::set<std::string> enabled;
  for (const auto& m : c.modules())
    if (m.enabled) enabled.insert(m.name);
  EXPECT_THAT(enabled, ::testing::IsSupersetOf({"accounts", "agents", "runs", "llm_openai", "llm_anthropic",
                                                "llm_offline", "sandbox_bubblewrap", "mcp", "mcp_http", "mcp_sse",
                                                "mcp_json", "mcp_prebuilt"}));
}

}  // namespace
}  // namespace ry::app::config
