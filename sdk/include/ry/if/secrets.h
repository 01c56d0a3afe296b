/* ry.secrets/1 - encryption at rest with the deployment's key, and redaction of logs. */
#ifndef RY_IF_SECRETS_H
#define RY_IF_SECRETS_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_SECRETS_1 "ry.secrets/1"

typedef struct ry_secrets_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Encrypts (XChaCha20-Poly1305). `context` binds the result to its use ("mcp.header:<row id>"): open fails with a
   * different context. `take` runs once inside the call. [any] */
  ry_status (*seal)(const ry_host* host, ry_str context, ry_bytes plain, ry_take_fn take, void* ctx) RY_NOEXCEPT;
  /* RY_DATA_LOSS: damaged, a different context, or a removed key. Old keys of a rotation are tried. [any] */
  ry_status (*open)(const ry_host* host, ry_str context, ry_bytes sealed, ry_take_fn take, void* ctx) RY_NOEXCEPT;
  /* Masks this text in the host's log permanently, for secrets of the deployment. Text shorter than 6 bytes is ignored.
   * [any] */
  void (*redact)(const ry_host* host, ry_str secret) RY_NOEXCEPT;
  /* Like redact() for a secret that is used only temporarily, such as a user's: masked until unmask() was called as
   * often for this text, and for a while afterwards, because log lines about it may still follow. [any] */
  void (*mask)(const ry_host* host, ry_str secret) RY_NOEXCEPT;
  void (*unmask)(const ry_host* host, ry_str secret) RY_NOEXCEPT;
} ry_secrets_v1;

#ifdef __cplusplus
}
#endif
#endif
