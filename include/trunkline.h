/*
 * trunkline: a shared MCP connection pool. The C interface.
 *
 * Generated from the library's sources: do not edit.
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A pool holds connections to MCP servers, one process for each distinct server. A session is one
 * conversation; it acquires leases on servers, and calls tools through them. These rules hold for
 * every function:
 *
 *   - Threads. Any function may be called from any thread, several at a time. Freeing an object
 *     is the end of all other use of it. None is a cancellation point: a thread that is cancelled
 *     (pthread_cancel) while it is in one goes on.
 *   - Results. A function that can fail gives a trunkline_status, 0 for success. Outputs are
 *     written on success alone. The last parameter `err` may be NULL; otherwise an error object
 *     is written to it on failure alone, for the caller to free.
 *   - Handles. A pool, a queue, logs, a buffer and an error are pointers, each with a function that
 *     frees it and takes NULL. Sessions, leases, operations, subscriptions, requests of servers and
 *     connections with servers of the host's own are numbers, never 0, each kind with a type. A
 *     number that is stale, released, of another kind or of another pool is answered with
 *     TRUNKLINE_STATUS_BAD_HANDLE and does no harm.
 *   - Text is UTF-8 by pointer and length; what is passed in is copied before the function
 *     returns. Structured values are JSON. JSON objects of options refuse names that they do not
 *     know.
 *   - Times are integer milliseconds.
 *   - Operations have three forms. The plain one blocks. `_start` ends in a callback, `_enqueue`
 *     in a queue to poll or to wait for. An operation that was started ends exactly once:
 *     with its result, or with an error. `out_op` is written before it can end.
 *   - Callbacks run on threads of the library that serve nothing else, never under a lock. They
 *     must not throw. With each goes a `user_data` and a `destroy` function for it, which is
 *     called exactly once, after the last use, even when the function fails. Inside a callback
 *     everything may be called but blocking functions, which answer
 *     TRUNKLINE_STATUS_WRONG_THREAD.
 *   - Panics of the library never reach the host: they become TRUNKLINE_STATUS_INTERNAL, with the
 *     place.
 *   - Fork. In a child process every object of the parent answers TRUNKLINE_STATUS_FORKED at
 *     once, and freeing it does nothing. The child may make a pool of its own, and wait, also
 *     where it was forked inside a callback.
 *   - Signals. The library installs no handler. A host may ignore SIGCHLD, or leave SIGPIPE as it
 *     is. Callbacks run with all signals blocked but those of faults, such as SIGSEGV.
 *
 * JSON in results and reports carries "v": 1 and only grows: ignore members that you do not know.
 *
 * The types come first, then the functions, without `trunkline_`:
 *
 *   1. Pools
 *      pool_new pool_new_with_handlers pool_close pool_free pool_status pool_status_with
 *      pool_metrics pool_explain pool_set_roots pool_set_gates pool_restart pool_drain_all
 *   2. Servers, by hand and from settings files
 *      pool_reconcile pool_add_server pool_remove_server detect pool_load pool_set_source
 *      pool_switch_source pool_reload pool_settled
 *   3. Trust, approvals and sign-ins
 *      pool_set_trusted pool_approvals pool_approve pool_reject pool_forget pool_accept_tool
 *      pool_sign_in pool_finish_sign_in pool_sign_out
 *   4. Sessions
 *      session_open session_open_with_handlers session_ready session_started session_tools
 *      session_tools_for session_call_tool session_request session_prompts session_resources
 *      session_resource_templates session_listed session_refresh session_introduction
 *      session_configure session_disable session_enable session_explain session_close
 *   5. Leases
 *      session_acquire pool_acquire lease_call_tool lease_request lease_describe lease_release
 *      lease_introduction lease_tools lease_subscribe_resource lease_unsubscribe_resource
 *   6. Queues
 *      queue_new queue_fd queue_wait queue_drain item_clear queue_close queue_free
 *   7. Events
 *      pool_subscribe pool_subscribe_queue session_subscribe session_subscribe_queue
 *      subscription_close
 *   8. What servers ask of the host, and servers of the host's own
 *      request_answer request_refuse session_provide host_send host_close
 *   9. Texts and errors
 *      buf_str buf_raw buf_revision buf_free error_code error_name error_message error_server
 *      error_session error_retryable error_outcome error_detail error_hint error_arguments
 *      error_json error_cause error_free status_name
 *   10. The library itself
 *      version abi_version features logs_new logs_free
 *   11. The forms that do not wait
 *      op_cancel
 */


#ifndef TRUNKLINE_H
#define TRUNKLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The version of this header. `trunkline_version()` tells that of the library that was loaded. */
#define TRUNKLINE_VERSION "0.1.0"
#define TRUNKLINE_VERSION_MAJOR 0
#define TRUNKLINE_VERSION_MINOR 1
#define TRUNKLINE_VERSION_PATCH 0

/** A compiler warns of a status that nobody looks at. Define it as nothing to be left alone. */
#ifndef TRUNKLINE_MUST_USE
#if __STDC_VERSION__ >= 202311L || __cplusplus >= 201703L
#define TRUNKLINE_MUST_USE [[nodiscard]]
#elif defined(__GNUC__)
#define TRUNKLINE_MUST_USE __attribute__((warn_unused_result))
#else
#define TRUNKLINE_MUST_USE
#endif
#endif

/** The bit of an event kind in a subscription's mask. */
#define TRUNKLINE_MASK(event) (UINT64_C(1) << (event))

/** A text literal as trunkline_str. For a text that is elsewhere there is TRUNKLINE_STRING. */
#define TRUNKLINE_LITERAL(text) TRUNKLINE_TEXT("" text, sizeof(text) - 1)

/** A pointer and a length as trunkline_str. */
#ifdef __cplusplus
#define TRUNKLINE_TEXT(ptr, len) (trunkline_str{(ptr), (len)})
#else
#define TRUNKLINE_TEXT(ptr, len) ((trunkline_str){(ptr), (len)})
#endif

/** A text that ends with a NUL byte as trunkline_str. Needs <string.h>. */
#define TRUNKLINE_STRING(text) TRUNKLINE_TEXT((text), strlen(text))

/** Options of a call, all defaults. */
#ifdef __cplusplus
#define TRUNKLINE_CALL_OPTIONS_INIT {sizeof(trunkline_call_options), 0, 0, 0, 0, {nullptr, 0}, nullptr, 0, 0, 0}
#else
#define TRUNKLINE_CALL_OPTIONS_INIT {sizeof(trunkline_call_options), 0, 0, 0, 0, {NULL, 0}, NULL, 0, 0, 0}
#endif

/**
 * The version of this interface. It grows when a function, a field or a number is added; nothing
 * is ever changed or removed within one SONAME. Compare it with `trunkline_abi_version()`, which
 * answers for the library that was loaded: that one must not be less.
 */
#define TRUNKLINE_ABI_VERSION 1

/**
 * Where a time or an index may be left to the library: "the default", or "all of them". Each
 * function says which it means. A language without unsigned numbers passes -1, which has the same
 * bits.
 */
#define TRUNKLINE_DEFAULT UINT64_MAX

/**
 * For `trunkline_pool_restart`: every entry of the server.
 */
#define TRUNKLINE_EVERY_ENTRY UINT32_MAX

/**
 * For subscriptions: every kind of event.
 */
#define TRUNKLINE_EVERY_EVENT UINT64_MAX

/**
 * How a function, or an operation, ended. A number never changes its meaning, and new ones may
 * come: treat what you do not know as a failure.
 */
enum trunkline_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It succeeded.
     */
    TRUNKLINE_STATUS_OK = 0,
    /**
     * A value is wrong; `detail.path` names the parameter or the member.
     */
    TRUNKLINE_STATUS_INVALID_ARGUMENT = 1,
    /**
     * An option that does not exist; `detail.option`, and the nearest name in the hint.
     */
    TRUNKLINE_STATUS_UNKNOWN_OPTION = 2,
    /**
     * A handle that is stale, released, of another kind or of another pool.
     */
    TRUNKLINE_STATUS_BAD_HANDLE = 3,
    /**
     * The pool, session or lease is closed.
     */
    TRUNKLINE_STATUS_CLOSED = 4,
    /**
     * The pool is draining.
     */
    TRUNKLINE_STATUS_CLOSING = 5,
    /**
     * The process is a fork of the one that made the object.
     */
    TRUNKLINE_STATUS_FORKED = 6,
    /**
     * The host cancelled the operation.
     */
    TRUNKLINE_STATUS_CANCELLED = 7,
    /**
     * A deadline passed; `detail.which` is `connect`, `list`, `total`, `idle` or `keepalive`.
     */
    TRUNKLINE_STATUS_TIMEOUT = 8,
    /**
     * A server's configuration is wrong; `detail.source`, `path`, `line`.
     */
    TRUNKLINE_STATUS_INVALID_CONFIG = 9,
    /**
     * A variable in a configuration is not defined.
     */
    TRUNKLINE_STATUS_UNDEFINED_VARIABLE = 10,
    /**
     * A gate keeps the server out; `detail.reason`.
     */
    TRUNKLINE_STATUS_NOT_ADMITTED = 11,
    /**
     * The approved configuration is not the live one.
     */
    TRUNKLINE_STATUS_STALE_APPROVAL = 12,
    /**
     * The budget of servers is used up.
     */
    TRUNKLINE_STATUS_BUDGET_EXHAUSTED = 13,
    /**
     * Another limit is reached; `detail.limit`.
     */
    TRUNKLINE_STATUS_LIMIT = 14,
    /**
     * The server's program could not be started.
     */
    TRUNKLINE_STATUS_SPAWN_FAILED = 15,
    /**
     * The server could not be reached.
     */
    TRUNKLINE_STATUS_CONNECT_FAILED = 16,
    /**
     * The server's process ended.
     */
    TRUNKLINE_STATUS_EXITED = 17,
    /**
     * The server broke the protocol.
     */
    TRUNKLINE_STATUS_PROTOCOL = 18,
    /**
     * The server wants credentials.
     */
    TRUNKLINE_STATUS_AUTH_REQUIRED = 19,
    /**
     * The server is reconnecting; nothing was sent.
     */
    TRUNKLINE_STATUS_UNAVAILABLE = 20,
    /**
     * The connection was lost while the call was under way.
     */
    TRUNKLINE_STATUS_CALL_INTERRUPTED = 21,
    /**
     * No such tool in this session's view.
     */
    TRUNKLINE_STATUS_TOOL_NOT_FOUND = 22,
    /**
     * The server answered with a JSON-RPC error.
     */
    TRUNKLINE_STATUS_SERVER_ERROR = 23,
    /**
     * A request of the server could not be routed.
     */
    TRUNKLINE_STATUS_DECLINED = 24,
    /**
     * The server was lost too often; the breaker is open.
     */
    TRUNKLINE_STATUS_CRASH_LOOP = 25,
    /**
     * A file of the library could not be read or written.
     */
    TRUNKLINE_STATUS_STORE = 26,
    /**
     * A blocking function was called from inside a callback.
     */
    TRUNKLINE_STATUS_WRONG_THREAD = 27,
    /**
     * A fault of the library itself; `detail.place` says where.
     */
    TRUNKLINE_STATUS_INTERNAL = 28,
    /**
     * The server came back and was lost again, until no attempt was left; it is tried again after
     * a while.
     */
    TRUNKLINE_STATUS_UNSTABLE = 29,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum trunkline_status trunkline_status;
#else
typedef int32_t trunkline_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a `trunkline_item` tells.
 */
enum trunkline_item_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * An operation ended: `status`; then `buf` or `handle`, or `error`.
     */
    TRUNKLINE_ITEM_KIND_DONE = 1,
    /**
     * An event of a subscription: `event`, and its JSON text in `buf`.
     */
    TRUNKLINE_ITEM_KIND_EVENT = 2,
    /**
     * A subscription ended, since its pool or session did, or the pool was freed. Nothing follows
     * from it, and it need not be closed.
     */
    TRUNKLINE_ITEM_KIND_END = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum trunkline_item_kind trunkline_item_kind;
#else
typedef uint32_t trunkline_item_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kinds of event. The number is the bit in a subscription's mask:
 * `TRUNKLINE_MASK(TRUNKLINE_EVENT_TOOLS_CHANGED)`.
 */
enum trunkline_event
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * An entry changed its visible state: `from`, `to`, `reason`.
     */
    TRUNKLINE_EVENT_STATUS_CHANGED = 0,
    /**
     * Tools of a session's view came, went or changed: `added`, `removed`, `changed`, `revision`.
     */
    TRUNKLINE_EVENT_TOOLS_CHANGED = 1,
    /**
     * Prompts of a session's view came, went or changed.
     */
    TRUNKLINE_EVENT_PROMPTS_CHANGED = 2,
    /**
     * Resources of a session's view came, went or changed.
     */
    TRUNKLINE_EVENT_RESOURCES_CHANGED = 3,
    /**
     * A subscribed resource was updated: `uri`.
     */
    TRUNKLINE_EVENT_RESOURCE_UPDATED = 4,
    /**
     * A held connection was lost: `reason`.
     */
    TRUNKLINE_EVENT_DISCONNECTED = 5,
    /**
     * A held connection is back: `attempts`, `downtime_ms`.
     */
    TRUNKLINE_EVENT_RECONNECTED = 6,
    /**
     * A held connection is gone for good: `error`.
     */
    TRUNKLINE_EVENT_FAILED = 7,
    /**
     * Progress of a call: `call`, `progress`, `total`, `message`.
     */
    TRUNKLINE_EVENT_PROGRESS = 8,
    /**
     * A log message of a server: `level`, `logger`, `data`.
     */
    TRUNKLINE_EVENT_LOG = 9,
    /**
     * A line that a server wrote to stderr, escaped: `line`.
     */
    TRUNKLINE_EVENT_STDERR = 10,
    /**
     * Servers wait for approval: `requests`.
     */
    TRUNKLINE_EVENT_APPROVAL_NEEDED = 11,
    /**
     * A server wants credentials: `url`, `missing`.
     */
    TRUNKLINE_EVENT_AUTH_REQUIRED = 12,
    /**
     * The budget is nearly used up.
     */
    TRUNKLINE_EVENT_BUDGET_WARNING = 13,
    /**
     * Servers refused in one pass.
     */
    TRUNKLINE_EVENT_REFUSED_BATCH = 14,
    /**
     * A source of configuration changed: `source`, `accepted`.
     */
    TRUNKLINE_EVENT_SOURCE_CHANGED = 15,
    /**
     * A source of configuration is broken: `source`, `path`, `line`, `message`.
     */
    TRUNKLINE_EVENT_SOURCE_ERROR = 16,
    /**
     * A reconcile ended; its report.
     */
    TRUNKLINE_EVENT_RECONCILED = 17,
    /**
     * A changed tool waits to be accepted: `tool`, `difference`.
     */
    TRUNKLINE_EVENT_TOOL_QUARANTINED = 18,
    /**
     * A server of the session became ready; how many are left.
     */
    TRUNKLINE_EVENT_SERVER_READY = 19,
    /**
     * Something the operator should know: `code`, `message`.
     */
    TRUNKLINE_EVENT_WARNING = 20,
    /**
     * What a server asked the session to have opened is over: `elicitation_id`.
     */
    TRUNKLINE_EVENT_ELICITATION_COMPLETED = 21,
    /**
     * This subscriber was too slow, and `missed` events were dropped. Always delivered, whatever
     * the mask says.
     */
    TRUNKLINE_EVENT_LAGGED = 63,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum trunkline_event trunkline_event;
#else
typedef uint32_t trunkline_event;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The handlers that a host can have. The number is the bit in what it offers.
 */
enum trunkline_handler
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * `sampling/createMessage`.
     */
    TRUNKLINE_HANDLER_SAMPLING = 0,
    /**
     * `sampling/createMessage` with tools; where it stands alone, without them too.
     */
    TRUNKLINE_HANDLER_SAMPLING_TOOLS = 1,
    /**
     * `elicitation/create` of a form.
     */
    TRUNKLINE_HANDLER_ELICITATION = 2,
    /**
     * `elicitation/create` of an address that the user is to visit; only `http` and `https` ones
     * arrive.
     */
    TRUNKLINE_HANDLER_ELICITATION_URL = 3,
    /**
     * Each `log` event of the session.
     */
    TRUNKLINE_HANDLER_LOGGING = 4,
    /**
     * What a remote server is to be let in with, asked by the library when a server refuses what
     * it was sent: `params` is `{url, reason, scopes, challenge}`, `reason` one of `missing`,
     * `refused`, `expired` and `scope`. The answer is `{"token": ..., "expires_in_ms": ...}`; a
     * refusal, or an answer without a token, leaves the server `auth_required`.
     */
    TRUNKLINE_HANDLER_CREDENTIALS = 5,
    /**
     * The value of an input that settings declare, asked by the library: `params` is
     * `{id, source, description?, default?, secret?, options?, command?}`, the answer
     * `{"value": ...}`. Anything else leaves the server without the value.
     */
    TRUNKLINE_HANDLER_INPUTS = 6,
    /**
     * A secret that settings name, asked by the library: `params` is `{name, source}`, the answer
     * `{"value": ...}`. After `{}` the environment counts; after a refusal or a failure the server
     * goes without the value.
     */
    TRUNKLINE_HANDLER_SECRETS = 7,
    /**
     * What becomes of a server that settings name, asked by the library before it is admitted:
     * `params` is `{source, configuration}`. The answer is `{}` to keep it, `{"drop": true}`, or
     * `{"configuration": {...}}`; without one the server does not run.
     */
    TRUNKLINE_HANDLER_ENTRIES = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum trunkline_handler trunkline_handler;
#else
typedef uint32_t trunkline_handler;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a host's handlers are told.
 */
enum trunkline_request_event
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * A server asks: `{kind, server, entry_index, generation, session, method, params}`. Answer it
     * with `trunkline_request_answer` or `trunkline_request_refuse`. What the library itself asks
     * is about a configuration: `entry_index` and `generation` are null then, and `session` is for
     * the pool's.
     */
    TRUNKLINE_REQUEST_EVENT_ASKED = 1,
    /**
     * Nobody waits for the answer to that request any more.
     */
    TRUNKLINE_REQUEST_EVENT_WITHDRAWN = 2,
    /**
     * A `log` event.
     */
    TRUNKLINE_REQUEST_EVENT_LOGGED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum trunkline_request_event trunkline_request_event;
#else
typedef uint32_t trunkline_request_event;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A text that the library gave to the host, such as a result or a report: UTF-8, JSON, read-only.
 * Free it with `trunkline_buf_free`. Any thread may read it, several at a time.
 */
typedef struct trunkline_buf trunkline_buf;

/**
 * Why something failed. The host owns what it was given through an `err` parameter or a queue's
 * item, and frees it with `trunkline_error_free`. Any thread may read it, several at a time. Texts
 * and causes that its functions give are good until it is freed. No message, detail or hint ever
 * holds an environment value, a header, a token or an argument.
 */
typedef struct trunkline_error trunkline_error;

/**
 * What the library logs, while it is told to a callback.
 */
typedef struct trunkline_logs trunkline_logs;

/**
 * A pool: one workspace's set of connections. Any thread may use it, several at a time, until one
 * frees it.
 */
typedef struct trunkline_pool trunkline_pool;

/**
 * A queue of items, with a descriptor that is readable while items wait. One queue may serve
 * several pools, and any thread may drain it.
 */
typedef struct trunkline_queue trunkline_queue;

/**
 * A piece of UTF-8 text, by pointer and length in bytes; it need not end with a NUL byte.
 *
 * Given to a function, it is read (and copied) before the function returns. `{NULL, 0}` is the
 * empty text. Text that is not UTF-8 is answered with `TRUNKLINE_STATUS_INVALID_ARGUMENT`.
 */
typedef struct {
    /**
     * The first byte; may be NULL when `len` is 0.
     */
    const char *ptr;
    /**
     * How many bytes.
     */
    size_t len;
} trunkline_str;

/**
 * The number of a session. The types of numbers say in a signature what is meant; a compiler takes
 * one for another, and the library answers `TRUNKLINE_STATUS_BAD_HANDLE`.
 */
typedef uint64_t trunkline_session;

/**
 * The number of a request of a server, by which it is answered.
 */
typedef uint64_t trunkline_request;

/**
 * Called with what servers ask of the host, in their order, on a thread of the handlers' own.
 * `event` is a `trunkline_request_event` (or a number that came later), `request` the number to
 * answer by, `json` good until the function returns. What a server sends is to be shown to people
 * with care.
 *
 * It must not throw. It may answer at once. An answer that takes long is better given later, by
 * any thread, since the next request is told only when this has returned.
 */
typedef void (*trunkline_ask_fn)(void *user_data,
                                 uint32_t event,
                                 trunkline_request request,
                                 trunkline_str json);

/**
 * Called exactly once for each `user_data` that was handed over, after its last callback, or
 * before the function returns when that function fails. May be NULL.
 */
typedef void (*trunkline_destroy_fn)(void *user_data);

/**
 * The number of a lease.
 */
typedef uint64_t trunkline_lease;

/**
 * The number of a connection with a server that the host provides.
 */
typedef uint64_t trunkline_host_connection;

/**
 * Called with each message of the pool for a server that the host provides, in their order, on a
 * thread of the connection's own. `frame_json` is one JSON-RPC message, good until the function
 * returns.
 *
 * It must not throw. It may block: that delays this server alone.
 */
typedef void (*trunkline_host_receive_fn)(void *user_data,
                                          trunkline_host_connection connection,
                                          trunkline_str frame_json);

/**
 * Called once, and last, when a connection with a server that the host provides is over. Its
 * number is bad already.
 */
typedef void (*trunkline_host_closed_fn)(void *user_data, trunkline_host_connection connection);

/**
 * The options of one call. Start from `TRUNKLINE_CALL_OPTIONS_INIT`; a field that is zero means
 * the default.
 *
 * NULL in place of the struct means all defaults. A `struct_size` below the first version's, or
 * above 4096, is answered with `TRUNKLINE_STATUS_INVALID_ARGUMENT`; a byte that is not zero beyond
 * what this version of the library knows, with `TRUNKLINE_STATUS_UNKNOWN_OPTION`.
 */
typedef struct {
    /**
     * `sizeof(trunkline_call_options)` of the header that the host was compiled with.
     */
    size_t struct_size;
    /**
     * Milliseconds for the call in all; 0: the server's, or the pool's (10 min).
     */
    uint64_t timeout_ms;
    /**
     * Milliseconds without progress; 0: the server's, or the pool's (300 s).
     */
    uint64_t idle_timeout_ms;
    /**
     * 1: ask the server for progress, which comes as `TRUNKLINE_EVENT_PROGRESS`. 0: do not.
     */
    uint32_t progress;
    /**
     * What is sent again when the connection is lost. 0: nothing. 1: what was provably never sent.
     * 2: also a call of a tool that is declared read-only or idempotent, when the session trusts
     * the server.
     */
    uint32_t retry;
    /**
     * The request's `_meta`: the text of a JSON object; empty: none. A `traceparent`, `tracestate`
     * or `baggage` in it must be as W3C defines them, and a `progressToken` does not go out: the
     * library has its own.
     */
    trunkline_str meta_json;
    /**
     * NULL, or where the number is put by which the call's progress events name it (`call`),
     * unique within its session. Written before the function returns (a blocking one: before it
     * waits), and left alone when nothing was sent. `trunkline_session_request` sends later and
     * leaves it alone too: for progress, send the request by a lease. The number may come after
     * the call's end, so it must not lie in what `destroy` frees.
     */
    uint64_t *out_call;
    /**
     * 1: wait while the server is reconnecting, at most for the call's time in all. 0: fail at
     * once.
     */
    uint32_t wait;
    /**
     * The shape that a model was given the tool in: arguments that have other names there go to
     * the server under its own. 0: none. 1: `mcp`. 2: `openai`. 3: `openai_responses`. 4:
     * `anthropic`. 5: `gemini`. 6: `any`.
     */
    uint32_t shape;
    /**
     * 1: a tool that the server does not list is asked of the server all the same; never one that
     * a filter, a gate or a quarantine keeps from the session. 0: it is refused.
     */
    uint32_t unlisted;
} trunkline_call_options;

/**
 * The end of an operation, or an event: what a queue delivers, and what a completion callback is
 * shown.
 *
 * From `trunkline_queue_drain` the caller owns `buf`, `error` and `handle`. In a callback `buf`
 * and `error` are borrowed; to keep one, take the pointer and set the field to NULL. A lease in
 * `handle` is the host's own in both cases: release it.
 */
typedef struct {
    /**
     * The number that the host gave when it started the operation or subscribed; 0 in a callback.
     */
    uint64_t tag;
    /**
     * Of an acquire: the lease. Of an event or an end: the subscription. Otherwise 0.
     */
    uint64_t handle;
    /**
     * What this item tells.
     */
    trunkline_item_kind kind;
    /**
     * How the operation ended; `TRUNKLINE_STATUS_OK` for events.
     */
    trunkline_status status;
    /**
     * The number of the event (a `trunkline_event`, and whatever comes later); 0 otherwise.
     */
    uint32_t event;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * The result, report or event: JSON text. NULL when there is none.
     */
    trunkline_buf *buf;
    /**
     * Why the operation failed; NULL when it did not.
     */
    trunkline_error *error;
    /**
     * 0.
     */
    uint64_t reserved_more[2];
} trunkline_item;

/**
 * Called once, on a thread of the library, when an operation ended. `item` is the library's, and
 * good until the function returns.
 *
 * It must not throw. It may start operations, cancel, release, unsubscribe and free; a blocking
 * function answers `TRUNKLINE_STATUS_WRONG_THREAD` inside it. A few threads of each pool serve all
 * completions, so one that blocks holds up others.
 */
typedef void (*trunkline_done_fn)(void *user_data, trunkline_item *item);

/**
 * The number of an operation that was started.
 */
typedef uint64_t trunkline_op;

/**
 * Called with what the library logs, on a thread of its own. `records` is the text of a JSON array
 * of `{time_ms, level, logger, message, fields}`, good until the function returns. It must not
 * throw.
 */
typedef void (*trunkline_log_fn)(void *user_data, trunkline_str records);

/**
 * Called for each event, in their order, on a thread of the subscription's own. `event` is a
 * `trunkline_event` (or a number that came later), `json` the whole event, good until the function
 * returns.
 *
 * It must not throw. While it runs, this subscription waits and no other does.
 */
typedef void (*trunkline_event_fn)(void *user_data, uint32_t event, trunkline_str json);

/**
 * The number of a subscription.
 */
typedef uint64_t trunkline_subscription;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 * 1. Pools
 */

/**
 * Makes a pool with nothing in it. Returns at once.
 *
 * `options_json`: a JSON object of pool options, times in milliseconds (`drain_delay_ms`); empty
 * for all defaults. `out`: the pool; end it with `trunkline_pool_close`, then
 * `trunkline_pool_free`.
 *
 * Errors: `UNKNOWN_OPTION`, `INVALID_ARGUMENT` (also when `workers` conflicts with a pool that is
 * there), `LIMIT` (when 65,536 pools are not freed).
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_new(trunkline_str options_json,
                                    trunkline_pool **out,
                                    trunkline_error **err);

/**
 * `trunkline_pool_new` with handlers: what answers the servers of sessions without a handler of
 * their own.
 *
 * `offered`: the handlers that there are, by `TRUNKLINE_MASK` of `trunkline_handler`; servers are
 * offered what these can answer. `ask`: told what servers ask, on a thread of its own.
 * `destroy` is called exactly once, after the last call: when the pool was closed or freed, or
 * before this returns when it fails.
 *
 * Errors: those of `trunkline_pool_new`; `LIMIT` also when no thread can be started.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_new_with_handlers(trunkline_str options_json,
                                                  uint64_t offered,
                                                  trunkline_ask_fn ask,
                                                  void *user_data,
                                                  trunkline_destroy_fn destroy,
                                                  trunkline_pool **out,
                                                  trunkline_error **err);

/**
 * Ends a pool and waits for it: drains it, ends its servers and its subscriptions, and returns
 * when nothing of a server is left and every callback has returned. The pool object and its
 * handles stay; what is called on them answers `CLOSED`.
 *
 * `timeout_ms`: for everything together, in milliseconds; `TRUNKLINE_DEFAULT` for the pool's option
 * `close_timeout_ms`, which is 10 s by default. Calls
 * under way may finish until then; what is left is interrupted and killed. A second close waits
 * for the first, and the earlier of their ends counts for both.
 *
 * Errors: `WRONG_THREAD` inside a callback; `TIMEOUT` when a callback has not returned in time;
 * `FORKED`, `INVALID_ARGUMENT`.
 */
trunkline_status trunkline_pool_close(trunkline_pool *pool,
                                      uint64_t timeout_ms,
                                      trunkline_error **err);

/**
 * Frees a pool, and with it every handle of it. What is under way ends with `CLOSED` (or what it
 * was cancelled with); servers that were not closed before are ended in the background. Waits for
 * nothing, so it may be called anywhere, inside a callback too. Callbacks may still run
 * afterwards, until their `destroy` has been called. A queue still gives the ends of its
 * operations, and of each subscription the events that wait and a `TRUNKLINE_ITEM_KIND_END`.
 *
 * No other thread may be using the pool; one that has not returned yet from the function that
 * started the operation, whose callback this is called in, does no harm. NULL is fine. In a forked
 * child the parent's pool is left alone.
 */
void trunkline_pool_free(trunkline_pool *pool);

/**
 * `trunkline_pool_status_with` without options: the whole pool as JSON. Always works, and never
 * shows a secret.
 *
 * `out`: the text; free it with `trunkline_buf_free`.
 *
 * Errors: `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_status(trunkline_pool *pool,
                                       trunkline_buf **out,
                                       trunkline_error **err);

/**
 * The whole pool: servers, entries, processes. It always works, and never shows a secret. With
 * `processes` it looks at more than the pool's own state.
 *
 * `options_json`: an object with any of `processes`, as `docs/reference/options.md` has it; empty
 * for all defaults. `out`: the status. Free it with `trunkline_buf_free`.
 *
 * Errors: `FORKED`, `INVALID_ARGUMENT`, `UNKNOWN_OPTION`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_status_with(trunkline_pool *pool,
                                            trunkline_str options_json,
                                            trunkline_buf **out,
                                            trunkline_error **err);

/**
 * Gives the counts of the status in the text format of Prometheus (0.0.4), for the host to serve.
 * Its labels are names of servers, methods of the protocol and codes of errors: nothing that a
 * model or a server writes.
 *
 * `options_json`: an object with any of `processes`, as `docs/reference/options.md` has it; empty
 * for all defaults. `out`: the text. Free it with `trunkline_buf_free`.
 *
 * Errors: `FORKED`, `INVALID_ARGUMENT`, `UNKNOWN_OPTION`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_metrics(trunkline_pool *pool,
                                        trunkline_str options_json,
                                        trunkline_buf **out,
                                        trunkline_error **err);

/**
 * Says why the pool has a server, or a tool by its exposed name, or has not.
 * `trunkline_session_explain` says what a session hides or switches off. Returns at once.
 *
 * `out`: `{v, name, kind, server?, available, reason?, message, from?, remedy?}` with the kind
 * `server` or `tool`, and in `from` the `source`, `file`, `line` and `list` that decide. Free it
 * with `trunkline_buf_free`.
 *
 * Errors: `INVALID_ARGUMENT`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_explain(trunkline_pool *pool,
                                        trunkline_str name,
                                        trunkline_buf **out,
                                        trunkline_error **err);

/**
 * Replaces the folders that servers are told of, and waits until they are looked at. Servers that
 * can be told are told so, and the lists of every connection are asked for again, in the
 * background. Folders that are equal to those before do nothing. Changes are made in the order of
 * the calls. A file system that does not answer delays this change and later ones, and nothing
 * else. A cancellation takes no begun change back. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `roots_json`: as JSON, absolute, or relative to the workspace, as the option `roots` of the
 * pool.
 *
 * Errors: `INVALID_ARGUMENT` (with `detail.path`, `roots[0]`) for one that is not a folder, with
 * nothing changed, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_set_roots(trunkline_pool *pool,
                                          trunkline_str roots_json,
                                          trunkline_error **err);

/**
 * Replaces the lists of servers that may run, within the pool's option `launch_allowed`. A server
 * that is no longer admitted ends at once. A server that is admitted again starts in the sessions
 * that want it. A lease on a server that was kept out stays closed. Equal lists do nothing.
 * Returns at once.
 *
 * `gates_json`: as JSON, any of `allowed`, `excluded` and `pending`, lists of patterns of names
 * (`*` any characters, `?` one). What is absent is not kept: without `allowed` all may run, and an
 * empty list is none. `out`: the report `{v, servers: {name: {admitted, reason?}}}` of the servers
 * about which it changed. Free it with `trunkline_buf_free`.
 *
 * Errors: `UNKNOWN_OPTION`, `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_set_gates(trunkline_pool *pool,
                                          trunkline_str gates_json,
                                          trunkline_buf **out,
                                          trunkline_error **err);

/**
 * Replaces the connections of a server's entries, or of one of them, and waits for the new ones.
 * Blocks: `WRONG_THREAD` inside a callback.
 *
 * `entry_index`: of the one entry; `TRUNKLINE_EVERY_ENTRY` for all of the server's. `out`: a
 * report with `{entry_index, restarted, duration_ms | reason}` for each entry; the reason is
 * `in_flight`, `disabled`, `auth_required`, `not_admitted`, `budget_would_exceed`, `superseded`
 * (the server is configured otherwise now, or no more), `failed` or `closing`. Free it with
 * `trunkline_buf_free`.
 *
 * Errors: `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_restart(trunkline_pool *pool,
                                        trunkline_str server,
                                        uint32_t entry_index,
                                        trunkline_buf **out,
                                        trunkline_error **err);

/**
 * Ends every connection, one-way: later acquires, reconciles and restarts are refused as
 * `closing`. With `force`, calls under way are interrupted at once; otherwise they may finish
 * until the time is over. A cancellation ends the wait alone: the drain goes on. Blocks:
 * `WRONG_THREAD` inside a callback.
 *
 * `options_json`: an object with any of `force` and `timeout_ms`, as `docs/reference/options.md`
 * has them; empty for all defaults. `out`: the report, `{v, drained, forced, errors: [{server,
 * entry_index, error}]}`. Free it with `trunkline_buf_free`.
 *
 * Errors: `CLOSED`, `UNKNOWN_OPTION`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_drain_all(trunkline_pool *pool,
                                          trunkline_str options_json,
                                          trunkline_buf **out,
                                          trunkline_error **err);

/*
 * 2. Servers, by hand and from settings files
 */

/**
 * Makes these servers the pool's run-time source, and waits until that is done. New servers start
 * in the sessions that want them; removed ones are released; equal ones stay untouched. A
 * cancellation takes no begun change back. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `servers_json`: as JSON, with or without a `mcpServers` around them. `out`: the report, `{v,
 * servers: {name: {action, error?}}, findings?}`, with the members that no rule knows as `[{kind,
 * server, path, nearest?}]`. Free it with `trunkline_buf_free`.
 *
 * Errors: `INVALID_CONFIG` when it is not an object of servers (a server that is wrong spoils
 * itself alone, in the report), `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_reconcile(trunkline_pool *pool,
                                          trunkline_str servers_json,
                                          trunkline_buf **out,
                                          trunkline_error **err);

/**
 * Adds a server to the run-time source, which beats every other, or replaces it there. Its values
 * are taken as they are. Returns at once, as `trunkline_pool_set_source`.
 *
 * `config_json`: as JSON, what the settings of one server have (`{"command": ...}`). `out`: `{v,
 * server, result, reason?, findings?}` with the result `added`, `replaced`, `unchanged` or
 * `refused`, which starts when what refuses it is gone, and with the members that no rule knows,
 * as `[{kind, server, path, nearest?}]`. Free it with `trunkline_buf_free`.
 *
 * Errors: `INVALID_CONFIG`, `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_add_server(trunkline_pool *pool,
                                           trunkline_str server,
                                           trunkline_str config_json,
                                           trunkline_buf **out,
                                           trunkline_error **err);

/**
 * Takes a server out of the run-time source; what another source says of that name counts again.
 * Returns at once.
 *
 * `out`: `{v, server, result}` with the result `removed` or `not_present`. Free it with
 * `trunkline_buf_free`.
 *
 * Errors: `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_remove_server(trunkline_pool *pool,
                                              trunkline_str server,
                                              trunkline_buf **out,
                                              trunkline_error **err);

/**
 * The settings files of products that exist for this user and a workspace:
 * `{v, files: [{path, format, scope}]}`, in the order of `docs/reference/settings.md`. `scope` is
 * `user`, `project`, `workspace` or `managed`. Some fifty paths are looked up; nothing is opened.
 *
 * `workspace`: its folder; empty for the current directory. `out`: the text; free it with
 * `trunkline_buf_free`.
 *
 * Errors: `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_detect(trunkline_str workspace,
                                  trunkline_buf **out,
                                  trunkline_error **err);

/**
 * Reads a settings file into the source that its place implies, and waits until that is done.
 * Inside of the workspace that is `workspace`, or `project` for its `.mcp.json`; outside, what the
 * file is known as (`trunkline_detect`), else `user`. Servers of the project and the workspace
 * wait for approval (`trunkline_pool_approve`). A cancellation takes no begun work back. Blocks:
 * `WRONG_THREAD` inside a callback.
 *
 * `path`: absolute, or relative to the process's folder. `options_json`: an object with any of
 * `watch`, `source` and `format`, as `docs/reference/options.md` has them; empty for all defaults.
 * `out`: the report, `{v, source, servers: {name: {action, source?, reason?, error?}}, findings}`.
 * `findings` says what of the text is without effect: `[{kind, path, line, column, server?,
 * what?}]`. Free it with `trunkline_buf_free`.
 *
 * Errors: `INVALID_CONFIG` (with `detail.source`, and `detail.line` where the text does not parse)
 * when the file cannot be read, with nothing changed, `UNKNOWN_OPTION`, `INVALID_ARGUMENT`,
 * `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_load(trunkline_pool *pool,
                                     trunkline_str path,
                                     trunkline_str options_json,
                                     trunkline_buf **out,
                                     trunkline_error **err);

/**
 * Replaces a source whole by settings, in any form that settings files have, or removes it. New
 * servers start in the sessions that want them; removed ones are released; equal ones stay
 * untouched. Variables are expanded, and servers of `project` and `workspace` wait for approval.
 * It asks nobody and returns once that is under way. The calling thread looks up programs and
 * files of variables of new servers, and the first time the file of approvals. So it waits for the
 * file system.
 *
 * `source`: a scope (`user`, `project`, `workspace`, `managed`, `session`, `launch` or
 * `extension`), or one with a name after a colon, such as `extension:git`. `settings`: as a
 * settings file; empty removes the source. `out`: the report of `trunkline_pool_load`. Free it
 * with `trunkline_buf_free`.
 *
 * Errors: `INVALID_CONFIG` for settings that cannot be read, with `detail.line`,
 * `INVALID_ARGUMENT` (`runtime` has functions of its own), `CLOSING`, `CLOSED`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_set_source(trunkline_pool *pool,
                                           trunkline_str source,
                                           trunkline_str settings,
                                           trunkline_buf **out,
                                           trunkline_error **err);

/**
 * Switches a source off, so that it is as if it were empty, or on again. Returns at once, as
 * `trunkline_pool_set_source`.
 *
 * `source`: as of `trunkline_pool_set_source`; a scope alone stands for all of its sources, those
 * that come later included. `on`: 0 or 1. `out`: the report of `trunkline_pool_load` without
 * `findings`. Free it with `trunkline_buf_free`.
 *
 * Errors: `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_switch_source(trunkline_pool *pool,
                                              trunkline_str source,
                                              uint32_t on,
                                              trunkline_buf **out,
                                              trunkline_error **err);

/**
 * Reads every loaded file again, and waits until that is done. It looks up anew variables,
 * programs, decisions about servers, and questions without an answer. A file that cannot be read
 * keeps what it had. Files of sources that need trust are not read in a workspace that is not
 * trusted. The event `reconciled` that follows says what became of a `waiting` server. A
 * cancellation takes no begun work back. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `options_json`: an object with any of `reconnect`, as `docs/reference/options.md` has it; empty
 * for all defaults. `out`: `{v, servers, errors: [{source, error}], findings, reconnected?}`.
 * `findings` are those of every file that was read, as of `trunkline_pool_load`, each with its
 * `source`. `reconnected` is there when that was asked for: by server the rows of
 * `trunkline_pool_restart`, or one with an `error` where it could not be begun. Free it with
 * `trunkline_buf_free`.
 *
 * Errors: `UNKNOWN_OPTION`, `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_reload(trunkline_pool *pool,
                                       trunkline_str options_json,
                                       trunkline_buf **out,
                                       trunkline_error **err);

/**
 * Waits until nothing that configuration caused is under way: no question to the host, no connect.
 * Says how every server stands that a source names. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `timeout_ms`: in milliseconds; `TRUNKLINE_DEFAULT` for as long as it takes: handlers have their
 * time, connects theirs from their turn on, and a file system that does not answer none. `out`:
 * `{v, servers: {name: {state, source, reason?, error?, file?}}}` with the state `ready`,
 * `failed`, `refused`, `waiting` or `off`. Free it with `trunkline_buf_free`.
 *
 * Errors: `TIMEOUT` (with `detail.servers`), `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_settled(trunkline_pool *pool,
                                        uint64_t timeout_ms,
                                        trunkline_buf **out,
                                        trunkline_error **err);

/*
 * 3. Trust, approvals and sign-ins
 */

/**
 * Sets whether the workspace is trusted. A server that loses its trust ends at once; one that has
 * it again starts or waits for approval. Files that were not read without trust are read first. Of
 * several calls the last one made holds, no matter how long their files take. A cancellation takes
 * no begun work back. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `trusted`: 0 or 1. `out`: the report of `trunkline_pool_approve`. Free it with
 * `trunkline_buf_free`.
 *
 * Errors: `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_set_trusted(trunkline_pool *pool,
                                            uint32_t trusted,
                                            trunkline_buf **out,
                                            trunkline_error **err);

/**
 * Lists what waits for approval and what was decided for this workspace. It reads and follows
 * decisions that another process took meanwhile. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `out`: `{v, root, requests, decisions: [{server, hash, decision, at_ms}]}`. A request says what
 * would run, with `server` and `hash`. Show `escaped` to decision makers, as it is; `exact` and
 * the file of `origin` hold what the settings hold, control characters and all, and are not for a
 * terminal. Free it with `trunkline_buf_free`.
 *
 * Errors: `STORE` when the decisions cannot be read, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`,
 * `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_approvals(trunkline_pool *pool,
                                          trunkline_buf **out,
                                          trunkline_error **err);

/**
 * Approves the configuration whose request with that hash was shown. Once the decision is kept,
 * the server starts in the sessions that want it. A rejection by another host that this one did
 * not see stays in force, and the report says so. A cancellation takes no begun work back. Blocks:
 * `WRONG_THREAD` inside a callback.
 *
 * `hash`: of the request, so that what is decided is what was shown. `out`: the report, `{v,
 * servers: {name: {action, source?, reason?, error?}}}`. Free it with `trunkline_buf_free`.
 *
 * Errors: `STALE_APPROVAL` when the configuration is another by now, `STORE` when it cannot be
 * kept, and is not in force then, `INVALID_ARGUMENT` (also for a server that needs no approval, or
 * a text that is no hash), `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_approve(trunkline_pool *pool,
                                        trunkline_str server,
                                        trunkline_str hash,
                                        trunkline_buf **out,
                                        trunkline_error **err);

/**
 * Rejects the configuration with that hash: a running server ends, and nobody is asked about it
 * again. A cancellation takes no begun work back. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `hash`: of the request, so that what is decided is what was shown. `out`: the report of
 * `trunkline_pool_approve`. Free it with `trunkline_buf_free`.
 *
 * Errors: those of `trunkline_pool_approve`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_reject(trunkline_pool *pool,
                                       trunkline_str server,
                                       trunkline_str hash,
                                       trunkline_buf **out,
                                       trunkline_error **err);

/**
 * Forgets every decision about a server of this workspace, so that it waits for approval again. A
 * cancellation takes no begun work back. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `out`: `{v, forgotten, servers}`; `forgotten` counts the decisions. Free it with
 * `trunkline_buf_free`.
 *
 * Errors: `STORE` when that cannot be kept, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`,
 * `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_forget(trunkline_pool *pool,
                                       trunkline_str server,
                                       trunkline_buf **out,
                                       trunkline_error **err);

/**
 * Accepts the definition of a tool that is kept back. From then on it is listed and can be called
 * in every session, and, of a server that needed approval, in later processes. Accepting again
 * does nothing. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `tool`: the server's own name. `digest`: `difference.to` of the `tool_quarantined` event, or of
 * the status, so that what is accepted is what was shown.
 *
 * Errors: `STALE_APPROVAL` when the tool has changed again since, `TOOL_NOT_FOUND` when the server
 * lists no tool of that name now, `LIMIT`, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`,
 * `INVALID_ARGUMENT` (also for a server that the pool never saw).
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_accept_tool(trunkline_pool *pool,
                                            trunkline_str server,
                                            trunkline_str tool,
                                            trunkline_str digest,
                                            trunkline_error **err);

/**
 * Begins to sign in to a remote server, and waits for the address that a person has to visit. What
 * they are redirected to goes to `trunkline_pool_finish_sign_in`. A sign-in to the same server
 * that is under way is over with it. The library opens no browser and listens on no port. What the
 * server's own `oauth` says goes before the options. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `options_json`: an object with any of `redirect_uri`, `client_metadata_url` and `client_name`,
 * as `docs/reference/options.md` has them; empty for all defaults. `out`: `{v, server, url,
 * expires_in_ms}`. Free it with `trunkline_buf_free`.
 *
 * Errors: `PROTOCOL` when the server or an authorization server breaks a rule (`detail.refused`),
 * `AUTH_REQUIRED` when there is nothing to sign in to, `CONNECT_FAILED`, `TIMEOUT`, `LIMIT`,
 * `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`, `UNKNOWN_OPTION`, `INVALID_ARGUMENT` (also for a
 * server that the pool does not know, or without a redirect).
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_sign_in(trunkline_pool *pool,
                                        trunkline_str server,
                                        trunkline_str options_json,
                                        trunkline_buf **out,
                                        trunkline_error **err);

/**
 * Ends a sign-in with the whole address that the person was redirected to, and waits for the
 * token. The server is then connected to for those who hold or want it. Blocks: `WRONG_THREAD`
 * inside a callback.
 *
 * `out`: `{v, server}`, and with a file of `tokens` `stored` and, where that is false, `error`.
 * Free it with `trunkline_buf_free`.
 *
 * Errors: `PROTOCOL` (`detail.refused`), `AUTH_REQUIRED` when the person or the authorization
 * server refused, `CONNECT_FAILED`, `TIMEOUT`, `LIMIT`, `CLOSING`, `CLOSED`, `CANCELLED`,
 * `FORKED`, `INVALID_ARGUMENT` (also when it belongs to no sign-in that is under way).
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_finish_sign_in(trunkline_pool *pool,
                                               trunkline_str redirect_url,
                                               trunkline_buf **out,
                                               trunkline_error **err);

/**
 * Forgets what was signed in for a server, and a sign-in that is under way. Blocks: `WRONG_THREAD`
 * inside a callback.
 *
 * `out`: `{v, server, signed_out}`. Free it with `trunkline_buf_free`.
 *
 * Errors: `STORE` when it is forgotten here and still in the file of `tokens`, `CLOSING`,
 * `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT` (also for a server that the pool does not
 * know).
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_sign_out(trunkline_pool *pool,
                                         trunkline_str server,
                                         trunkline_buf **out,
                                         trunkline_error **err);

/*
 * 4. Sessions
 */

/**
 * Opens a session. Returns at once; the servers that it wants start in the background
 * (`trunkline_session_started` and `trunkline_session_ready` wait).
 *
 * `options_json`: a JSON object of session options; `id` is required. `out`: the session; end it
 * with `trunkline_session_close`.
 *
 * Errors: `UNKNOWN_OPTION`, `INVALID_ARGUMENT` (also when a live session has that id), `CLOSING`,
 * `CLOSED`, `LIMIT`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_open(trunkline_pool *pool,
                                        trunkline_str options_json,
                                        trunkline_session *out,
                                        trunkline_error **err);

/**
 * `trunkline_session_open` with handlers: what answers the session's servers, the pool's where one
 * is missing.
 *
 * `offered`: the handlers that there are, by `TRUNKLINE_MASK` of `trunkline_handler`. `ask`: told
 * what servers ask, on a thread of its own. `destroy` is called exactly once, after the last call:
 * when the session is over and its leases are released, when the pool was closed or freed, or
 * before this returns when it fails.
 *
 * Errors: those of `trunkline_session_open`; `LIMIT` also when 1,024 sessions of the pool have
 * handlers of their own, or no thread can be started.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_open_with_handlers(trunkline_pool *pool,
                                                      trunkline_str options_json,
                                                      uint64_t offered,
                                                      trunkline_ask_fn ask,
                                                      void *user_data,
                                                      trunkline_destroy_fn destroy,
                                                      trunkline_session *out,
                                                      trunkline_error **err);

/**
 * Waits until every server that the session wants is ready, has failed or sleeps. One that sleeps
 * is listed and runs for calls only; its last start may have failed, which
 * `trunkline_session_started` says. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `server`: empty waits for all servers: it retries none, and a failed server is no error; the
 * status, `trunkline_session_started` and the log have it. Otherwise it waits for that server
 * alone, and retries it once if it failed; its failure is the error. `timeout_ms`: in
 * milliseconds; `TRUNKLINE_DEFAULT` for no limit but those of the connects.
 *
 * Errors: those of `trunkline_session_acquire`, `TIMEOUT`, `CANCELLED`, `CLOSED`, `BAD_HANDLE`,
 * `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_ready(trunkline_pool *pool,
                                         trunkline_session session,
                                         trunkline_str server,
                                         uint64_t timeout_ms,
                                         trunkline_error **err);

/**
 * Waits until each server that the session wants is ready, has failed or sleeps, and says how each
 * of them stands. The wait ends `start_gate_ms` of the pool after the session's opening. A slow or
 * failed server is no error; events tell what comes later. Blocks: `WRONG_THREAD` inside a
 * callback.
 *
 * `out`: `{v, servers: {name: {state, deferred?, error?}}}` with the state `ready`, `failed`,
 * `waiting` or `asleep`; `deferred` is there while it waits or sleeps, and counts the tools that
 * are listed of what is kept. Free it with `trunkline_buf_free`.
 *
 * Errors: `CANCELLED`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_started(trunkline_pool *pool,
                                           trunkline_session session,
                                           trunkline_buf **out,
                                           trunkline_error **err);

/**
 * The tools of the session's view. A first list is sorted by exposed name; after that, tools that
 * were listed keep their places within the session, and new ones come after them.
 * `trunkline_buf_revision` says the number of the list.
 *
 * `out`: a list of `{name, server, own_name, trust, always_load, deferred, definition}`, the
 * definitions as the servers sent them; it has a number, its revision. Free it with
 * `trunkline_buf_free`.
 *
 * Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_tools(trunkline_pool *pool,
                                         trunkline_session session,
                                         trunkline_buf **out,
                                         trunkline_error **err);

/**
 * The tools of the session's view in the shape in which a model API takes them, in the order and
 * with the number of `trunkline_session_tools`. Schemas are as the servers sent them, without the
 * parts that the API refuses. An argument whose name the API refuses has another one; a call with
 * the option `shape` gives it back its own.
 *
 * `shape`: `mcp`, `openai` (Chat Completions), `openai_responses`, `anthropic`, `gemini` or `any`
 * (definitions whose schemas each of them takes). `out`: a list of tools. Free it with
 * `trunkline_buf_free`.
 *
 * Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT` (`detail.path` is `shape`).
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_tools_for(trunkline_pool *pool,
                                             trunkline_session session,
                                             trunkline_str shape,
                                             trunkline_buf **out,
                                             trunkline_error **err);

/**
 * Calls a tool of the session's view by its exposed name (`mcp__server__tool`). Blocks:
 * `WRONG_THREAD` inside a callback.
 *
 * `arguments_json`: as JSON, as of `trunkline_lease_call_tool`. `options`: NULL for all defaults.
 * `out`: what `trunkline_lease_call_tool` gives. Free it with `trunkline_buf_free`.
 *
 * Errors: those of `trunkline_lease_call_tool`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_call_tool(trunkline_pool *pool,
                                             trunkline_session session,
                                             trunkline_str tool,
                                             trunkline_str arguments_json,
                                             const trunkline_call_options *options,
                                             trunkline_buf **out,
                                             trunkline_error **err);

/**
 * Sends any other request of the protocol to a server, as `trunkline_lease_request`. The server is
 * acquired for that: one that sleeps is connected to first, within the request's time. Blocks:
 * `WRONG_THREAD` inside a callback.
 *
 * `params_json`: as JSON, as of `trunkline_lease_request`. `options`: NULL for all defaults.
 * `out`: what `trunkline_lease_request` gives. Free it with `trunkline_buf_free`.
 *
 * Errors: those of `trunkline_lease_request`, `NOT_ADMITTED` and the others of
 * `trunkline_session_acquire`, with nothing sent.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_request(trunkline_pool *pool,
                                           trunkline_session session,
                                           trunkline_str server,
                                           trunkline_str method,
                                           trunkline_str params_json,
                                           const trunkline_call_options *options,
                                           trunkline_buf **out,
                                           trunkline_error **err);

/**
 * The prompts of the session's view, as of `trunkline_session_tools`.
 *
 * `out`: what `trunkline_session_tools` gives. Free it with `trunkline_buf_free`.
 *
 * Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_prompts(trunkline_pool *pool,
                                           trunkline_session session,
                                           trunkline_buf **out,
                                           trunkline_error **err);

/**
 * The resources of the session's view, as of `trunkline_session_tools`; names are URIs.
 *
 * `out`: what `trunkline_session_tools` gives. Free it with `trunkline_buf_free`.
 *
 * Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_resources(trunkline_pool *pool,
                                             trunkline_session session,
                                             trunkline_buf **out,
                                             trunkline_error **err);

/**
 * The resource templates of the session's view, as of `trunkline_session_tools`; names are URI
 * templates.
 *
 * `out`: what `trunkline_session_tools` gives. Free it with `trunkline_buf_free`.
 *
 * Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_resource_templates(trunkline_pool *pool,
                                                      trunkline_session session,
                                                      trunkline_buf **out,
                                                      trunkline_error **err);

/**
 * Waits until no list of the session's servers is being read or owed, at most 5 s. A list that a
 * server announced before a result is then among the session's. Most often it does not wait.
 * Blocks: `WRONG_THREAD` inside a callback.
 *
 * `server`: empty for all; otherwise this one alone.
 *
 * Errors: `CANCELLED`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_listed(trunkline_pool *pool,
                                          trunkline_session session,
                                          trunkline_str server,
                                          trunkline_error **err);

/**
 * Reads the lists of a server anew, for servers that announce nothing, and waits until they are in
 * force. The call acquires the server: it first connects to a sleeping or lost one. A list that
 * fails alone keeps its last state, and a `warning` says so. Blocks: `WRONG_THREAD` inside a
 * callback.
 *
 * Errors: those of `trunkline_session_acquire`, `UNAVAILABLE` when the connection was lost
 * meanwhile, or why no list could be had, `CANCELLED`, `CLOSED`, `BAD_HANDLE`, `FORKED`,
 * `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_refresh(trunkline_pool *pool,
                                           trunkline_session session,
                                           trunkline_str server,
                                           trunkline_error **err);

/**
 * Gives what a server that the session holds said of itself, as `trunkline_lease_introduction` has
 * it.
 *
 * `out`: what `trunkline_lease_introduction` gives; `null` stands for nothing. Free it with
 * `trunkline_buf_free`.
 *
 * Errors: `NOT_ADMITTED` for a server that nobody has configured, `CLOSED`, `BAD_HANDLE`,
 * `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_introduction(trunkline_pool *pool,
                                                trunkline_session session,
                                                trunkline_str server,
                                                trunkline_buf **out,
                                                trunkline_error **err);

/**
 * Changes what a session sees and wants, at once and without touching a connection. Each option
 * replaces its old value; an absent one stays. Events tell the difference; equal options change
 * nothing. The servers of its own connections hear of other `roots`, and their lists are read
 * again. This thread looks at the folders, and a file system may keep it waiting.
 *
 * `options_json`: an object with any of `servers`, `include`, `exclude`, `trust`, `always_load`
 * and `roots`, as `docs/reference/options.md` has them; empty for all defaults.
 *
 * Errors: `UNKNOWN_OPTION`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_configure(trunkline_pool *pool,
                                             trunkline_session session,
                                             trunkline_str options_json,
                                             trunkline_error **err);

/**
 * Takes a server away from this session alone: its tools, prompts and resources go, its calls are
 * refused with the reason `disabled`, and the session holds it no longer. Calls under way finish.
 * Its leases stay, of no use until `trunkline_session_enable`. Repeating it does nothing.
 *
 * Errors: `NOT_ADMITTED`, `INVALID_CONFIG`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_disable(trunkline_pool *pool,
                                           trunkline_session session,
                                           trunkline_str server,
                                           trunkline_error **err);

/**
 * Undoes `trunkline_session_disable`: the session acquires the server again in the background, and
 * `tools_changed` tells when it is back. Repeating it does nothing.
 *
 * Errors: `NOT_ADMITTED`, `INVALID_CONFIG`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_enable(trunkline_pool *pool,
                                          trunkline_session session,
                                          trunkline_str server,
                                          trunkline_error **err);

/**
 * Says why this session has a server, or a tool by its exposed name, or has not. Beside what
 * `trunkline_pool_explain` says, the session's own servers, holds, switches and filters count.
 *
 * `out`: what `trunkline_pool_explain` gives. Free it with `trunkline_buf_free`.
 *
 * Errors: `INVALID_ARGUMENT`, `CLOSED`, `BAD_HANDLE`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_explain(trunkline_pool *pool,
                                           trunkline_session session,
                                           trunkline_str name,
                                           trunkline_buf **out,
                                           trunkline_error **err);

/**
 * Ends a session: its calls are cancelled, and its holds on servers go. Its handle is bad from
 * here on; its leases answer `CLOSED`, and are still to be released. Returns at once.
 *
 * `keep_for_ms`: how many milliseconds its holds stay, for a session of the same id that is opened
 * meanwhile; `TRUNKLINE_DEFAULT` for what its options say.
 *
 * Errors: `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
trunkline_status trunkline_session_close(trunkline_pool *pool,
                                         trunkline_session session,
                                         uint64_t keep_for_ms,
                                         trunkline_error **err);

/*
 * 5. Leases
 */

/**
 * An explicit lease on a server, once it is connected. Every acquire gives a lease of its own.
 * Blocks: `WRONG_THREAD` inside a callback.
 *
 * `config_json`: as JSON, empty for a server that the pool knows; otherwise what the settings of
 * one server have, which is first put into the session's own source. `options_json`: an object
 * with any of `timeout_ms`, `origin` and `log_level`, as `docs/reference/options.md` has them;
 * empty for all defaults. `out`: the lease; `trunkline_lease_release` gives it up.
 *
 * Errors: `INVALID_CONFIG`, `NOT_ADMITTED`, `SPAWN_FAILED`, `CONNECT_FAILED`, `EXITED`,
 * `PROTOCOL`, `TIMEOUT`, `LIMIT`, `CRASH_LOOP`, `CANCELLED`, `CLOSING`, `CLOSED`, `BAD_HANDLE`,
 * `UNKNOWN_OPTION`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_acquire(trunkline_pool *pool,
                                           trunkline_session session,
                                           trunkline_str server,
                                           trunkline_str config_json,
                                           trunkline_str options_json,
                                           trunkline_lease *out,
                                           trunkline_error **err);

/**
 * A lease on a server by its configuration, for a session by its id. It opens the session if need
 * be, puts the server into the session's own source, and waits until it is connected. Blocks:
 * `WRONG_THREAD` inside a callback.
 *
 * `config_json`: as JSON, what the settings of one server have (`{"command": ...}`). `session_id`:
 * its id. `options_json`: an object with any of `timeout_ms`, `origin` and `log_level`, as
 * `docs/reference/options.md` has them; empty for all defaults. `out`: the lease;
 * `trunkline_lease_release` gives it up.
 *
 * Errors: those of `trunkline_session_acquire`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_acquire(trunkline_pool *pool,
                                        trunkline_str server,
                                        trunkline_str config_json,
                                        trunkline_str session_id,
                                        trunkline_str options_json,
                                        trunkline_lease *out,
                                        trunkline_error **err);

/**
 * Calls a tool by the server's own name. An error of a call that may have reached the server has
 * an `outcome`, and the arguments. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `arguments_json`: as JSON, an object; empty for `{}`. `options`: NULL for all defaults. `out`:
 * the result exactly as the server sent it, which may say that the tool failed (`isError`). Free
 * it with `trunkline_buf_free`.
 *
 * Errors: `TOOL_NOT_FOUND`, `SERVER_ERROR`, `TIMEOUT`, `CANCELLED`, `UNAVAILABLE`,
 * `CALL_INTERRUPTED`, `PROTOCOL`, `LIMIT`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_call_tool(trunkline_pool *pool,
                                           trunkline_lease lease,
                                           trunkline_str tool,
                                           trunkline_str arguments_json,
                                           const trunkline_call_options *options,
                                           trunkline_buf **out,
                                           trunkline_error **err);

/**
 * Sends any other request of the protocol, and gives its result undecoded. The common ones and
 * their parameters: `resources/read` `{"uri"}`, `prompts/get` `{"name", "arguments"?}`,
 * `completion/complete` `{"ref", "argument", "context"?}`, `logging/setLevel` `{"level"}`. Blocks:
 * `WRONG_THREAD` inside a callback.
 *
 * `params_json`: as JSON, an object; empty for `{}`. `options`: NULL for all defaults. `out`: the
 * result exactly as the server sent it. Free it with `trunkline_buf_free`.
 *
 * Errors: those of `trunkline_lease_call_tool`, `INVALID_ARGUMENT` for `initialize`, for calls of
 * tools and for subscriptions, which have functions of their own, and for a prompt that the view
 * does not have.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_request(trunkline_pool *pool,
                                         trunkline_lease lease,
                                         trunkline_str method,
                                         trunkline_str params_json,
                                         const trunkline_call_options *options,
                                         trunkline_buf **out,
                                         trunkline_error **err);

/**
 * What a lease holds.
 *
 * `out`: `{"v": 1, "server": ..., "entry_index": ..., "generation": ..., "state": ...}`; free it
 * with `trunkline_buf_free`. The index is stable per server name, the generation grows with each
 * reconnect.
 *
 * Errors: `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_describe(trunkline_pool *pool,
                                          trunkline_lease lease,
                                          trunkline_buf **out,
                                          trunkline_error **err);

/**
 * Gives a lease up. Calls under way go on. The handle is bad from here on: a second release
 * answers `BAD_HANDLE` and does nothing. Returns at once.
 *
 * Errors: `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
trunkline_status trunkline_lease_release(trunkline_pool *pool,
                                         trunkline_lease lease,
                                         trunkline_error **err);

/**
 * Gives what the server of a lease said of itself at its last connection. Returns at once.
 *
 * `out`: `{protocol_version, server_info, capabilities, instructions}`, the values in the
 * protocol's spelling, unverified, and without the secrets that the server has of the host;
 * nothing before it was connected to; `null` stands for nothing. Free it with
 * `trunkline_buf_free`.
 *
 * Errors: `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_introduction(trunkline_pool *pool,
                                              trunkline_lease lease,
                                              trunkline_buf **out,
                                              trunkline_error **err);

/**
 * The tools of this server in the session's view, as of `trunkline_session_tools`.
 *
 * `out`: what `trunkline_session_tools` gives. Free it with `trunkline_buf_free`.
 *
 * Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_tools(trunkline_pool *pool,
                                       trunkline_lease lease,
                                       trunkline_buf **out,
                                       trunkline_error **err);

/**
 * Subscribes the session to updates of a resource. They come as `resource_updated` events. A
 * modern server also sends those of a part, by the `uri` of the whole. All leases of the session
 * share one count: each subscription needs its `trunkline_lease_unsubscribe_resource`. Blocks:
 * `WRONG_THREAD` inside a callback.
 *
 * Errors: those of `trunkline_lease_request`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_subscribe_resource(trunkline_pool *pool,
                                                    trunkline_lease lease,
                                                    trunkline_str uri,
                                                    trunkline_error **err);

/**
 * The counterpart of `trunkline_lease_subscribe_resource`: with the last the session gets no more
 * updates. Without any it does nothing. Blocks: `WRONG_THREAD` inside a callback.
 *
 * Errors: those of `trunkline_lease_request`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_unsubscribe_resource(trunkline_pool *pool,
                                                      trunkline_lease lease,
                                                      trunkline_str uri,
                                                      trunkline_error **err);

/*
 * 6. Queues
 */

/**
 * Makes a queue. Returns at once.
 *
 * `out`: the queue; free it with `trunkline_queue_free`.
 *
 * Errors: `INVALID_ARGUMENT`; `LIMIT` when the process has no descriptor left.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_queue_new(trunkline_queue **out, trunkline_error **err);

/**
 * The descriptor to poll for reading: readable while items wait, as soon as all are there that
 * arrived together. It is the queue's own; do not read, write or close it. -1 of NULL, in a
 * forked child, and on Windows, where no descriptor can be polled: `trunkline_queue_wait` waits
 * there.
 */
int32_t trunkline_queue_fd(const trunkline_queue *queue);

/**
 * Waits until items are in the queue, or until the time is over: for hosts without a loop. Any
 * number of threads may wait on one queue. Each is woken, and those that drain too late find
 * nothing. Blocks: `WRONG_THREAD` inside a callback.
 *
 * `timeout_ms`: in milliseconds; 0 only looks; `TRUNKLINE_DEFAULT` for as long as it takes.
 *
 * Errors: `TIMEOUT` when nothing came; `CLOSED` when the queue is closed, also meanwhile;
 * `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_queue_wait(trunkline_queue *queue,
                                      uint64_t timeout_ms,
                                      trunkline_error **err);

/**
 * Takes up to `capacity` items out of the queue, oldest first, without waiting.
 *
 * Items of operations and of subscriptions on one queue come in the order in which they happened:
 * the progress of a call before its end. When `capacity` items came, there may be more, and the
 * descriptor stays readable.
 *
 * `items`: an array of at least `capacity`; the caller owns what the items hold (see
 * `trunkline_item_clear`). `out_count`: how many were written, possibly 0.
 *
 * Errors: `CLOSED`, `INVALID_ARGUMENT`, `FORKED`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_queue_drain(trunkline_queue *queue,
                                       trunkline_item *items,
                                       size_t capacity,
                                       size_t *out_count,
                                       trunkline_error **err);

/**
 * Frees the `buf` and the `error` of an item and sets both to NULL. A lease in `handle` is not
 * released. NULL is fine.
 */
void trunkline_item_clear(trunkline_item *item);

/**
 * Ends a queue, while other threads may wait on it or use it: what they ask of it answers
 * `CLOSED`. What waits in it is dropped, and subscriptions whose events come out of it end.
 * Operations that were to end in it go on, and their results are dropped (a lease is released).
 * The descriptor stays readable. Returns at once; repeating it does nothing. Free the queue once
 * no thread uses it.
 *
 * Errors: `FORKED`, `INVALID_ARGUMENT`.
 */
trunkline_status trunkline_queue_close(trunkline_queue *queue, trunkline_error **err);

/**
 * Frees a queue, which is closed then (`trunkline_queue_close`). No other thread may be using it.
 * NULL is fine. In a forked child the parent's queue is left alone.
 */
void trunkline_queue_free(trunkline_queue *queue);

/*
 * 7. Events
 */

/**
 * Subscribes to events of the whole pool, its sessions' included. It ends with the pool; what has
 * ended need not be closed.
 *
 * Each event is given to `callback` on a thread of the subscription's own, in order; at most
 * `limits.event_backlog` wait, and what does not fit is counted in one `TRUNKLINE_EVENT_LAGGED`.
 * `destroy` is called exactly once: after the last event of a pool that was closed, after
 * `trunkline_subscription_close`, or before this returns when it fails.
 *
 * `mask`: the kinds wanted, by `TRUNKLINE_MASK`; `TRUNKLINE_EVERY_EVENT` for all. `out`: the
 * subscription. `out_snapshot`: may be NULL; the state that the events continue, `{v, seq,
 * status}`, to be freed with `trunkline_buf_free`. Both are written before the first callback.
 *
 * Errors: `LIMIT`, `CLOSED`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_subscribe(trunkline_pool *pool,
                                          uint64_t mask,
                                          trunkline_event_fn callback,
                                          void *user_data,
                                          trunkline_destroy_fn destroy,
                                          trunkline_subscription *out,
                                          trunkline_buf **out_snapshot,
                                          trunkline_error **err);

/**
 * `trunkline_pool_subscribe` with a queue: the events come out of `queue`, with `tag`, and nothing
 * runs on another thread. It ends with the queue too.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_subscribe_queue(trunkline_pool *pool,
                                                uint64_t mask,
                                                trunkline_queue *queue,
                                                uint64_t tag,
                                                trunkline_subscription *out,
                                                trunkline_buf **out_snapshot,
                                                trunkline_error **err);

/**
 * Subscribes to the events of one session, as of `trunkline_pool_subscribe`. It ends with the
 * session.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_subscribe(trunkline_pool *pool,
                                             trunkline_session session,
                                             uint64_t mask,
                                             trunkline_event_fn callback,
                                             void *user_data,
                                             trunkline_destroy_fn destroy,
                                             trunkline_subscription *out,
                                             trunkline_buf **out_snapshot,
                                             trunkline_error **err);

/**
 * `trunkline_session_subscribe` with a queue: the events come out of `queue`, with `tag`, and
 * nothing runs on another thread. It ends with the queue too.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_subscribe_queue(trunkline_pool *pool,
                                                   trunkline_session session,
                                                   uint64_t mask,
                                                   trunkline_queue *queue,
                                                   uint64_t tag,
                                                   trunkline_subscription *out,
                                                   trunkline_buf **out_snapshot,
                                                   trunkline_error **err);

/**
 * Ends a subscription. When it returns, no callback of it is running, none will, and `destroy` has
 * been called; a queue gives no more of its events. One that has ended already, by itself or by
 * this function, is fine too.
 *
 * Waits for a callback that is running. From inside its own callback it returns at once, and that
 * callback is the last one; so it does when the other callback, of this pool or another, itself
 * waits in this function for this one.
 *
 * Errors: `BAD_HANDLE` for what never was a subscription of this pool, `FORKED`,
 * `INVALID_ARGUMENT`.
 */
trunkline_status trunkline_subscription_close(trunkline_pool *pool,
                                              trunkline_subscription subscription,
                                              trunkline_error **err);

/*
 * 8. What servers ask of the host, and servers of the host's own
 */

/**
 * Answers a request of a server. Any thread may, also inside the function that was told of the
 * request.
 *
 * `request`: the number that the host was told. `result_json`: the result, a JSON object; anything
 * else is a failure of the handler's to the server.
 *
 * Errors: `BAD_HANDLE` when nobody waits for that answer any more, `FORKED`, `INVALID_ARGUMENT`.
 */
trunkline_status trunkline_request_answer(trunkline_pool *pool,
                                          trunkline_request request,
                                          trunkline_str result_json,
                                          trunkline_error **err);

/**
 * Refuses a request of a server: it gets a JSON-RPC error with this code and message. -1 stands
 * for a user who declines.
 *
 * Errors: those of `trunkline_request_answer`.
 */
trunkline_status trunkline_request_refuse(trunkline_pool *pool,
                                          trunkline_request request,
                                          int32_t code,
                                          trunkline_str message,
                                          trunkline_error **err);

/**
 * Provides a server of the host's own to one session: it goes into the session's own source, from
 * where `trunkline_session_acquire` takes it like any other. It is never shared. Providing a name
 * again replaces it for acquires to come. Returns at once.
 *
 * Each connection with it has a number of its own and begins the protocol anew: a server that is
 * lost is connected again. What the server says goes to `trunkline_host_send`.
 *
 * `receive`: gets the messages of the pool, one JSON-RPC message each. `closed`: may be NULL; told
 * last that a connection is over. Both run on a thread of the connection's own and may block,
 * which delays this server alone; the functions of two connections may run at one time. `destroy`
 * is called on a thread that serves nothing else. Before that the session is over or the name was
 * provided again, every connection is over, and the leases on it are released; on this thread when
 * this fails.
 *
 * Errors: `INVALID_CONFIG` for a bad name, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_provide(trunkline_pool *pool,
                                           trunkline_session session,
                                           trunkline_str server,
                                           trunkline_host_receive_fn receive,
                                           trunkline_host_closed_fn closed,
                                           void *user_data,
                                           trunkline_destroy_fn destroy,
                                           trunkline_error **err);

/**
 * Sends a message of a server that the host provides: one JSON-RPC message. Never blocks; may be
 * called from any thread, inside `receive` too.
 *
 * Errors: `LIMIT` while too many messages wait to be read, `CLOSED` once the connection is over,
 * `BAD_HANDLE` from its `closed` on, `FORKED`, `INVALID_ARGUMENT`.
 */
trunkline_status trunkline_host_send(trunkline_pool *pool,
                                     trunkline_host_connection connection,
                                     trunkline_str frame_json,
                                     trunkline_error **err);

/**
 * Ends a connection from the server's side, as a process does that exits. What was sent before
 * still counts. Repeating it does nothing.
 *
 * Errors: `BAD_HANDLE` from its `closed` on, `FORKED`, `INVALID_ARGUMENT`.
 */
trunkline_status trunkline_host_close(trunkline_pool *pool,
                                      trunkline_host_connection connection,
                                      trunkline_error **err);

/*
 * 9. Texts and errors
 */

/**
 * The text of a buffer, good until the buffer is freed. Of NULL: the empty text. Half a surrogate
 * pair in a result is `\ufffd`: readers of JSON refuse it. All else of a result is as the server
 * sent it.
 */
trunkline_str trunkline_buf_str(const trunkline_buf *buf);

/**
 * The text of a result byte for byte as the server sent it, good until the buffer is freed. Of any
 * other buffer that of `trunkline_buf_str`, and of NULL the empty text.
 */
trunkline_str trunkline_buf_raw(const trunkline_buf *buf);

/**
 * The number of the list that a buffer holds, in its session, from 1: lists that differ have
 * different numbers, and later ones no smaller ones; whether an item is deferred makes no
 * difference. A list whose number is the `revision` of its own event (`TOOLS_CHANGED`,
 * `PROMPTS_CHANGED`, `RESOURCES_CHANGED`) or greater has what the event tells. Resources and their
 * templates share their numbers; other kinds count for themselves.
 *
 * 0 for a buffer of anything else than `trunkline_session_tools`, `trunkline_session_tools_for`
 * and the other lists of a session give, and of NULL.
 */
uint64_t trunkline_buf_revision(const trunkline_buf *buf);

/**
 * Frees a buffer. NULL is fine.
 */
void trunkline_buf_free(trunkline_buf *buf);

/**
 * The status number of an error. Of NULL: `TRUNKLINE_STATUS_OK`.
 */
trunkline_status trunkline_error_code(const trunkline_error *error);

/**
 * The stable name of the error's code, such as `tool_not_found`.
 */
trunkline_str trunkline_error_name(const trunkline_error *error);

/**
 * What went wrong, in a sentence for people.
 */
trunkline_str trunkline_error_message(const trunkline_error *error);

/**
 * The server that it is about; empty when it is about none.
 */
trunkline_str trunkline_error_server(const trunkline_error *error);

/**
 * The session that it is about; empty when it is about none.
 */
trunkline_str trunkline_error_session(const trunkline_error *error);

/**
 * Whether the same operation may succeed later without a change by the user.
 */
bool trunkline_error_retryable(const trunkline_error *error);

/**
 * For calls: `not_sent` (the server has not seen it) or `unknown` (it may have run). Empty
 * otherwise.
 */
trunkline_str trunkline_error_outcome(const trunkline_error *error);

/**
 * Particulars for programs: the text of a JSON object, `{}` when there are none.
 */
trunkline_str trunkline_error_detail(const trunkline_error *error);

/**
 * What the user can do about it: what the error says itself, else the advice of its reason or its
 * code. Empty for no error.
 */
trunkline_str trunkline_error_hint(const trunkline_error *error);

/**
 * The arguments of the tool's call that was interrupted (`TRUNKLINE_STATUS_CALL_INTERRUPTED`), as
 * JSON text, for the caller alone: they are in no other text of the error. Empty for every other
 * error.
 */
trunkline_str trunkline_error_arguments(const trunkline_error *error);

/**
 * Everything but the arguments as the text of one JSON object: `{code, number, message, retryable,
 * server?, session?, outcome?, hint?, cause?, detail}`.
 */
trunkline_str trunkline_error_json(const trunkline_error *error);

/**
 * The error that led to this one; NULL when there is none. It belongs to this one: do not free it.
 */
const trunkline_error *trunkline_error_cause(const trunkline_error *error);

/**
 * Frees an error, and its causes with it. NULL is fine.
 */
void trunkline_error_free(trunkline_error *error);

/**
 * The stable name of a status, such as `tool_not_found`: a text that ends with a NUL byte and is
 * there for ever. `ok` of `TRUNKLINE_STATUS_OK`; `unknown` of a number that this version of the
 * library does not have.
 */
const char *trunkline_status_name(int32_t status);

/*
 * 10. The library itself
 */

/**
 * The version of the library, such as `0.1.0`: a text that ends with a NUL byte and is there for
 * ever.
 */
const char *trunkline_version(void);

/**
 * The version of this interface that the loaded library speaks. It must not be less than the
 * `TRUNKLINE_ABI_VERSION` that the host was compiled with.
 */
uint32_t trunkline_abi_version(void);

/**
 * The capability tags of the library: the text of a JSON array, there for ever.
 */
trunkline_str trunkline_features(void);

/**
 * Has what the library logs told to `callback`, in batches, on a thread of its own, from `level`
 * on: `error`, `warn`, `info`, `debug` or `trace`. 4096 records wait for it at most, and one says
 * how many were dropped. Nothing is logged without it. It needs no pool, and outlives pools.
 *
 * One callback of the process has the records: another `trunkline_logs_new` takes its place, and
 * the one before is told what was logged until then. One that fails takes nobody's place.
 *
 * `out`: free it with `trunkline_logs_free`. It is written before the first call of `callback`.
 *
 * Errors: `INVALID_ARGUMENT`, `LIMIT`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_logs_new(trunkline_str level,
                                    trunkline_log_fn callback,
                                    void *user_data,
                                    trunkline_destroy_fn destroy,
                                    trunkline_logs **out,
                                    trunkline_error **err);

/**
 * Ends it, once the callback was told what was logged so far. When it returns, no callback runs or
 * will, and `destroy` has been called; from inside the callback it returns at once, and that
 * callback is the last one. NULL is fine. In a forked child the parent's is left alone.
 */
void trunkline_logs_free(trunkline_logs *logs);

/*
 * 11. The forms that do not wait
 *
 * Each function that blocks has two other forms, with the same inputs and the same errors. Both
 * return at once.
 *
 * `_start` calls `done` once the operation ended, on a thread of the library. `destroy` is called
 * exactly once, also when the start fails.
 *
 * `_enqueue` puts an item into `queue`, which carries `tag`.
 *
 * `out_op` may be NULL. It is where the number goes that `trunkline_op_cancel` takes.
 */

/**
 * Cancels an operation: it ends with `CANCELLED`, unless it has ended already, which is fine too.
 * The end comes the way that was chosen when it was started. Returns at once, and may be called
 * again.
 *
 * Errors: `BAD_HANDLE` for what never was an operation of this pool; `FORKED`, `INVALID_ARGUMENT`.
 */
trunkline_status trunkline_op_cancel(trunkline_pool *pool, trunkline_op op, trunkline_error **err);

/**
 * `trunkline_pool_set_roots` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_set_roots_start(trunkline_pool *pool,
                                                trunkline_str roots_json,
                                                trunkline_done_fn done,
                                                void *user_data,
                                                trunkline_destroy_fn destroy,
                                                trunkline_op *out_op,
                                                trunkline_error **err);

/**
 * `trunkline_pool_set_roots` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_set_roots_enqueue(trunkline_pool *pool,
                                                  trunkline_str roots_json,
                                                  trunkline_queue *queue,
                                                  uint64_t tag,
                                                  trunkline_op *out_op,
                                                  trunkline_error **err);

/**
 * `trunkline_pool_restart` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_restart_start(trunkline_pool *pool,
                                              trunkline_str server,
                                              uint32_t entry_index,
                                              trunkline_done_fn done,
                                              void *user_data,
                                              trunkline_destroy_fn destroy,
                                              trunkline_op *out_op,
                                              trunkline_error **err);

/**
 * `trunkline_pool_restart` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_restart_enqueue(trunkline_pool *pool,
                                                trunkline_str server,
                                                uint32_t entry_index,
                                                trunkline_queue *queue,
                                                uint64_t tag,
                                                trunkline_op *out_op,
                                                trunkline_error **err);

/**
 * `trunkline_pool_drain_all` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_drain_all_start(trunkline_pool *pool,
                                                trunkline_str options_json,
                                                trunkline_done_fn done,
                                                void *user_data,
                                                trunkline_destroy_fn destroy,
                                                trunkline_op *out_op,
                                                trunkline_error **err);

/**
 * `trunkline_pool_drain_all` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_drain_all_enqueue(trunkline_pool *pool,
                                                  trunkline_str options_json,
                                                  trunkline_queue *queue,
                                                  uint64_t tag,
                                                  trunkline_op *out_op,
                                                  trunkline_error **err);

/**
 * `trunkline_pool_reconcile` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_reconcile_start(trunkline_pool *pool,
                                                trunkline_str servers_json,
                                                trunkline_done_fn done,
                                                void *user_data,
                                                trunkline_destroy_fn destroy,
                                                trunkline_op *out_op,
                                                trunkline_error **err);

/**
 * `trunkline_pool_reconcile` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_reconcile_enqueue(trunkline_pool *pool,
                                                  trunkline_str servers_json,
                                                  trunkline_queue *queue,
                                                  uint64_t tag,
                                                  trunkline_op *out_op,
                                                  trunkline_error **err);

/**
 * `trunkline_pool_load` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_load_start(trunkline_pool *pool,
                                           trunkline_str path,
                                           trunkline_str options_json,
                                           trunkline_done_fn done,
                                           void *user_data,
                                           trunkline_destroy_fn destroy,
                                           trunkline_op *out_op,
                                           trunkline_error **err);

/**
 * `trunkline_pool_load` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_load_enqueue(trunkline_pool *pool,
                                             trunkline_str path,
                                             trunkline_str options_json,
                                             trunkline_queue *queue,
                                             uint64_t tag,
                                             trunkline_op *out_op,
                                             trunkline_error **err);

/**
 * `trunkline_pool_reload` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_reload_start(trunkline_pool *pool,
                                             trunkline_str options_json,
                                             trunkline_done_fn done,
                                             void *user_data,
                                             trunkline_destroy_fn destroy,
                                             trunkline_op *out_op,
                                             trunkline_error **err);

/**
 * `trunkline_pool_reload` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_reload_enqueue(trunkline_pool *pool,
                                               trunkline_str options_json,
                                               trunkline_queue *queue,
                                               uint64_t tag,
                                               trunkline_op *out_op,
                                               trunkline_error **err);

/**
 * `trunkline_pool_settled` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_settled_start(trunkline_pool *pool,
                                              uint64_t timeout_ms,
                                              trunkline_done_fn done,
                                              void *user_data,
                                              trunkline_destroy_fn destroy,
                                              trunkline_op *out_op,
                                              trunkline_error **err);

/**
 * `trunkline_pool_settled` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_settled_enqueue(trunkline_pool *pool,
                                                uint64_t timeout_ms,
                                                trunkline_queue *queue,
                                                uint64_t tag,
                                                trunkline_op *out_op,
                                                trunkline_error **err);

/**
 * `trunkline_pool_set_trusted` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_set_trusted_start(trunkline_pool *pool,
                                                  uint32_t trusted,
                                                  trunkline_done_fn done,
                                                  void *user_data,
                                                  trunkline_destroy_fn destroy,
                                                  trunkline_op *out_op,
                                                  trunkline_error **err);

/**
 * `trunkline_pool_set_trusted` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_set_trusted_enqueue(trunkline_pool *pool,
                                                    uint32_t trusted,
                                                    trunkline_queue *queue,
                                                    uint64_t tag,
                                                    trunkline_op *out_op,
                                                    trunkline_error **err);

/**
 * `trunkline_pool_approvals` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_approvals_start(trunkline_pool *pool,
                                                trunkline_done_fn done,
                                                void *user_data,
                                                trunkline_destroy_fn destroy,
                                                trunkline_op *out_op,
                                                trunkline_error **err);

/**
 * `trunkline_pool_approvals` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_approvals_enqueue(trunkline_pool *pool,
                                                  trunkline_queue *queue,
                                                  uint64_t tag,
                                                  trunkline_op *out_op,
                                                  trunkline_error **err);

/**
 * `trunkline_pool_approve` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_approve_start(trunkline_pool *pool,
                                              trunkline_str server,
                                              trunkline_str hash,
                                              trunkline_done_fn done,
                                              void *user_data,
                                              trunkline_destroy_fn destroy,
                                              trunkline_op *out_op,
                                              trunkline_error **err);

/**
 * `trunkline_pool_approve` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_approve_enqueue(trunkline_pool *pool,
                                                trunkline_str server,
                                                trunkline_str hash,
                                                trunkline_queue *queue,
                                                uint64_t tag,
                                                trunkline_op *out_op,
                                                trunkline_error **err);

/**
 * `trunkline_pool_reject` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_reject_start(trunkline_pool *pool,
                                             trunkline_str server,
                                             trunkline_str hash,
                                             trunkline_done_fn done,
                                             void *user_data,
                                             trunkline_destroy_fn destroy,
                                             trunkline_op *out_op,
                                             trunkline_error **err);

/**
 * `trunkline_pool_reject` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_reject_enqueue(trunkline_pool *pool,
                                               trunkline_str server,
                                               trunkline_str hash,
                                               trunkline_queue *queue,
                                               uint64_t tag,
                                               trunkline_op *out_op,
                                               trunkline_error **err);

/**
 * `trunkline_pool_forget` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_forget_start(trunkline_pool *pool,
                                             trunkline_str server,
                                             trunkline_done_fn done,
                                             void *user_data,
                                             trunkline_destroy_fn destroy,
                                             trunkline_op *out_op,
                                             trunkline_error **err);

/**
 * `trunkline_pool_forget` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_forget_enqueue(trunkline_pool *pool,
                                               trunkline_str server,
                                               trunkline_queue *queue,
                                               uint64_t tag,
                                               trunkline_op *out_op,
                                               trunkline_error **err);

/**
 * `trunkline_pool_accept_tool` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_accept_tool_start(trunkline_pool *pool,
                                                  trunkline_str server,
                                                  trunkline_str tool,
                                                  trunkline_str digest,
                                                  trunkline_done_fn done,
                                                  void *user_data,
                                                  trunkline_destroy_fn destroy,
                                                  trunkline_op *out_op,
                                                  trunkline_error **err);

/**
 * `trunkline_pool_accept_tool` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_accept_tool_enqueue(trunkline_pool *pool,
                                                    trunkline_str server,
                                                    trunkline_str tool,
                                                    trunkline_str digest,
                                                    trunkline_queue *queue,
                                                    uint64_t tag,
                                                    trunkline_op *out_op,
                                                    trunkline_error **err);

/**
 * `trunkline_pool_sign_in` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_sign_in_start(trunkline_pool *pool,
                                              trunkline_str server,
                                              trunkline_str options_json,
                                              trunkline_done_fn done,
                                              void *user_data,
                                              trunkline_destroy_fn destroy,
                                              trunkline_op *out_op,
                                              trunkline_error **err);

/**
 * `trunkline_pool_sign_in` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_sign_in_enqueue(trunkline_pool *pool,
                                                trunkline_str server,
                                                trunkline_str options_json,
                                                trunkline_queue *queue,
                                                uint64_t tag,
                                                trunkline_op *out_op,
                                                trunkline_error **err);

/**
 * `trunkline_pool_finish_sign_in` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_finish_sign_in_start(trunkline_pool *pool,
                                                     trunkline_str redirect_url,
                                                     trunkline_done_fn done,
                                                     void *user_data,
                                                     trunkline_destroy_fn destroy,
                                                     trunkline_op *out_op,
                                                     trunkline_error **err);

/**
 * `trunkline_pool_finish_sign_in` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_finish_sign_in_enqueue(trunkline_pool *pool,
                                                       trunkline_str redirect_url,
                                                       trunkline_queue *queue,
                                                       uint64_t tag,
                                                       trunkline_op *out_op,
                                                       trunkline_error **err);

/**
 * `trunkline_pool_sign_out` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_sign_out_start(trunkline_pool *pool,
                                               trunkline_str server,
                                               trunkline_done_fn done,
                                               void *user_data,
                                               trunkline_destroy_fn destroy,
                                               trunkline_op *out_op,
                                               trunkline_error **err);

/**
 * `trunkline_pool_sign_out` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_sign_out_enqueue(trunkline_pool *pool,
                                                 trunkline_str server,
                                                 trunkline_queue *queue,
                                                 uint64_t tag,
                                                 trunkline_op *out_op,
                                                 trunkline_error **err);

/**
 * `trunkline_session_ready` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_ready_start(trunkline_pool *pool,
                                               trunkline_session session,
                                               trunkline_str server,
                                               uint64_t timeout_ms,
                                               trunkline_done_fn done,
                                               void *user_data,
                                               trunkline_destroy_fn destroy,
                                               trunkline_op *out_op,
                                               trunkline_error **err);

/**
 * `trunkline_session_ready` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_ready_enqueue(trunkline_pool *pool,
                                                 trunkline_session session,
                                                 trunkline_str server,
                                                 uint64_t timeout_ms,
                                                 trunkline_queue *queue,
                                                 uint64_t tag,
                                                 trunkline_op *out_op,
                                                 trunkline_error **err);

/**
 * `trunkline_session_started` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_started_start(trunkline_pool *pool,
                                                 trunkline_session session,
                                                 trunkline_done_fn done,
                                                 void *user_data,
                                                 trunkline_destroy_fn destroy,
                                                 trunkline_op *out_op,
                                                 trunkline_error **err);

/**
 * `trunkline_session_started` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_started_enqueue(trunkline_pool *pool,
                                                   trunkline_session session,
                                                   trunkline_queue *queue,
                                                   uint64_t tag,
                                                   trunkline_op *out_op,
                                                   trunkline_error **err);

/**
 * `trunkline_session_call_tool` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_call_tool_start(trunkline_pool *pool,
                                                   trunkline_session session,
                                                   trunkline_str tool,
                                                   trunkline_str arguments_json,
                                                   const trunkline_call_options *options,
                                                   trunkline_done_fn done,
                                                   void *user_data,
                                                   trunkline_destroy_fn destroy,
                                                   trunkline_op *out_op,
                                                   trunkline_error **err);

/**
 * `trunkline_session_call_tool` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_call_tool_enqueue(trunkline_pool *pool,
                                                     trunkline_session session,
                                                     trunkline_str tool,
                                                     trunkline_str arguments_json,
                                                     const trunkline_call_options *options,
                                                     trunkline_queue *queue,
                                                     uint64_t tag,
                                                     trunkline_op *out_op,
                                                     trunkline_error **err);

/**
 * `trunkline_session_request` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_request_start(trunkline_pool *pool,
                                                 trunkline_session session,
                                                 trunkline_str server,
                                                 trunkline_str method,
                                                 trunkline_str params_json,
                                                 const trunkline_call_options *options,
                                                 trunkline_done_fn done,
                                                 void *user_data,
                                                 trunkline_destroy_fn destroy,
                                                 trunkline_op *out_op,
                                                 trunkline_error **err);

/**
 * `trunkline_session_request` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_request_enqueue(trunkline_pool *pool,
                                                   trunkline_session session,
                                                   trunkline_str server,
                                                   trunkline_str method,
                                                   trunkline_str params_json,
                                                   const trunkline_call_options *options,
                                                   trunkline_queue *queue,
                                                   uint64_t tag,
                                                   trunkline_op *out_op,
                                                   trunkline_error **err);

/**
 * `trunkline_session_listed` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_listed_start(trunkline_pool *pool,
                                                trunkline_session session,
                                                trunkline_str server,
                                                trunkline_done_fn done,
                                                void *user_data,
                                                trunkline_destroy_fn destroy,
                                                trunkline_op *out_op,
                                                trunkline_error **err);

/**
 * `trunkline_session_listed` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_listed_enqueue(trunkline_pool *pool,
                                                  trunkline_session session,
                                                  trunkline_str server,
                                                  trunkline_queue *queue,
                                                  uint64_t tag,
                                                  trunkline_op *out_op,
                                                  trunkline_error **err);

/**
 * `trunkline_session_refresh` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_refresh_start(trunkline_pool *pool,
                                                 trunkline_session session,
                                                 trunkline_str server,
                                                 trunkline_done_fn done,
                                                 void *user_data,
                                                 trunkline_destroy_fn destroy,
                                                 trunkline_op *out_op,
                                                 trunkline_error **err);

/**
 * `trunkline_session_refresh` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_refresh_enqueue(trunkline_pool *pool,
                                                   trunkline_session session,
                                                   trunkline_str server,
                                                   trunkline_queue *queue,
                                                   uint64_t tag,
                                                   trunkline_op *out_op,
                                                   trunkline_error **err);

/**
 * `trunkline_session_acquire` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_acquire_start(trunkline_pool *pool,
                                                 trunkline_session session,
                                                 trunkline_str server,
                                                 trunkline_str config_json,
                                                 trunkline_str options_json,
                                                 trunkline_done_fn done,
                                                 void *user_data,
                                                 trunkline_destroy_fn destroy,
                                                 trunkline_op *out_op,
                                                 trunkline_error **err);

/**
 * `trunkline_session_acquire` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_session_acquire_enqueue(trunkline_pool *pool,
                                                   trunkline_session session,
                                                   trunkline_str server,
                                                   trunkline_str config_json,
                                                   trunkline_str options_json,
                                                   trunkline_queue *queue,
                                                   uint64_t tag,
                                                   trunkline_op *out_op,
                                                   trunkline_error **err);

/**
 * `trunkline_pool_acquire` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_acquire_start(trunkline_pool *pool,
                                              trunkline_str server,
                                              trunkline_str config_json,
                                              trunkline_str session_id,
                                              trunkline_str options_json,
                                              trunkline_done_fn done,
                                              void *user_data,
                                              trunkline_destroy_fn destroy,
                                              trunkline_op *out_op,
                                              trunkline_error **err);

/**
 * `trunkline_pool_acquire` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_pool_acquire_enqueue(trunkline_pool *pool,
                                                trunkline_str server,
                                                trunkline_str config_json,
                                                trunkline_str session_id,
                                                trunkline_str options_json,
                                                trunkline_queue *queue,
                                                uint64_t tag,
                                                trunkline_op *out_op,
                                                trunkline_error **err);

/**
 * `trunkline_lease_call_tool` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_call_tool_start(trunkline_pool *pool,
                                                 trunkline_lease lease,
                                                 trunkline_str tool,
                                                 trunkline_str arguments_json,
                                                 const trunkline_call_options *options,
                                                 trunkline_done_fn done,
                                                 void *user_data,
                                                 trunkline_destroy_fn destroy,
                                                 trunkline_op *out_op,
                                                 trunkline_error **err);

/**
 * `trunkline_lease_call_tool` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_call_tool_enqueue(trunkline_pool *pool,
                                                   trunkline_lease lease,
                                                   trunkline_str tool,
                                                   trunkline_str arguments_json,
                                                   const trunkline_call_options *options,
                                                   trunkline_queue *queue,
                                                   uint64_t tag,
                                                   trunkline_op *out_op,
                                                   trunkline_error **err);

/**
 * `trunkline_lease_request` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_request_start(trunkline_pool *pool,
                                               trunkline_lease lease,
                                               trunkline_str method,
                                               trunkline_str params_json,
                                               const trunkline_call_options *options,
                                               trunkline_done_fn done,
                                               void *user_data,
                                               trunkline_destroy_fn destroy,
                                               trunkline_op *out_op,
                                               trunkline_error **err);

/**
 * `trunkline_lease_request` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_request_enqueue(trunkline_pool *pool,
                                                 trunkline_lease lease,
                                                 trunkline_str method,
                                                 trunkline_str params_json,
                                                 const trunkline_call_options *options,
                                                 trunkline_queue *queue,
                                                 uint64_t tag,
                                                 trunkline_op *out_op,
                                                 trunkline_error **err);

/**
 * `trunkline_lease_subscribe_resource` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_subscribe_resource_start(trunkline_pool *pool,
                                                          trunkline_lease lease,
                                                          trunkline_str uri,
                                                          trunkline_done_fn done,
                                                          void *user_data,
                                                          trunkline_destroy_fn destroy,
                                                          trunkline_op *out_op,
                                                          trunkline_error **err);

/**
 * `trunkline_lease_subscribe_resource` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_subscribe_resource_enqueue(trunkline_pool *pool,
                                                            trunkline_lease lease,
                                                            trunkline_str uri,
                                                            trunkline_queue *queue,
                                                            uint64_t tag,
                                                            trunkline_op *out_op,
                                                            trunkline_error **err);

/**
 * `trunkline_lease_unsubscribe_resource` whose end `done` is called with.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_unsubscribe_resource_start(trunkline_pool *pool,
                                                            trunkline_lease lease,
                                                            trunkline_str uri,
                                                            trunkline_done_fn done,
                                                            void *user_data,
                                                            trunkline_destroy_fn destroy,
                                                            trunkline_op *out_op,
                                                            trunkline_error **err);

/**
 * `trunkline_lease_unsubscribe_resource` whose end comes out of `queue`, with `tag`.
 */
TRUNKLINE_MUST_USE
trunkline_status trunkline_lease_unsubscribe_resource_enqueue(trunkline_pool *pool,
                                                              trunkline_lease lease,
                                                              trunkline_str uri,
                                                              trunkline_queue *queue,
                                                              uint64_t tag,
                                                              trunkline_op *out_op,
                                                              trunkline_error **err);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TRUNKLINE_H */
