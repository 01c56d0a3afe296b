/* ry.registrar/1 - registers what a module serves, once, inside create().
 *
 * Every call stages a registration; the host validates the registrations of all modules together (duplicate routes,
 * unknown points, missing needs, bad migrations) before anything becomes visible, and removes them when the module
 * ends. A module never unregisters anything. All functions are [lifecycle], only inside create(); all strings are
 * copied; `ctx`, `table` and `self` pointers must stay valid until destroy(). After a rejection (RY_INVALID_ARGUMENT,
 * RY_ALREADY_EXISTS) the host's error report already contains the message; the module may simply return that status
 * from create().
 *
 * Settings schema: the descriptor's config_schema_json is a JSON Schema object. Supported keywords: type (object,
 * array, string, integer, number, boolean; or a list of them), properties, required, additionalProperties (a schema, or
 * false; false is the default), items, enum, minimum, maximum, minLength, maxLength, minItems, maxItems, pattern,
 * default, description, "secret": true (masked in every listing and log), "secret_file": true (the path of a file with
 * a secret: the host warns if other users can read or change it), "driver_of": "<point>" (a driver's name). create()
 * receives the settings with defaults. "limit" marks a setting that limits a resource, for `runyard settings --limits`:
 * an object of strings "resource", "per" (account, server, ...), "answer" (the response at the limit) and optionally
 * "default" (if the schema has none), "metric" and "alert". "off" is the value (a number or a string) that turns a
 * limit or a protection off: the host warns about it in production. Names that a setting of another module defines:
 * "defines": {"kind": "accounts.tier", "predefined": [...]} on a table makes its keys names of that kind; "refers_to"
 * on a text or list of texts, and "keys_refer_to" on a table, {"kinds": ["accounts.tier"], "also": [...]}, accept such
 * names only. A kind with a "/" at its end means the part of a name before its first "/". Kinds in use: accounts.tier,
 * runs.model, runs.provider.
 */
#ifndef RY_IF_REGISTRAR_H
#define RY_IF_REGISTRAR_H
#include "../abi.h"
#include "events.h"
#include "http.h"
#include "jobs.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_REGISTRAR_1 "ry.registrar/1"

/* Route flags. */
#define RY_ROUTE_PUBLIC 1u /* no token needed; a valid one is still passed on */
#define RY_ROUTE_ADMIN 2u /* role admin or super_admin, else 403 */
#define RY_ROUTE_STREAM_BODY 4u /* the handler runs after the head was read; it reads the body itself */
#define RY_ROUTE_QUERY_TOKEN 8u /* accepts `?token=` (see ry.auth/1) in addition to the header; never logged */
#define RY_ROUTE_LONG 16u /* a stream: no request timeout, counted as a stream */
#define RY_ROUTE_NO_PREFIX 32u /* ignores http.base_path */

typedef struct ry_route {
  uint32_t struct_size;
  uint32_t flags;
  ry_str method; /* "GET"; GET also serves HEAD unless HEAD is registered */
  ry_str pattern; /* "/threads/{id}/messages"; "{name}" matches one segment, "{name...}" the rest */
  ry_handler_fn handle;
  void* ctx;
  uint64_t max_body; /* bytes; 0 = the host's default (1 MiB; 1 GiB with RY_ROUTE_STREAM_BODY) */
  uint64_t timeout_ms; /* until the answer; 0 = the host's default (30 s) */
  ry_str openapi_json; /* OpenAPI 3.1 operation object, or empty; instead of describe() */
} ry_route;

#define RY_MIGRATION_NO_TX 1u /* not inside a transaction (CREATE INDEX CONCURRENTLY) */
/* versions of the module without this migration work on the schema that it leaves, so they may be installed again
   after it was applied */
#define RY_MIGRATION_COMPATIBLE 2u
/* replaces earlier migrations of the same name, the part of the id after the number: its text may change if its
   number is raised ("0014_start" becomes "0021_start") */
#define RY_MIGRATION_REPEATABLE 4u
typedef struct ry_migration {
  uint32_t struct_size;
  uint32_t flags;
  ry_str id; /* "0001_init": applied in order of registration, ids must increase */
  ry_str up_sql; /* runs with search_path = the module's own schema, several statements allowed */
} ry_migration;

/* Called on the owner of an extension point for each driver, [lifecycle]: added before start() of
 * the owner (or later, when a driver is loaded at run time), removed before the driver's stop().
 * After `done` of a removal the owner must not call the table again. */
typedef struct ry_point {
  uint32_t struct_size;
  uint32_t min_size; /* smallest driver table that the owner accepts */
  ry_str id; /* "llm.provider/1" */
  void (*added)(void* ctx, ry_str driver, const void* table, void* self) RY_NOEXCEPT;
  void (*removed)(void* ctx, ry_str driver, ry_done done) RY_NOEXCEPT;
  void* ctx;
  /* A new library of a driver's module is swapped in; `driver` is the unchanged name. New work uses the new table; call
   * `done` once nothing uses the old table any more; the owner must not call it afterwards. NULL: the host calls
   * removed, waits for its `done`, then calls added; meanwhile the owner lacks that driver. [lifecycle] */
  void (*replaced)(void* ctx, ry_str driver, const void* table, void* self, ry_done done) RY_NOEXCEPT;
} ry_point;

typedef struct ry_registrar_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  ry_status (*route)(ry_registrar* r, const ry_route* route) RY_NOEXCEPT;
  ry_status (*migration)(ry_registrar* r, const ry_migration* migration) RY_NOEXCEPT;
  ry_status (*job)(ry_registrar* r, const ry_job_kind* kind) RY_NOEXCEPT;
  /* A durable consumer of domain events. */
  ry_status (*subscribe)(ry_registrar* r, const ry_event_consumer* consumer) RY_NOEXCEPT;
  /* A service for other modules; `id` must be listed in the descriptor's provides. The table's first
   * member is uint32_t struct_size. It is called directly, not through the host. */
  ry_status (*provide)(ry_registrar* r, ry_str id, const void* table, void* self) RY_NOEXCEPT;
  /* Defines an extension point; `id` must be listed in the descriptor's provides. */
  ry_status (*define_point)(ry_registrar* r, const ry_point* point) RY_NOEXCEPT;
  /* A driver for a point (needs must name it). `name` is unique within the point. */
  ry_status (*contribute)(ry_registrar* r, ry_str point_id, ry_str name, const void* table, void* self) RY_NOEXCEPT;
  /* Describes the routes: an OpenAPI 3.1 object with only "paths", "components" and "tags" (each optional), which
   * becomes part of the host's /openapi.json. May be called several times; the parts are one description. Paths are the
   * patterns of this module's routes ("{rest...}" is written "{rest}"); the host rejects a module that describes a
   * method without a route; a route without a description is allowed. Each "$ref" is "#/components/<kind>/<Name>" of a
   * component of this module, whose names cannot conflict with those of other modules, or of the host ("host.Error";
   * see README.md). The host adds path parameters, security, 401, 403, 413 and 5xx. */
  ry_status (*describe)(ry_registrar* r, ry_str openapi_json) RY_NOEXCEPT;
} ry_registrar_v1;

#ifdef __cplusplus
}
#endif
#endif
