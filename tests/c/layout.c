/* Sizes and places of the public structs, which compiled hosts rely on. Checked by the compiler alone. */
#include "trunkline.h"

#define HOLDS(name, condition) typedef char name[(condition) ? 1 : -1]

#if UINTPTR_MAX == UINT64_MAX
HOLDS(str_size, sizeof(trunkline_str) == 16);
HOLDS(str_len, offsetof(trunkline_str, len) == 8);
HOLDS(options_size, sizeof(trunkline_call_options) == 72);
HOLDS(options_timeout, offsetof(trunkline_call_options, timeout_ms) == 8);
HOLDS(options_idle_timeout, offsetof(trunkline_call_options, idle_timeout_ms) == 16);
HOLDS(options_progress, offsetof(trunkline_call_options, progress) == 24);
HOLDS(options_retry, offsetof(trunkline_call_options, retry) == 28);
HOLDS(options_call, offsetof(trunkline_call_options, out_call) == 48);
HOLDS(options_meta, offsetof(trunkline_call_options, meta_json) == 32);
HOLDS(options_wait, offsetof(trunkline_call_options, wait) == 56);
HOLDS(options_shape, offsetof(trunkline_call_options, shape) == 60);
HOLDS(options_unlisted, offsetof(trunkline_call_options, unlisted) == 64);
HOLDS(item_size, sizeof(trunkline_item) == 64);
HOLDS(item_handle, offsetof(trunkline_item, handle) == 8);
HOLDS(item_kind, offsetof(trunkline_item, kind) == 16);
HOLDS(item_status, offsetof(trunkline_item, status) == 20);
HOLDS(item_event, offsetof(trunkline_item, event) == 24);
HOLDS(item_buf, offsetof(trunkline_item, buf) == 32);
HOLDS(item_error, offsetof(trunkline_item, error) == 40);
#endif
HOLDS(options_struct_size, offsetof(trunkline_call_options, struct_size) == 0);
HOLDS(status_size, sizeof(trunkline_status) == 4);
