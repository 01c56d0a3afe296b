#include "core/module/module_set.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/module/file_image.hpp"
#include "core/module/library.hpp"
#include "core/module/test_set.hpp"

namespace ry::module {
namespace {

using std::chrono::system_clock;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(module_set_test, lifecycle_calls_run_in_order) {
  EXPECT_EQ(prepared(specs({"user", "provider", "plain"})), "");
  EXPECT_THAT(trace(), ElementsAre("provider create", "user create", "plain create"));
  EXPECT_EQ(set.routes().size(), 2u);
  ASSERT_THAT(set.migrations(), SizeIs(1));
  EXPECT_EQ(set.migrations()[0].module, "plain");
  EXPECT_EQ(set.migrations()[0].list.at(0).id, "0001_init");

  EXPECT_EQ(set.start().text(), "");
  EXPECT_THAT(trace(), ElementsAre("provider start", "user start", "user leased", "plain start"));
  EXPECT_EQ(described("user").state, module_state::started);
  EXPECT_EQ(described("provider").outstanding, 1);  // the lease

  stop();
  EXPECT_THAT(trace(), ElementsAre("plain stop", "plain destroy", "user stop", "user destroy", "provider stop",
                                   "provider destroy"));
  EXPECT_EQ(described("provider").state, module_state::stopped);
  EXPECT_THAT(set.routes(), IsEmpty());
}

bool mapped(const std::filesystem::path& file) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/memfd:runyard-" + file.filename().string()) != std::string::npos) return true;
  return false;
}

TEST_F(module_set_test, code_is_unmapped_only_on_request) {
  // Unique names, to search for in the list of mappings.
  const auto dir = std::filesystem::temp_directory_path();
  const auto kept = dir / "ry_module_set_kept.so", gone = dir / "ry_module_set_gone.so";
  for (const auto& file : {kept, gone})
    std::filesystem::copy_file(fixture("plain"), file, std::filesystem::copy_options::overwrite_existing);
  for (const auto& file : {kept, gone}) {
    module_set one{host.rt, {}};
    EXPECT_EQ(one.prepare({{file, use::enabled, on_failure::abort, {}}}).text(), "");
    EXPECT_EQ(one.start().text(), "");
    EXPECT_TRUE(mapped(file));
    one.stop(system_clock::now() + std::chrono::seconds(3), file == gone ? unmapping::unmap : unmapping::keep_mapped);
  }
  EXPECT_TRUE(mapped(kept));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_FALSE(mapped(gone));
#endif
  std::filesystem::remove(kept);
  std::filesystem::remove(gone);
}

TEST_F(module_set_test, drivers_are_announced_before_their_owner_starts_and_withdrawn_before_they_stop) {
  EXPECT_EQ(prepared(specs({"driver_a", "owner"})), "");
  EXPECT_THAT(trace(), ElementsAre("owner create", "driver_a create", "owner driver added"));
  EXPECT_EQ(set.start().text(), "");
  EXPECT_THAT(trace(), ElementsAre("owner start", "driver_a start"));
  stop();
  EXPECT_THAT(trace(),
              ElementsAre("owner driver removed", "driver_a stop", "driver_a destroy", "owner stop", "owner destroy"));
}

TEST_F(module_set_test, a_driver_that_its_owner_does_not_release_stays_in_memory) {
  EXPECT_EQ(prepared(specs({"driver_a", "owner_keeps"})), "");
  EXPECT_EQ(set.start().text(), "");
  trace();
  stop(100);
  EXPECT_THAT(trace(), ElementsAre("owner driver removed", "driver_a stop", "owner stop", "owner destroy"));
  EXPECT_EQ(described("driver_a").state, module_state::retired);
  EXPECT_THAT(described("driver_a").reason, HasSubstr("drivers is still in use"));
}

TEST_F(module_set_test, points_of_the_host_get_drivers_of_running_modules) {
  std::vector<std::string> seen;
  host.modules.host_points.push_back({"ry.test_point/1", 8,
                                      [&](ry_host* owner, std::string_view driver, const void* table, void*) {
                                        seen.push_back("added " + owner->name + " " + std::string(driver) + " " +
                                                       std::to_string(*static_cast<const std::uint32_t*>(table)));
                                      },
                                      [&](std::string_view driver, std::function<void()> done) {
                                        seen.push_back("removed " + std::string(driver));
                                        done();
                                      }});
  EXPECT_EQ(prepared(specs({"host_driver"})), "");
  EXPECT_THAT(seen, IsEmpty());
  EXPECT_EQ(set.start().text(), "");
  EXPECT_THAT(seen, ElementsAre("added host_driver h 8"));
  stop();
  EXPECT_THAT(seen, ElementsAre("added host_driver h 8", "removed h"));
}

TEST_F(module_set_test, duplicate_routes_name_both_owners) {
  const auto r = set.prepare(specs({"plain", "same_route"}));
  EXPECT_FALSE(r.ok());
  EXPECT_EQ(r.text(),
            "error: module \"same_route\" registers the route GET /plain/{name}, which module "
            "\"plain\" has already registered as /plain/{id}; disable one of the two.\n");
  EXPECT_THAT(trace(), ElementsAre("plain create", "same_route create", "same_route destroy", "plain destroy"));
}

TEST_F(module_set_test, ambiguous_routes_and_routes_of_the_host_are_refused) {
  const auto text = prepared(specs({"plain", "ambiguous", "host_route"}, on_failure::skip));
  EXPECT_THAT(text, HasSubstr("GET /{any}/x, which is ambiguous with /plain/{id} of module \"plain\""));
  EXPECT_THAT(text,
              HasSubstr("GET /healthz, which the host has already registered; the module must use a different path."));
  EXPECT_EQ(set.routes().size(), 1u);
}

TEST_F(module_set_test, a_description_must_refer_to_existing_routes) {
  const auto text = prepared(specs({"described", "describes_more"}, on_failure::skip));
  EXPECT_THAT(text, HasSubstr("module \"describes_more\" describes the route GET /other, which it does "
                              "not register."));
  const auto all = set.descriptions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].module, "described");
  ASSERT_EQ(all[0].parts.size(), 1u);
  EXPECT_THAT(all[0].parts[0], HasSubstr("Read it"));
}

TEST_F(module_set_test, base_path_keeps_routes_of_modules_and_host_apart) {
  host.rt.host_values["http.base_path"] = "/api/";
  EXPECT_EQ(prepared(specs({"plain", "host_route"})), "");
}

TEST_F(module_set_test, an_optional_module_is_skipped_with_its_dependents) {
  auto list = specs({"fails_start", "needs_failing", "plain"}, on_failure::skip);
  EXPECT_EQ(prepared(list), "");
  trace();
  const auto r = set.start();
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(r.text(),
            "skipped: module \"fails_start\" failed in start: port is taken.\n"
            "skipped: module \"needs_failing\" needs fs/1 of module \"fails_start\", which failed.\n");
  EXPECT_THAT(trace(), ElementsAre("fails_start start", "fails_start destroy", "needs_failing destroy", "plain start"));
  EXPECT_EQ(described("needs_failing").state, module_state::refused);
  EXPECT_THAT(set.routes(), SizeIs(1));
}

TEST_F(module_set_test, a_required_dependent_makes_a_failure_fatal_and_everything_is_undone) {
  auto list = specs({"fails_start", "needs_failing", "plain"}, on_failure::skip);
  list[1].failure = on_failure::abort;
  std::rotate(list.begin(), list.begin() + 2, list.end());  // plain first, so that it runs before the failure
  EXPECT_EQ(prepared(list), "");
  trace();
  EXPECT_FALSE(set.start().ok());
  EXPECT_THAT(trace(), ElementsAre("plain start", "fails_start start", "fails_start destroy", "needs_failing destroy",
                                   "plain stop", "plain destroy"));
}

TEST_F(module_set_test, failures_outside_the_set_are_handled_the_same_way) {
  EXPECT_EQ(prepared(specs({"provider", "user", "plain"}, on_failure::skip)), "");
  trace();
  const auto r = set.fail("provider", "migration 0001_init of module \"provider\" failed.");
  EXPECT_TRUE(r.ok());
  EXPECT_THAT(r.problems, SizeIs(2));
  EXPECT_THAT(trace(), ElementsAre("user destroy", "provider destroy"));
  EXPECT_EQ(set.start().text(), "");
  EXPECT_THAT(trace(), ElementsAre("plain start"));
}

struct refusal {
  const char* file;
  const char* sentence;
};
struct module_refusal_test : module_set_test, testing::WithParamInterface<refusal> {};

TEST_P(module_refusal_test, has_one_message_and_does_not_affect_other_modules) {
  std::vector<module_spec> list = {spec(GetParam().file, on_failure::skip), spec("other")};
  const auto r = set.prepare(list);
  EXPECT_TRUE(r.ok());
  ASSERT_THAT(r.problems, SizeIs(1));
  EXPECT_THAT(r.problems[0].message, HasSubstr(GetParam().sentence));
  EXPECT_EQ(r.problems[0].message.back(), '.');
  EXPECT_EQ(described("other").state, module_state::created);
  EXPECT_EQ(set.start().text(), "");
}

INSTANTIATE_TEST_SUITE_P(
    all, module_refusal_test,
    testing::Values(refusal{"wrong_magic", "module file \"wrong_magic.so\": its descriptor has the wrong magic"},
                    refusal{"newer_major",
                            "module \"newer_major\" 1.0 is built for host ABI 2.0; this host "
                            "provides 1.0. Upgrade the host."},
                    refusal{"newer_minor",
                            "module \"newer_minor\" 1.0 needs host ABI >= 1.9; this host "
                            "provides 1.0. Upgrade the host or rebuild with -DRY_ABI_MINOR=0."},
                    refusal{"odd_flags", "sets flags that this host (ABI 1.0) does not support (128)"},
                    refusal{"mismatch",
                            "its .ry.module section states version \"1.1\" but its descriptor states "
                            "\"1.0\""},
                    refusal{"no_section", "no .ry.module section; build it with RY_MODULE or ry_add_module()"},
                    refusal{"unresolved", "fixture_missing_symbol"},
                    refusal{"user", "needs svc/1, which no available module provides"},
                    refusal{"driver_a", "needs owner.point/1"},
                    refusal{"promises", "states that it provides promise/1, but registered neither"},
                    refusal{"undeclared", "\"secret/1\" is not listed in"},
                    refusal{"bad_route", "pattern \"no-slash\": it must begin with '/'"},
                    refusal{"fails_create", "module \"fails_create\" failed in create: no luck."},
                    refusal{"throws_create",
                            "module \"throws_create\" failed in create: exception in create: "
                            "no luck today."}),
    [](const auto& info) { return std::string(info.param.file); });

TEST_F(module_set_test, an_exception_in_start_is_reported_as_a_message) {
  EXPECT_EQ(prepared({spec("throws_start", on_failure::skip), spec("other")}), "");
  EXPECT_EQ(set.start().text(),
            "skipped: module \"throws_start\" failed in start: exception in start: an exception of "
            "unknown type.\n");
  EXPECT_EQ(described("throws_start").violations, 1u);
  EXPECT_THAT(described("throws_start").last_violation, HasSubstr("exception in start"));
}

TEST_F(module_set_test, cycles_disabled_providers_and_duplicates_are_explained) {
  auto list = specs({"cycle_a", "cycle_b", "user", "other", "other"}, on_failure::skip);
  list.push_back(spec("provider", on_failure::skip, use::disabled));
  const auto text = prepared(list);
  EXPECT_THAT(text, HasSubstr("cycle_a -> cycle_b -> cycle_a"));
  EXPECT_THAT(text, HasSubstr("needs svc/1, which module \"provider\" provides, but it is "
                              "disabled; set modules.provider.enabled = true."));
  EXPECT_THAT(text, HasSubstr("module \"other\" is present twice"));
  EXPECT_EQ(described("provider").state, module_state::disabled);
}

TEST_F(module_set_test, tables_that_are_too_short_are_refused) {
  auto text =
      prepared(specs({"provider", "wants_more", "owner", "driver_short", "driver_a", "driver_a2"}, on_failure::skip));
  EXPECT_THAT(text, HasSubstr("needs svc/1 of at least 64 bytes; that of module \"provider\" has 8"));
  EXPECT_THAT(text, HasSubstr("with a table of 4 bytes; module \"owner\" needs at least 8"));
  EXPECT_THAT(text, HasSubstr("but module \"driver_a\" contributes one of the same name"));
}

TEST_F(module_set_test, optional_needs_order_the_start_but_are_not_required) {
  EXPECT_EQ(prepared(specs({"seeker", "provider"})), "");
  EXPECT_THAT(trace(), ElementsAre("provider create", "seeker create"));
  module_set alone{host.rt, {}};
  EXPECT_EQ(alone.prepare(specs({"seeker"})).text(), "");
}

TEST_F(module_set_test, settings_are_requested_from_the_caller_by_schema) {
  std::string schema;
  module_set strict{host.rt, {.settings = [&](const module_manifest& f, std::string_view s) -> settings_result {
                      schema = s;
                      if (f.name == "plain") return {"{}", "plain.colour is not known."};
                      return {};
                    }}};
  const auto r = strict.prepare(specs({"other", "plain"}, on_failure::skip));
  EXPECT_EQ(r.text(), "skipped: module \"plain\" has settings that are not valid: plain.colour is not known.\n");
  EXPECT_EQ(schema, R"({"type":"object"})");
}

TEST_F(module_set_test, modules_report_all_faults_in_their_settings) {
  EXPECT_EQ(
      prepared(specs({"faulty", "faultless", "faulty_too"}, on_failure::skip)),
      "skipped: module \"faulty\" has settings that are not valid: faulty.colour is not a colour; faulty.size[1] is "
      "odd\n"
      "skipped: module \"faulty_too\" has settings that are not valid: faulty_too.colour is not a colour; "
      "faulty_too.size[1] is odd\n");
  EXPECT_THAT(trace(), ElementsAre("faulty create", "faultless create", "faulty_too create", "faulty check",
                                   "faultless check", "faulty_too check", "faulty_too destroy", "faulty destroy"));
  EXPECT_EQ(set.start().text(), "");
  EXPECT_EQ(described("faulty").state, module_state::refused);
  EXPECT_EQ(described("faultless").state, module_state::started);
}

TEST_F(module_set_test, a_failed_module_does_not_hide_faults_of_its_dependents) {
  EXPECT_EQ(prepared(specs({"fails_service", "fails_create_too", "wants_service"}, on_failure::skip)),
            "skipped: module \"fails_service\" failed in create: no service.\n"
            "skipped: module \"fails_create_too\" failed in create: no luck either.\n"
            "skipped: module \"wants_service\" needs fc/1 of module \"fails_service\", which failed.\n");
  EXPECT_THAT(trace(), ElementsAre("fails_service create", "fails_create_too create", "wants_service create",
                                   "wants_service destroy"));
}

TEST_F(module_set_test, faults_in_settings_are_reported_with_their_location) {
  std::vector<std::string> reports;
  module_set placed{host.rt,
                    {.faults = {.refuse =
                                    [&](const module_manifest& f, std::string_view key, std::string message) {
                                      reports.push_back(f.name + "|" + std::string(key) + "|" + message);
                                      return std::string("see there");
                                    },
                                .position_of =
                                    [&](const module_manifest&, std::string_view sentence) {
                                      reports.emplace_back(sentence);
                                      return std::string("a.toml:3:1");
                                    }}}};
  EXPECT_EQ(placed.prepare(specs({"faulty", "fails_create"}, on_failure::skip)).text(),
            "skipped: a.toml:3:1: no luck.\n"
            "skipped: module \"faulty\" has settings that are not valid: see there; see there\n");
  EXPECT_THAT(reports, ElementsAre("no luck", "faulty|faulty.colour|is not a colour", "faulty|faulty.size[1]|is odd"));
}

TEST_F(module_set_test, timers_are_cancelled_when_their_module_stops) {
  EXPECT_EQ(prepared(specs({"sleeps"})), "");
  EXPECT_EQ(set.start().text(), "");
  EXPECT_EQ(described("sleeps").outstanding, 1);
  trace();
  stop();
  EXPECT_THAT(trace(), ElementsAre("sleeps stop", "sleeps woken", "sleeps destroy"));
}

TEST_F(module_set_test, a_module_that_does_not_stop_is_abandoned_and_the_others_end_normally) {
  EXPECT_EQ(prepared(specs({"other", "hangs"})), "");
  EXPECT_EQ(set.start().text(), "");
  trace();
  stop(50);
  EXPECT_THAT(trace(), ElementsAre("hangs stop", "other stop", "other destroy"));
  EXPECT_EQ(described("hangs").state, module_state::retired);
  EXPECT_EQ(described("other").state, module_state::stopped);
}

TEST_F(module_set_test, loops_busy_with_other_work_do_not_count_against_a_module) {
  EXPECT_EQ(prepared(specs({"plain"})), "");
  EXPECT_EQ(set.start().text(), "");
  for (std::size_t i = 0; i < host.loops.size(); ++i)
    host.loops.at(i).post([] { std::this_thread::sleep_for(std::chrono::milliseconds(1200)); });
  stop(100);
  EXPECT_EQ(described("plain").state, module_state::stopped) << described("plain").reason;
}

TEST_F(module_set_test, a_leaked_lease_is_ended_and_counted_as_a_violation) {
  EXPECT_EQ(prepared(specs({"provider", "keeper"})), "");
  EXPECT_EQ(set.start().text(), "");
  stop();
  EXPECT_EQ(described("keeper").state, module_state::stopped);
  EXPECT_EQ(described("keeper").violations, 1u);
  EXPECT_EQ(described("provider").state, module_state::stopped);
}

TEST_F(module_set_test, a_hash_pin_is_checked_on_the_loaded_bytes) {
  const std::string sum = sha256_hex(read_image(fixture("plain")));
  module_spec good = spec("plain", on_failure::skip);
  good.sha256 = sum;
  module_spec bad = spec("other", on_failure::skip);
  bad.sha256 = sum;
  module_spec nonsense = spec("sick", on_failure::skip);
  nonsense.sha256 = "abc";
  const auto text = prepared({good, bad, nonsense});
  EXPECT_EQ(described("plain").state, module_state::created);
  EXPECT_THAT(text, HasSubstr("but the configuration pins " + sum));
  EXPECT_THAT(text, HasSubstr("not 64 hexadecimal digits"));
  EXPECT_EQ(set.start().text(), "");
  EXPECT_THAT(trace(), ElementsAre("plain create", "plain start"));
}

TEST_F(module_set_test, the_loaded_bytes_are_the_inspected_bytes) {
  const auto file = std::filesystem::temp_directory_path() / "ry_module_set_replaced.so";
  std::filesystem::copy_file(fixture("plain"), file, std::filesystem::copy_options::overwrite_existing);
  const auto image = std::make_shared<const sealed_image>(file);
  EXPECT_EQ(image->sha256(), sha256_hex(read_image(fixture("plain"))));
  std::filesystem::copy_file(fixture("other"), file, std::filesystem::copy_options::overwrite_existing);
  const library code(image);
  EXPECT_EQ(core::sv(code.descriptor()->name), "plain");
  // A copy of a copy is the same copy, even if another process makes it.
  EXPECT_EQ(sealed_image(image->path()).sha256(), image->sha256());
  std::ofstream into(image->path(), std::ios::binary | std::ios::in | std::ios::out);
  EXPECT_FALSE(into && into.put('x').flush()) << "it is not sealed";
  std::filesystem::remove(file);
}

TEST_F(module_set_test, overwriting_the_file_of_a_running_module_has_no_effect) {
  const auto file = std::filesystem::temp_directory_path() / "ry_module_set_overwritten.so";
  std::filesystem::copy_file(fixture("sick"), file, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(prepared({{file, use::enabled, on_failure::abort, {}}}), "");
  std::ofstream(file) << "cut";  // truncates the same inode, as cp does
  EXPECT_EQ(set.start().text(), "");
  ASSERT_THAT(set.health(), SizeIs(1));
  EXPECT_EQ(set.health()[0].message, "database is slow");
  stop();
  EXPECT_EQ(described("sick").state, module_state::stopped);
  std::filesystem::remove(file);
}

// A preflight that only records its calls.
struct preflighted final : preflight {
  explicit preflighted(std::string objects_to = {}) : objects_to(std::move(objects_to)) {}
  std::string load() override { return step("load"); }
  std::string create(const std::string& settings, const std::unordered_map<std::string, std::string>&) override {
    return step("create " + settings);
  }
  std::string step(const std::string& what) {
    trace_log::get().add("tried: " + what);
    return what == objects_to ? "it does not survive it" : "";
  }
  const std::string objects_to;
};
preflight_fn objecting_to(const std::string& step) {
  return [step](const std::string&) { return std::make_unique<preflighted>(step); };
}

TEST_F(module_set_test, an_untrusted_library_passes_preflight_before_it_is_loaded_and_created) {
  set_options options;
  options.run_preflight = objecting_to({});
  module_set careful{host.rt, options};
  EXPECT_EQ(careful.prepare({spec("other"), spec("plain", on_failure::skip)}).text(), "");
  EXPECT_THAT(trace(), ElementsAre("tried: load", "other create", "tried: create {}", "plain create"));
}

TEST_F(module_set_test, a_library_that_crashes_in_preflight_is_skipped) {
  for (const std::string step : {"load", "create {}"}) {
    set_options options;
    options.run_preflight = objecting_to(step);
    module_set careful{host.rt, options};
    EXPECT_EQ(careful.prepare({spec("other"), spec("plain", on_failure::skip)}).text(),
              "skipped: module \"plain\": it does not survive it.\n");
    EXPECT_THAT(trace(), testing::Not(testing::Contains("plain create"))) << step;
    EXPECT_EQ(careful.start().text(), "");
    EXPECT_THAT(trace(), ElementsAre("other start"));
  }
}

TEST_F(module_set_test, health_is_queried_while_running) {
  EXPECT_EQ(prepared(specs({"plain", "sick"})), "");
  EXPECT_THAT(set.health(), IsEmpty());
  EXPECT_EQ(set.start().text(), "");
  const auto h = set.health();
  ASSERT_THAT(h, SizeIs(2));
  EXPECT_EQ(h[0].status, RY_OK);
  EXPECT_EQ(h[1].status, RY_UNAVAILABLE);
  EXPECT_EQ(h[1].message, "database is slow");
  std::thread asks([&] {
    for (int i = 0; i < 50; ++i) set.health(), set.describe();
  });
  stop();
  asks.join();
  EXPECT_THAT(set.health(), IsEmpty());
}

TEST_F(module_set_test, a_health_message_is_made_valid_utf8_without_control_characters) {
  EXPECT_EQ(prepared(specs({"garbled"})), "");
  EXPECT_EQ(set.start().text(), "");
  const auto h = set.health();
  ASSERT_THAT(h, SizeIs(1));
  EXPECT_EQ(h[0].message, "caf\xc3\xa9 \xef\xbf\xbd,   .");
}

TEST_F(module_set_test, the_description_is_complete) {
  EXPECT_EQ(prepared(specs({"plain", "owner", "driver_a", "provider"})), "");
  const auto d = described("plain");
  EXPECT_THAT(d.routes, ElementsAre("GET /plain/{id}"));
  EXPECT_THAT(d.migrations, ElementsAre("0001_init"));
  EXPECT_EQ(d.sha256, sha256_hex(read_image(fixture("plain"))));
  EXPECT_THAT(described("owner").points, ElementsAre("owner.point/1"));
  EXPECT_THAT(described("provider").services, ElementsAre("svc/1"));
  EXPECT_EQ(described("driver_a").drivers.at(0).name, "a");
  const auto json = to_json(set.describe());
  EXPECT_THAT(json, HasSubstr(R"("state":"created")"));
  EXPECT_THAT(json, HasSubstr(R"("drivers":[{"point":"owner.point/1","name":"a"}])"));
}

TEST_F(module_set_test, missing_and_foreign_files_are_problems_not_crashes) {
  const auto junk = std::filesystem::temp_directory_path() / "ry_module_set_junk.so";
  std::ofstream(junk) << "not a library";
  module_spec missing = spec("there_is_no_such_file", on_failure::skip);
  const auto text = prepared({missing, {junk, use::enabled, on_failure::skip, {}}});
  EXPECT_THAT(text, HasSubstr("\"there_is_no_such_file.so\": it cannot be opened"));
  EXPECT_THAT(text, HasSubstr("it is not an ELF file"));
  std::filesystem::remove(junk);
}

}  // namespace
}  // namespace ry::module
