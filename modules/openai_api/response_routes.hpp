// The routes of the Responses API.
#pragma once
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "repository.hpp"
#include "response_builder.hpp"
#include "response_request.hpp"
#include "run_access.hpp"

namespace openai_api {

class response_routes {
 public:
  response_routes(const ry::context& ctx, const repository& rows, const run_access& access)
      : ctx_(ctx), rows_(rows), access_(access) {}
  void add_to(ry::registrar& reg);

 private:
  // A response that has been started.
  struct started_response {
    ry::uuid account;
    started_run run;
    response_identity identity;
    bool stream = false, background = false;
    bool keep = false;  // a repetition with the same Idempotency-Key may follow
    std::uint64_t after = 0;  // numbers below this one are not sent
  };

  ry::task<void> create(ry::request r);
  ry::task<void> retrieve(ry::request r);
  ry::task<ry::response> cancel(ry::request r);
  ry::task<ry::response> remove(ry::request r);
  ry::task<ry::response> list_input(ry::request r);

  ry::task<ry::response> cancel_response(ry::request r);
  ry::task<ry::response> remove_response(ry::request r);
  ry::task<ry::response> input_page(ry::request r);
  ry::task<json::array> all_input(const started_response& s);
  ry::task<std::optional<started_response>> open_created(ry::request r, std::optional<ry::response>& failure);
  ry::task<std::optional<started_response>> open_stored(ry::request r, std::optional<ry::response>& failure);

  ry::task<started_response> start(ry::request r);
  ry::task<started_response> find(ry::request r);
  // Decides the approvals that the request answers, and opens the response that continues their run.
  ry::task<started_response> continue_run(ry::uuid account, response_request request);
  ry::task<response_row> row_to_continue(ry::uuid account, const response_request& request);
  ry::task<void> decide(ry::uuid account, const std::vector<approval_answer>& answers);
  ry::task<item_map> find_items(ry::uuid account, std::vector<std::string> ids);
  // Adds the messages or the thread of previous_response_id or conversation to a start.
  ry::task<start_input> continue_from(ry::uuid account, response_request& request, start_order& order);
  ry::task<conversation> earlier_messages(ry::uuid account, const response_row& row);
  ry::task<response_row> row_of(ry::uuid account, ry::uuid id);

  ry::task<ry::response> finish_foreground(ry::request r, started_response s);
  ry::task<void> send_stream(ry::request r, started_response s);
  // The current state of the response, also while its run is in progress.
  ry::task<json::object> read_now(started_response s);
  ry::task<ry::response> show(started_response s);
  ry::task<void> limit_wait(const started_response& s, response_builder& builder, std::vector<json::object>& events);
  ry::task<void> settle(started_response s, bool ended);

  const ry::context& ctx_;
  const repository& rows_;
  const run_access& access_;
};

}  // namespace openai_api
