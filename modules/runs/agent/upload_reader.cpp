#include "agent/upload_reader.hpp"

#include <unistd.h>

#include <algorithm>

#include "agent/history.hpp"
#include "agent/image_scaler.hpp"
#include "agent/pictures.hpp"
#include "module_context.hpp"
#include "run/waiting.hpp"
#include "store/transient_error.hpp"
#include "text.hpp"
#include "types/extraction_result.hpp"

namespace runs {
namespace {

constexpr std::uint64_t result_line_bytes = 1024;

std::string_view reading_problem(extractor_result::end how) {
  switch (how) {
    case extractor_result::end::no_sandbox:
      return "this server has no sandbox to read it in";
    case extractor_result::end::unavailable:
      return "the sandbox of this server is not available";
    case extractor_result::end::not_started:
      return "reading it could not be started";
    case extractor_result::end::too_long:
      return "reading it took too long";
    default:
      return "reading it failed";
  }
}

ry::task<extraction_result> extract_text(const settings& config, const extractor& program,
                                         std::shared_ptr<live_run> run, std::string name, std::uint64_t wall_ms,
                                         std::string& text) {
  extractor_job job;
  job.arguments = {std::to_string(config.upload_text_bytes), "uploads/" + name};
  job.wall_ms = wall_ms;
  job.output_bytes = static_cast<std::uint64_t>(config.upload_text_bytes) + result_line_bytes;
  extractor_result result = co_await program.run(run, std::move(job));
  extraction_result out;
  if (result.how != extractor_result::end::finished) {
    out.found = "none";
    out.detail = reading_problem(result.how);
    co_return out;
  }
  const std::size_t end = std::min(result.output.find('\n'), result.output.size());
  out = read_extraction_result(std::string_view(result.output).substr(0, end));
  if (out.found == "text") text = result.output.substr(std::min(end + 1, result.output.size()));
  co_return out;
}

}  // namespace

ry::task<bool> look_at_uploads(module_context& p, std::shared_ptr<live_run> run) {
  const auto driver = p.sandboxes.in_use();
  if (!driver || !p.extract.is_installed()) {
    run->progress.uploads_waiting = false;
    if (driver)
      p.ctx.warn("runyard-extract is not installed: uploaded files are stored without their text",
                 {{"run", run->who.run.to_string()}});
    co_return true;
  }
  ry::result<waiting_uploads> waiting{ry::error(RY_UNKNOWN)};
  ry::result<void> ready{ry::error(RY_UNKNOWN)};
  for (std::uint64_t pause = 100;; pause = std::min<std::uint64_t>(pause * 2, 5000)) {
    waiting = co_await p.repo.waiting(run->who.run);
    if (waiting) ready = co_await p.files.ensure(run);
    if (waiting && ready) break;
    const ry::error& e = waiting ? ready.error() : waiting.error();
    if (run->stop.reason() != 0) co_return true;
    if (!is_transient(e)) {
      p.ctx.log_error("uploaded files could not be examined", e);
      run->progress.uploads_waiting = false;
      co_return true;
    }
    co_await interruptible_sleep(p.ctx, run, pause);
  }
  const std::int64_t until_ms = p.ctx.mono_us() / 1000 + p.config.upload_read_seconds * 1000;
  std::vector<extraction_result> findings;
  for (const upload_record& file : waiting->files) {
    const std::int64_t remaining_ms = until_ms - p.ctx.mono_us() / 1000;
    extraction_result f;
    std::string text;
    if (remaining_ms > 0) {
      f = co_await extract_text(p.config, p.extract, run, file.name,
                                std::min<std::uint64_t>(static_cast<std::uint64_t>(remaining_ms), 20000), text);
    } else {
      f.found = "none";
      f.detail = "there was no time left to read it";
    }
    if (run->stop.must_break()) co_return true;
    if (f.note.starts_with("incomplete") || f.detail.find("is not installed") != std::string::npos)
      p.ctx.warn("the text of an uploaded file is missing or incomplete: " + (f.note.empty() ? f.detail : f.note),
                 {{"run", run->who.run.to_string()}});
    f.name = file.name;
    f.size = static_cast<std::uint64_t>(file.size);
    if (f.found == "text") {
      f.text_bytes = text.size();
      if (f.truncated) text += "\n[The text continues: this is its beginning.]\n";
      const std::string path = "uploads/.text/" + file.name + ".txt";
      ry::result<void> wrote = co_await p.files.write(run, path, text);
      if (!wrote) {
        f.found = "none";
        f.detail = "its text could not be stored";
        // A user can cause this error by replacing the directory with a link, so it is not logged.
        if (wrote.error().status() != RY_PERMISSION_DENIED)
          p.ctx.log_error("the text of an uploaded file could not be stored", wrote.error());
      }
    }
    findings.push_back(std::move(f));
  }
  std::string note;
  co_await p.files.keep(run, note);
  if (run->stop.must_break()) co_return true;

  std::string prompt = content_of(waiting->body);
  std::vector<picture> pictures;
  for (const extraction_result& f : findings) {
    if (const std::string line = prompt_line(f); !line.empty()) prompt += "\n" + line;
    if (f.found == "image" && f.size <= max_scalable_bytes)
      pictures.push_back({"uploads/" + f.name, "image/" + f.detail});
  }
  if (!note.empty()) prompt += "\n" + note;
  const std::string body = user_body_with(prompt, pictures);
  for (std::uint64_t pause = 100;; pause = std::min<std::uint64_t>(pause * 2, 5000)) {
    ry::result<bool> stored = co_await p.repo.note_uploads(run->who.run, run->who.job, run->who.fence, body, findings);
    if (stored) {
      if (!*stored) co_return false;
      break;
    }
    if (stored.error().is("jobs.fence_lost")) co_return false;
    if (!is_transient(stored.error())) stored.value();  // throws
    if (run->stop.must_break()) co_return true;
    co_await interruptible_sleep(p.ctx, run, pause);
  }
  run->progress.uploads_waiting = false;
  run->progress.messages = {};
  run->progress.messages_known = false;
  co_return true;
}

}  // namespace runs
