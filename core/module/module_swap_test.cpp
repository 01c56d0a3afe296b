#include "core/module/module_swap.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/module/code_map.hpp"
#include "core/module/test_set.hpp"

namespace ry::module {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct module_swap_test : module_set_test {
  void running(std::initializer_list<const char*> names) {
    ASSERT_EQ(prepared(specs(names)), "");
    ASSERT_EQ(set.start().text(), "");
    trace();
  }
  static swap_request to(const std::string& name, const std::string& file, use used = use::enabled) {
    return {{{name, spec(file, on_failure::abort, used)}}, {}};
  }
  // Stages, starts and commits a swap; returns the error messages.
  std::string changed(const swap_request& request) {
    swap = set.begin_swap();
    auto text = swap->stage(request).text();
    if (text.empty()) text = swap->start().text();
    if (text.empty())
      swap->commit(std::chrono::steady_clock::now() + std::chrono::seconds(1));
    else
      swap.reset();
    return text;
  }
  std::vector<module_end> left() {
    return swap->end_leaving(std::chrono::steady_clock::now() + std::chrono::seconds(3));
  }
  std::unique_ptr<ry::module::module_swap> swap;  // the latest one
  std::string only_route() { return set.routes().size() == 1 ? set.routes()[0].pattern : "not one"; }
};

TEST_F(module_swap_test, the_new_instance_serves_before_the_old_one_stops) {
  running({"plain"});
  const auto before = described("plain").instance;
  EXPECT_EQ(changed(to("plain", "plain_next")), "");
  EXPECT_THAT(trace(), ElementsAre("plain create", "plain start"));
  EXPECT_EQ(only_route(), "/plain_next");
  EXPECT_GT(described("plain").instance, before);
  ASSERT_THAT(swap->leaving(), SizeIs(1));
  EXPECT_EQ(swap->leaving()[0]->instance, before);
  const auto ends = left();
  EXPECT_THAT(trace(), ElementsAre("plain stop", "plain destroy"));
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(ends[0].module, "plain");
  EXPECT_EQ(ends[0].instance, before);
  stop();
  EXPECT_THAT(trace(), ElementsAre("plain stop", "plain destroy"));
}

TEST_F(module_swap_test, a_replaced_library_is_unmapped) {
  running({"plain"});
  EXPECT_EQ(changed(to("plain", "plain")), "");
  left();  // drop the first instance, whose file other tests may have kept mapped
  EXPECT_EQ(changed(to("plain", "plain")), "");
  const auto ends = left();
  ASSERT_THAT(ends, SizeIs(1));
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_EQ(ends[0].how, module_end::outcome::still_mapped);
  EXPECT_THAT(ends[0].why, HasSubstr("RY_MODULE_NO_UNLOAD"));
#else
  EXPECT_EQ(ends[0].how, module_end::outcome::unloaded);
#endif
}

TEST_F(module_swap_test, service_users_follow_the_new_provider) {
  running({"user", "provider", "plain"});
  EXPECT_EQ(changed(to("provider", "provider")), "");
  EXPECT_THAT(trace(), ElementsAre("provider create", "user create", "provider start", "user start", "user leased"));
  const auto ends = left();
  EXPECT_THAT(trace(), ElementsAre("user stop", "user destroy", "provider stop", "provider destroy"));
  EXPECT_THAT(ends, SizeIs(2));
  EXPECT_EQ(described("provider").outstanding, 1);  // the new instance's lease
  EXPECT_EQ(described("plain").state, module_state::started);
}

TEST_F(module_swap_test, a_failed_swap_changes_nothing) {
  running({"plain", "other"});
  const auto before = described("plain").instance;
  EXPECT_THAT(changed(to("plain", "plain_broken")), HasSubstr("failed in create: no luck"));
  EXPECT_THAT(trace(), ElementsAre("plain create"));
  EXPECT_THAT(changed(to("plain", "plain_faulty")), HasSubstr("plain.colour is not a colour; plain.size[1] is odd"));
  EXPECT_THAT(trace(), ElementsAre("plain create", "plain check", "plain destroy"));
  EXPECT_THAT(changed(to("plain", "plain_late")), HasSubstr("failed in start: no luck at all"));
  trace();
  EXPECT_THAT(changed(to("plain", "plain_clash")), HasSubstr("/other"));
  EXPECT_THAT(trace(), ElementsAre("plain create", "plain destroy"));
  EXPECT_THAT(changed(to("plain", "other")), HasSubstr("contains the module \"other\", not \"plain\""));
  EXPECT_THAT(changed(to("plain", "wrong_magic")), HasSubstr("magic"));
  EXPECT_THAT(changed(to("absent", "other", use::disabled)), HasSubstr("\"absent\" is not running"));
  EXPECT_EQ(described("plain").instance, before);
  EXPECT_EQ(described("plain").state, module_state::started);
  EXPECT_EQ(set.routes().size(), 2u);
}

TEST_F(module_swap_test, a_module_that_opts_out_is_not_replaced) {
  running({"fixed"});
  EXPECT_THAT(changed(to("fixed", "fixed")), HasSubstr("does not support hot swap"));
  EXPECT_THAT(trace(), IsEmpty());
}

TEST_F(module_swap_test, a_module_that_opts_out_can_neither_be_added_nor_removed) {
  running({"provider", "fixed_user", "fixed"});
  const auto before = described("provider").instance;
  EXPECT_THAT(changed(to("provider", "provider")),
              HasSubstr("module \"fixed_user\" does not support hot swap (RY_MODULE_NO_RELOAD); restart"));
  EXPECT_THAT(changed(to("fixed", "fixed", use::disabled)), HasSubstr("does not support hot swap"));
  EXPECT_THAT(trace(), IsEmpty());
  EXPECT_EQ(described("provider").instance, before);
  EXPECT_EQ(described("fixed").state, module_state::started);
}

TEST_F(module_swap_test, a_module_that_must_not_be_unmapped_ends_and_stays_mapped) {
  running({"stays"});
  const auto* code = reinterpret_cast<const void*>(set.routes().at(0).handle);
  EXPECT_EQ(changed(to("stays", "stays")), "");
  EXPECT_NE(reinterpret_cast<const void*>(set.routes().at(0).handle), code) << "the old library was used again";
  const auto ends = left();
  EXPECT_THAT(trace(), ElementsAre("stays create", "stays start", "stays stop", "stays destroy"));
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(ends[0].how, module_end::outcome::still_mapped);
  EXPECT_STREQ(code_at(code).data(), "stays");
  dl_find_object found{};
  EXPECT_EQ(_dl_find_object(const_cast<void*>(code), &found), 0);
}

TEST_F(module_swap_test, modules_can_be_added_and_removed) {
  running({"plain"});
  EXPECT_EQ(changed(to("other", "other")), "");
  EXPECT_THAT(left(), IsEmpty());
  EXPECT_EQ(set.routes().size(), 2u);
  trace();
  EXPECT_EQ(changed(to("plain", "plain", use::disabled)), "");
  EXPECT_EQ(only_route(), "/other");
  EXPECT_THAT(left(), SizeIs(1));
  EXPECT_EQ(described("plain").state, module_state::disabled);
  EXPECT_EQ(changed(to("plain", "plain")), "");
  EXPECT_THAT(left(), IsEmpty());
  EXPECT_EQ(set.routes().size(), 2u);
}

TEST_F(module_swap_test, a_swap_that_removes_a_required_service_is_refused) {
  running({"user", "provider"});
  EXPECT_THAT(
      changed(to("provider", "provider", use::disabled)),
      HasSubstr("module \"provider\" cannot be disabled, because these modules need it: user. Disable them first."));
  EXPECT_EQ(described("provider").state, module_state::started);
  EXPECT_EQ(described("user").state, module_state::started);
  EXPECT_THAT(trace(), IsEmpty());
}

TEST_F(module_swap_test, a_module_with_an_optional_need_is_replaced_when_the_service_comes_or_goes) {
  running({"seeker"});
  EXPECT_EQ(changed(to("provider", "provider")), "");
  EXPECT_THAT(trace(), ElementsAre("provider create", "seeker create", "provider start", "seeker start"));
  left();
  trace();
  EXPECT_EQ(changed(to("provider", "provider", use::disabled)), "");
  EXPECT_THAT(trace(), ElementsAre("seeker create", "seeker start"));
  EXPECT_THAT(left(), SizeIs(2));
}

TEST_F(module_swap_test, an_owner_with_replaced_switches_drivers_in_one_step) {
  running({"replacer", "driver_a"});
  EXPECT_EQ(changed(to("driver_a", "driver_a")), "");
  EXPECT_THAT(trace(), ElementsAre("driver_a create", "driver_a start", "replacer driver replaced"));
  EXPECT_THAT(left(), SizeIs(1));
  EXPECT_THAT(trace(), ElementsAre("driver_a stop", "driver_a destroy"));
  stop();
  EXPECT_THAT(trace(), ElementsAre("replacer driver removed", "driver_a stop", "driver_a destroy", "replacer stop",
                                   "replacer destroy"));
}

TEST_F(module_swap_test, an_owner_without_replaced_has_no_driver_during_the_switch) {
  running({"owner", "driver_a"});
  EXPECT_EQ(changed(to("driver_a", "driver_a")), "");
  EXPECT_THAT(trace(), ElementsAre("driver_a create", "driver_a start", "owner driver removed", "owner driver added"));
  EXPECT_THAT(left(), SizeIs(1));
  EXPECT_THAT(trace(), ElementsAre("driver_a stop", "driver_a destroy"));
}

TEST_F(module_swap_test, drivers_follow_the_owner_of_their_point) {
  running({"owner", "driver_a"});
  EXPECT_EQ(changed(to("owner", "owner")), "");
  EXPECT_THAT(trace(),
              ElementsAre("owner create", "driver_a create", "owner driver added", "owner start", "driver_a start"));
  EXPECT_THAT(left(), SizeIs(2));
  EXPECT_THAT(trace(),
              ElementsAre("owner driver removed", "driver_a stop", "driver_a destroy", "owner stop", "owner destroy"));
}

TEST_F(module_swap_test, a_driver_of_a_stopping_instance_may_stay_in_use) {
  running({"owner_keeps", "driver_a"});
  EXPECT_EQ(changed(to("driver_a", "driver_a")), "");
  const auto ends = swap->end_leaving(std::chrono::steady_clock::now());
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(ends[0].how, module_end::outcome::retired);
  EXPECT_THAT(ends[0].why, HasSubstr("still in use"));
  EXPECT_EQ(described("driver_a").state, module_state::started);
}

}  // namespace
}  // namespace ry::module
