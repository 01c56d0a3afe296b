// A module with a table, in several versions (STOCK_VERSION and the switches below), for upgrades and rollbacks.
// GET /abi_stock: returns its version and the number of articles; every call adds one.
#include <cstdlib>
#include <ry/ry.hpp>
#include <stdexcept>
#include <string>

namespace {

class stock {
 public:
  stock(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    reg.migration("0001_articles", "create table article (id bigserial primary key, name text not null)");
#ifdef STOCK_COLUMN
    reg.migration("0002_colour", "alter table article add column colour text not null default 'none'", STOCK_COLUMN);
#endif
    reg.route("GET", "/abi_stock", RY_ROUTE_PUBLIC, this, &stock::count);
  }

  ry::task<void> start() {
#ifdef STOCK_NEEDS_COLUMN
    (void)co_await ctx_.db().query("select colour from abi_stock.article limit 1");
#endif
#ifdef STOCK_ABORTS
    std::abort();
#endif
#ifdef STOCK_FAILS
    throw std::runtime_error("the shelves are full");
#endif
    co_return;
  }

 private:
  ry::task<ry::response> count(ry::request) {
    (void)co_await ctx_.db().query("insert into abi_stock.article(name) values ('screw')");
    const auto rows = co_await ctx_.db().query("select count(*) from abi_stock.article");
    co_return ry::response::json(
        "{\"version\":\"" STOCK_VERSION "\",\"articles\":" + std::to_string(rows.value().front().int64("count")) + "}");
  }
  ry::context& ctx_;
};

}  // namespace

RY_MODULE(stock, "abi_stock", STOCK_VERSION, .needs("ry.http/1", "ry.db/1").settings("{}"));
