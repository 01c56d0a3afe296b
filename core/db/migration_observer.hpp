// Callbacks for the progress of db::migrator::up().
#pragma once

namespace ry::db {

struct migration_step;

// Called on the thread of up().
class migration_observer {
 public:
  virtual ~migration_observer() = default;
  virtual void waiting() = 0;  // another node migrates the database; once per up()
  virtual void running(const migration_step& step) = 0;
  virtual void applied(const migration_step& step) = 0;
  virtual void failed(const migration_step& step) = 0;  // the reason is a problem of the report
};

}  // namespace ry::db
