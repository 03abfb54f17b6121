/*
 * What trunkline.hpp is made of: errors, call options, handles, futures. Include trunkline.hpp.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef TRUNKLINE_DETAIL_HPP
#define TRUNKLINE_DETAIL_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trunkline.h"

namespace trunkline {

namespace detail {

inline trunkline_str view(std::string_view text) noexcept { return {text.data(), text.size()}; }

inline std::string copy(trunkline_str text) { return text.len ? std::string(text.ptr, text.len) : std::string(); }

struct free_error {
    void operator()(trunkline_error *error) const noexcept { trunkline_error_free(error); }
};

struct free_buf {
    void operator()(trunkline_buf *buf) const noexcept { trunkline_buf_free(buf); }
};

struct free_pool {
    void operator()(trunkline_pool *pool) const noexcept { trunkline_pool_free(pool); }
};

struct free_logs {
    void operator()(trunkline_logs *logs) const noexcept { trunkline_logs_free(logs); }
};

struct free_queue {
    void operator()(trunkline_queue *queue) const noexcept { trunkline_queue_free(queue); }
};

inline std::string take(trunkline_buf *buf) {
    std::unique_ptr<trunkline_buf, free_buf> owner(buf);
    return copy(trunkline_buf_str(buf));
}

/** For the C interface. A time below zero, such as that to a deadline which has passed, is none. */
inline std::uint64_t milliseconds(std::optional<std::chrono::milliseconds> time) {
    using rep = std::chrono::milliseconds::rep;
    return time ? static_cast<std::uint64_t>(std::max<rep>(0, time->count())) : TRUNKLINE_DEFAULT;
}

/** The same for a call, where none is the pool's time: what has passed is the shortest there is. */
inline std::uint64_t milliseconds_of_call(std::chrono::milliseconds time) noexcept {
    return static_cast<std::uint64_t>(time.count() < 0 ? 1 : time.count());
}

} // namespace detail

/** A failure: the status, the message, and everything else that the library says of it. */
class error : public std::runtime_error {
public:
    /** Takes over an error of the C interface. */
    explicit error(trunkline_error *raw)
        : std::runtime_error(detail::copy(trunkline_error_message(raw))), raw_(raw, detail::free_error()) {}

    /** The stable number; `name` is its name. */
    trunkline_status code() const noexcept { return trunkline_error_code(raw_.get()); }
    /** The stable name of the code, such as `tool_not_found`. */
    std::string name() const { return detail::copy(trunkline_error_name(raw_.get())); }
    /** The server that it is about; empty when it is about none. */
    std::string server() const { return detail::copy(trunkline_error_server(raw_.get())); }
    /** The session that it is about; empty when it is about none. */
    std::string session() const { return detail::copy(trunkline_error_session(raw_.get())); }
    /** Whether the same operation may succeed later without a change by the user. */
    bool retryable() const noexcept { return trunkline_error_retryable(raw_.get()); }
    /** `not_sent`, `unknown` or empty. */
    std::string outcome() const { return detail::copy(trunkline_error_outcome(raw_.get())); }
    /** A JSON object. */
    std::string detail() const { return detail::copy(trunkline_error_detail(raw_.get())); }
    /** What it follows from, if anything. */
    std::string cause() const {
        const trunkline_error *cause = trunkline_error_cause(raw_.get());
        return cause ? detail::copy(trunkline_error_json(cause)) : std::string();
    }
    /** What the user can do about it. */
    std::string hint() const { return detail::copy(trunkline_error_hint(raw_.get())); }
    /** The arguments of a tool's call that was interrupted, else empty; in no other text. */
    std::string arguments() const { return detail::copy(trunkline_error_arguments(raw_.get())); }
    /** Everything but the arguments, as a JSON object. */
    std::string json() const { return detail::copy(trunkline_error_json(raw_.get())); }

private:
    std::shared_ptr<trunkline_error> raw_;
};

namespace detail {

/** Calls a function of the C interface with a place for its error, and throws what it puts there. */
template <class Call> void checked(Call &&call) {
    trunkline_error *raw = nullptr;
    if (call(&raw) != TRUNKLINE_STATUS_OK)
        throw error(raw);
}

template <class Call> std::string text(Call &&call) {
    trunkline_buf *buf = nullptr;
    checked([&](trunkline_error **err) { return call(&buf, err); });
    return take(buf);
}

} // namespace detail

/** What is sent again when a call's connection is lost. */
enum class retry_policy : std::uint32_t {
    /** Nothing. */
    never = 0,
    /** What was provably never sent. */
    not_sent = 1,
    /** Also a call of a tool that is declared read-only or idempotent, when the session trusts the server. */
    safe = 2,
};

/** What becomes of a source that is switched. */
enum class source_switch : std::uint32_t { off = 0, on = 1 };

/** Whether what the workspace holds may have servers started. */
enum class workspace_trust : std::uint32_t { untrusted = 0, trusted = 1 };

/** The shapes in which model APIs take tools. */
enum class tool_shape : std::uint32_t {
    /** No shape in particular: arguments have their own names. */
    none = 0,
    /** As the protocol lists them. */
    mcp = 1,
    /** OpenAI's Chat Completions. */
    openai = 2,
    /** OpenAI's Responses. */
    openai_responses = 3,
    /** Anthropic's Messages. */
    anthropic = 4,
    /** Gemini's function declarations. */
    gemini = 5,
    /** Schemas that each of them takes. */
    any = 6,
};

/** Options of a call; what is not set is the default. */
struct call_options {
    /** How long the call may take in all; 0 for the pool's time. */
    std::chrono::milliseconds timeout{0};
    /** How long without progress; 0 for the pool's time. */
    std::chrono::milliseconds idle_timeout{0};
    /** Whether `progress` events of the call are wanted. */
    bool progress = false;
    /** Where the number is put by which the call's progress events name it (`call`), before the call waits. */
    std::uint64_t *out_call = nullptr;
    /** Where the number is put that `pool::cancel` takes, of a call for a future, before that can be ready. */
    std::uint64_t *out_op = nullptr;
    /** `_meta` of the request: a JSON object, or empty. */
    std::string meta;
    /** When it is sent again. */
    retry_policy retry = retry_policy::never;
    /** Whether the call waits while the server is reconnecting, at most for its time in all. */
    bool wait = false;
    /** The shape that a model was given the tool in: arguments that have other names there go to the server under its own. */
    tool_shape shape = tool_shape::none;
    /**
     * Whether a tool that the server does not list is asked of the server all the same, by a lease; never one that a filter, a gate or a
     * quarantine keeps from the session.
     */
    bool unlisted = false;

    /** The same for the C interface, good as long as these options. */
    trunkline_call_options raw() const noexcept {
        trunkline_call_options options = TRUNKLINE_CALL_OPTIONS_INIT;
        options.timeout_ms = detail::milliseconds_of_call(timeout);
        options.idle_timeout_ms = detail::milliseconds_of_call(idle_timeout);
        options.progress = progress ? 1 : 0;
        options.meta_json = detail::view(meta);
        options.retry = static_cast<std::uint32_t>(retry);
        options.wait = wait ? 1 : 0;
        options.shape = static_cast<std::uint32_t>(shape);
        options.unlisted = unlisted ? 1 : 0;
        options.out_call = out_call;
        return options;
    }
};

namespace detail {

/**
 * What several owners know of one pool: where it is, until it is gone. A thread of the library may destroy an owner while the pool goes,
 * such as the lease of a future that was dropped: what it uses meanwhile stays until it is done. Nothing is called under the lock, for the
 * host's code may end there, and with it another owner.
 */
class pool_place {
public:
    /** Of that pool, or of one that comes later. */
    explicit pool_place(std::shared_ptr<trunkline_pool> pool = {}) noexcept : pool_(std::move(pool)) {}
    /** The pool, for as long as the result lives; nothing once it is gone. */
    std::shared_ptr<trunkline_pool> use() const noexcept {
        std::lock_guard<std::mutex> lock(lock_);
        return pool_;
    }
    /** For threads that keep the pool from going otherwise. */
    trunkline_pool *raw() const noexcept { return pool_.get(); }
    /** From here on it is that pool, or none. */
    void set(std::shared_ptr<trunkline_pool> pool) noexcept {
        std::lock_guard<std::mutex> lock(lock_);
        pool_.swap(pool);
    }

private:
    std::shared_ptr<trunkline_pool> pool_;
    mutable std::mutex lock_;
};

/** A number that stands for something in a pool, and the function that gives it up. */
class handle {
public:
    using give_up = void (*)(trunkline_pool *, std::uint64_t) noexcept;

    handle() noexcept = default;
    handle(std::shared_ptr<pool_place> pool, std::uint64_t number, give_up release) noexcept
        : pool_(std::move(pool)), number_(number), release_(release) {}
    handle(handle &&other) noexcept
        : pool_(std::move(other.pool_)), number_(std::exchange(other.number_, 0)), release_(other.release_) {}
    handle &operator=(handle &&other) noexcept {
        handle moved(std::move(other));
        std::swap(pool_, moved.pool_);
        std::swap(number_, moved.number_);
        std::swap(release_, moved.release_);
        return *this;
    }
    ~handle() {
        if (!number_ || !pool_)
            return;
        if (std::shared_ptr<trunkline_pool> pool = pool_->use())
            release_(pool.get(), number_);
    }

    std::uint64_t forget() noexcept { return std::exchange(number_, 0); }
    std::uint64_t number() const noexcept { return number_; }
    trunkline_pool *pool() const noexcept { return pool_ ? pool_->raw() : nullptr; }
    const std::shared_ptr<pool_place> &place() const noexcept { return pool_; }

private:
    std::shared_ptr<pool_place> pool_;
    std::uint64_t number_ = 0;
    give_up release_ = nullptr;
};

/** One text of the object that a handle stands for. */
template <class Function> std::string read(const handle &handle, Function function) {
    return text([&](trunkline_buf **out, trunkline_error **err) {
        return function(handle.pool(), handle.number(), out, err);
    });
}

/** A call or request, and waits. `sent` is for the result byte for byte as the server sent it. */
template <class Function>
std::string call(const handle &handle, Function function, std::string_view what, std::string_view with,
                 const call_options &options, std::string *sent = nullptr) {
    auto raw = options.raw();
    return text([&](trunkline_buf **out, trunkline_error **err) {
        auto status = function(handle.pool(), handle.number(), view(what), view(with), &raw, out, err);
        if (sent)
            *sent = copy(trunkline_buf_raw(*out));
        return status;
    });
}

/** An operation about one text that gives nothing, and waits. */
template <class Function> void told(const handle &handle, Function function, std::string_view what) {
    checked([&](trunkline_error **err) { return function(handle.pool(), handle.number(), view(what), err); });
}

} // namespace detail

class pool;

/**
 * Handlers: which there are, by `TRUNKLINE_MASK` of `trunkline_handler`, and the function that is told what servers ask: a
 * `trunkline_request_event`, the number to answer by (`pool::answer`, `pool::refuse`), and the JSON text. What it throws refuses the request.
 */
struct handlers {
    /** Told of each request, and of what becomes of it; `trunkline_ask_fn` says what the parameters are. */
    using function = std::function<void(std::uint32_t event, std::uint64_t request, std::string_view json)>;

    /** The handlers that servers are told of: bits, each `TRUNKLINE_MASK` of a `trunkline_handler`. */
    std::uint64_t offered = 0;
    /** Who is told. */
    function ask;

private:
    friend class pool;

    struct given {
        std::shared_ptr<detail::pool_place> pool;
        function ask;
    };
    static void told(void *user_data, std::uint32_t event, std::uint64_t request, trunkline_str json) noexcept {
        auto &given = *static_cast<handlers::given *>(user_data);
        try {
            given.ask(event, request, {json.ptr, json.len});
        } catch (...) {
            if (auto pool = given.pool->use())
                trunkline_request_refuse(pool.get(), request, -32603, detail::view("the handler failed"), nullptr);
        }
    }
    static void destroyed(void *user_data) noexcept { delete static_cast<given *>(user_data); }
};

/** The server's end of a connection with a server that the host provides. Cheap to copy; usable from any thread. */
class host_connection {
public:
    /** Of the number that `provide` was given. */
    host_connection(std::shared_ptr<detail::pool_place> pool, std::uint64_t number) noexcept
        : pool_(std::move(pool)), number_(number) {}
    /** Sends one JSON-RPC message of the server. Never blocks. */
    void send(std::string_view frame) const {
        auto pool = pool_->use();
        detail::checked([&](trunkline_error **err) { return trunkline_host_send(pool.get(), number_, detail::view(frame), err); });
    }
    /** Ends the connection from the server's side. Repeating it does nothing. */
    void close() const {
        auto pool = pool_->use();
        detail::checked([&](trunkline_error **err) { return trunkline_host_close(pool.get(), number_, err); });
    }
    /** The number of the C interface. */
    std::uint64_t number() const noexcept { return number_; }

private:
    std::shared_ptr<detail::pool_place> pool_;
    std::uint64_t number_;
};

/** A server that the host provides: called with each message of the pool. What it throws ends the connection. */
using host_function = std::function<void(const host_connection &connection, std::string_view frame)>;

/** Told last that a connection with it is over. */
using host_closed_function = std::function<void(const host_connection &connection)>;

namespace detail {

/** What the library calls for a server that the host provides. */
struct provided {
    std::shared_ptr<pool_place> pool;
    host_function function;
    host_closed_function over;

    static void received(void *user_data, std::uint64_t number, trunkline_str frame) noexcept {
        auto &self = *static_cast<provided *>(user_data);
        host_connection connection(self.pool, number);
        try {
            self.function(connection, {frame.ptr, frame.len});
        } catch (...) {
            trunkline_host_close(self.pool->use().get(), number, nullptr);
        }
    }
    static void closed(void *user_data, std::uint64_t number) noexcept {
        auto &self = *static_cast<provided *>(user_data);
        try {
            if (self.over)
                self.over(host_connection(self.pool, number));
        } catch (...) {
            // Nothing is left that it could end.
        }
    }
    static void destroyed(void *user_data) noexcept { delete static_cast<provided *>(user_data); }
};

} // namespace detail

} // namespace trunkline

#endif
