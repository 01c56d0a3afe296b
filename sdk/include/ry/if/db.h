/* ry.db/1 - SQL on the host's PostgreSQL.
 *
 * SQL uses $1, $2 ... Each module has a schema with its name; statements run with
 * search_path = <module>, core. Statements are prepared once per connection and kept: use constant
 * SQL text with parameters. Results are text in PostgreSQL's output format (timestamps: cast to
 * microseconds since the epoch or use to_char; bytea is decoded to raw bytes). A NUL byte in a text parameter is
 * rejected with RY_INVALID_ARGUMENT "db.nul_byte".
 *
 * Errors: reason is "db.<sqlstate>" ("db.23505"), detail_json {"constraint": "...", "message": "..."}. Status:
 * 23505 -> RY_ALREADY_EXISTS, 23503/23514 -> RY_FAILED_PRECONDITION, 40001/40P01 -> RY_ABORTED (without
 * a ry_tx, after the host has made up to 5 attempts), 57014 -> RY_DEADLINE_EXCEEDED,
 * connection loss -> RY_UNAVAILABLE (the outcome of a call in progress is then unknown).
 * A SQLSTATE RY4xx raised by module SQL (`raise sqlstate 'RY404'`) becomes the status whose HTTP
 * status is 4xx, with the raised message, and the raised DETAIL as detail_json.
 */
#ifndef RY_IF_DB_H
#define RY_IF_DB_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_DB_1 "ry.db/1"

typedef struct ry_tx ry_tx; /* one connection, until commit or rollback */
typedef struct ry_db_result ry_db_result; /* released by result_release */
typedef struct ry_db_listen ry_db_listen; /* released by unlisten */

#define RY_V_NULL 0
#define RY_V_BOOL 1 /* i */
#define RY_V_INT 2 /* i */
#define RY_V_DOUBLE 3 /* d */
#define RY_V_TEXT 4 /* s; also uuid, json, timestamps: cast in SQL ($1::uuid) */
#define RY_V_BYTES 5 /* b -> bytea */
#define RY_V_INT_ARRAY 6 /* a.items (int64_t), a.len -> bigint[] */
#define RY_V_TEXT_ARRAY 7 /* a.items (ry_str), a.len -> text[]; an item with ptr == NULL, len == 0: NULL element */
#define RY_V_UUID 8 /* b, 16 bytes -> uuid */

typedef struct ry_value {
  int32_t kind; /* RY_V_* */
  uint32_t reserved0;
  union {
    int64_t i;
    double d;
    ry_str s;
    ry_bytes b;
    struct {
      const void* items; /* const int64_t* or const ry_str* */
      size_t len;
    } a;
  } u;
} ry_value;

#define RY_DB_READ_ONLY 1u /* safe to retry after a lost connection */
#define RY_DB_NO_PREPARE 2u /* the SQL text is not constant: do not keep a prepared statement for it */

typedef struct ry_db_call {
  uint32_t struct_size;
  uint32_t flags;
  ry_str sql; /* one statement */
  const ry_value* params;
  size_t n_params;
  uint64_t timeout_ms; /* 0 = the host's default (database.statement_timeout) */
} ry_db_call;

typedef struct ry_db_rows {
  uint32_t struct_size;
  uint32_t n_cols;
  size_t n_rows;
  uint64_t affected;
  const ry_str* columns; /* n_cols names */
  const ry_str* cells; /* n_rows * n_cols, row by row; ptr == NULL: SQL NULL */
} ry_db_rows;

/* n results, owned by the callee (release each); NULL and 0 unless st == RY_OK. */
typedef void (*ry_db_fn)(void* ctx, ry_status st, ry_db_result* const* results, size_t n,
                         const ry_error_view* err) RY_NOEXCEPT;
/* tx: owned by the callee, which must commit or roll it back; NULL unless st == RY_OK. */
typedef void (*ry_tx_fn)(void* ctx, ry_status st, ry_tx* tx, const ry_error_view* err) RY_NOEXCEPT;

#define RY_TX_SERIALIZABLE 1u
#define RY_TX_READ_ONLY 2u

typedef struct ry_db_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Runs n statements in one round trip. tx == NULL: a single statement is its own transaction; several are one
   * transaction. With tx: inside it; after an error the transaction is aborted. Parameters are copied. [any] */
  ry_status (*run)(const ry_host* host, ry_tx* tx, const ry_db_call* calls, size_t n, ry_exec* exec, ry_db_fn fn,
                   void* ctx, ry_op_id* op) RY_NOEXCEPT;
  /* A transaction that spans several calls. Holds a connection: keep it short; it is rolled back
   * after database.transaction_timeout. Calls on one tx must not overlap. [any] */
  ry_status (*begin)(const ry_host* host, uint32_t flags, ry_exec* exec, ry_tx_fn fn, void* ctx,
                     ry_op_id* op) RY_NOEXCEPT;
  /* Ends the handle, regardless of the outcome. [any] */
  ry_status (*commit)(ry_tx* tx, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* Ends the handle. done.fn may be NULL. [any] */
  ry_status (*rollback)(ry_tx* tx, ry_exec* exec, ry_done done) RY_NOEXCEPT;

  /* Valid until result_release. [any] */
  const ry_db_rows* (*result_rows)(const ry_db_result* result)RY_NOEXCEPT;
  void (*result_release)(ry_db_result* result) RY_NOEXCEPT;

  /* fn runs on exec after each notification on the channel, and at least every poll_ms, because notifications can get
   * lost: read the table in each call. All modules share the channel names: prefix them with the module's name.
   * [any] */
  ry_status (*listen)(const ry_host* host, ry_str channel, uint64_t poll_ms, ry_exec* exec, ry_call_fn fn, void* ctx,
                      ry_db_listen** out) RY_NOEXCEPT;
  /* If called on the executor of fn, no call of fn starts after this has returned. Ends the handle. [any] */
  void (*unlisten)(ry_db_listen* listen) RY_NOEXCEPT;
  /* Notifies a channel on all nodes soon, merged with other notifications, outside any transaction. [any] */
  void (*notify)(const ry_host* host, ry_str channel) RY_NOEXCEPT;
} ry_db_v1;

#ifdef __cplusplus
}
#endif
#endif
