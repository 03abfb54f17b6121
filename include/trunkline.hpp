/*
 * trunkline for C++17: move-only owners of what trunkline.h gives, exceptions, and futures. Header-only.
 *
 *     trunkline::pool pool{R"({"drain_delay_ms": 1000})"};
 *     pool.reconcile(R"({"files": {"command": "files-server"}})");
 *     trunkline::session session = pool.open(R"({"id": "chat-1"})");
 *     trunkline::lease lease = session.acquire("files");
 *     std::future<std::string> answer = lease.call_tool_async("read", R"({"path": "a"})");
 *
 * Failures are thrown as trunkline::error. An owner gives up what it has when it is destroyed, without waiting and without throwing.
 * Sessions, leases and subscriptions of a pool must not be used after the pool is destroyed; destroying them then is fine.
 * Several threads may use one object, as long as none moves or destroys it. A callback that throws is contained: its exception
 * goes nowhere. Texts are UTF-8, structured values JSON; `trunkline.h` says what each holds.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef TRUNKLINE_HPP
#define TRUNKLINE_HPP

#include "trunkline_detail.hpp"

namespace trunkline {

/** What a subscriber is called with: a `trunkline_event`, and the event as a JSON object that is good until the function returns. */
using event_function = std::function<void(std::uint32_t event, std::string_view json)>;

/**
 * Events, for as long as it lives. Destroying it waits for a callback that is running, unless that is the one that destroys it. Destroying
 * the pool first does not: what the function refers to must then outlive the function itself.
 */
class subscription {
public:
    subscription() noexcept = default;
    /** The state that the events continue: `{v, seq, status}`. */
    const std::string &snapshot() const noexcept { return snapshot_; }
    /** Ends it. */
    void close() noexcept { handle_ = detail::handle(); }

private:
    friend class pool;
    friend class session;

    static void called(void *user_data, std::uint32_t event, trunkline_str json) noexcept {
        try {
            (*static_cast<event_function *>(user_data))(event, {json.ptr, json.len});
        } catch (...) {
            // An exception must not reach the library, and nobody else is here to take it.
        }
    }
    static void destroyed(void *user_data) noexcept { delete static_cast<event_function *>(user_data); }
    static void ended(detail::pool_place &pool, std::uint64_t number) noexcept {
        // Not under the lock: it waits for a callback, which may destroy the pool.
        if (pool.raw)
            trunkline_subscription_close(pool.raw, number, nullptr);
    }

    template <class Call>
    subscription(const std::shared_ptr<detail::pool_place> &pool, event_function function, Call &&call) {
        auto owner = std::make_unique<event_function>(std::move(function));
        std::uint64_t number = 0;
        trunkline_buf *snapshot = nullptr;
        void *user_data = owner.release(); // The library destroys it, also when this fails.
        detail::checked([&](trunkline_error **err) {
            return call(&called, user_data, &destroyed, &number, &snapshot, err);
        });
        handle_ = detail::handle(pool, number, &ended);
        snapshot_ = detail::take(snapshot);
    }

    detail::handle handle_;
    std::string snapshot_;
};

/** A session's hold on a server, released when it is destroyed. */
class lease {
public:
    lease() noexcept = default;

    /** Calls a tool by the server's own name, and waits. */
    std::string call_tool(std::string_view tool, std::string_view arguments = {}, const call_options &options = {}) const {
        return detail::call(handle_, &trunkline_lease_call_tool, tool, arguments, options);
    }
    std::future<std::string> call_tool_async(std::string_view tool, std::string_view arguments = {},
                                          const call_options &options = {}) const {
        return detail::call_async(handle_, &trunkline_lease_call_tool_start, tool, arguments, options);
    }
    /** Sends any other request (`resources/read`, `prompts/get`, ...), and waits. */
    std::string request(std::string_view method, std::string_view params = {}, const call_options &options = {}) const {
        return detail::call(handle_, &trunkline_lease_request, method, params, options);
    }
    std::future<std::string> request_async(std::string_view method, std::string_view params = {},
                                          const call_options &options = {}) const {
        return detail::call_async(handle_, &trunkline_lease_request_start, method, params, options);
    }
    /** Subscribes the session to updates of a resource, and waits; counted, each needs its unsubscribe. */
    void subscribe_resource(std::string_view uri) const {
        detail::told(handle_, &trunkline_lease_subscribe_resource, uri);
    }
    std::future<void> subscribe_resource_async(std::string_view uri) const {
        return detail::told_async(handle_, &trunkline_lease_subscribe_resource_start, uri);
    }
    void unsubscribe_resource(std::string_view uri) const {
        detail::told(handle_, &trunkline_lease_unsubscribe_resource, uri);
    }
    std::future<void> unsubscribe_resource_async(std::string_view uri) const {
        return detail::told_async(handle_, &trunkline_lease_unsubscribe_resource_start, uri);
    }
    /** The tools of this server in the session's view: a JSON array. */
    std::string tools() const { return detail::read(handle_, &trunkline_lease_tools); }
    /** `{v, server, entry_index, generation, state}`. */
    std::string describe() const { return detail::read(handle_, &trunkline_lease_describe); }
    /** Gives it up; calls under way go on. Repeating it does nothing. */
    void release() noexcept { handle_ = detail::handle(); }
    /** The number for functions of `trunkline.h`; the owner stays this. */
    std::uint64_t number() const noexcept { return handle_.number(); }

private:
    friend class pool;
    friend class session;

    lease(std::shared_ptr<detail::pool_place> pool, std::uint64_t number) noexcept
        : handle_(std::move(pool), number, &released) {}
    static void released(detail::pool_place &pool, std::uint64_t number) noexcept {
        std::lock_guard<std::mutex> lock(pool.lock);
        if (pool.raw)
            trunkline_lease_release(pool.raw, number, nullptr);
    }

    detail::handle handle_;
};

/** One conversation, closed when it is destroyed. */
class session {
public:
    session() noexcept = default;

    /** A lease, once the server is connected. `config`: the server's JSON object, for one that the pool does not know. */
    lease acquire(std::string_view server, std::string_view config = {}, std::string_view options = {}) const {
        std::uint64_t number = 0;
        detail::checked([&](trunkline_error **err) {
            return trunkline_session_acquire(handle_.pool(), handle_.number(), detail::view(server), detail::view(config),
                                             detail::view(options), &number, err);
        });
        return lease(handle_.place(), number);
    }
    std::future<lease> acquire_async(std::string_view server, std::string_view config = {},
                                     std::string_view options = {}) const {
        auto take = [place = handle_.place()](trunkline_item &item) {
            return lease(place, std::exchange(item.handle, 0));
        };
        return detail::started<lease>(take, [&](auto done, void *user_data, auto destroy, trunkline_error **err) {
            return trunkline_session_acquire_start(handle_.pool(), handle_.number(), detail::view(server),
                                                   detail::view(config), detail::view(options), done, user_data, destroy,
                                                   nullptr, err);
        });
    }
    /** Waits until every server that it wants, or that one, is ready or has failed. */
    void ready(std::string_view server = {}, std::optional<std::chrono::milliseconds> timeout = {}) const {
        detail::checked([&](trunkline_error **err) {
            return trunkline_session_ready(handle_.pool(), handle_.number(), detail::view(server),
                                           detail::milliseconds(timeout), err);
        });
    }
    std::future<void> ready_async(std::string_view server = {}, std::optional<std::chrono::milliseconds> timeout = {}) const {
        return detail::started_end([&](auto done, void *user_data, auto destroy, trunkline_error **err) {
            return trunkline_session_ready_start(handle_.pool(), handle_.number(), detail::view(server),
                                                 detail::milliseconds(timeout), done, user_data, destroy, nullptr, err);
        });
    }
    /** Calls a tool by its exposed name, and waits. */
    std::string call_tool(std::string_view tool, std::string_view arguments = {}, const call_options &options = {}) const {
        return detail::call(handle_, &trunkline_session_call_tool, tool, arguments, options);
    }
    std::future<std::string> call_tool_async(std::string_view tool, std::string_view arguments = {},
                                          const call_options &options = {}) const {
        return detail::call_async(handle_, &trunkline_session_call_tool_start, tool, arguments, options);
    }
    /** JSON arrays of what it sees. */
    std::string tools() const { return detail::read(handle_, &trunkline_session_tools); }
    std::string prompts() const { return detail::read(handle_, &trunkline_session_prompts); }
    std::string resources() const { return detail::read(handle_, &trunkline_session_resources); }
    std::string resource_templates() const { return detail::read(handle_, &trunkline_session_resource_templates); }
    /** Changes `servers`, `include`, `exclude`, `trust`, `always_load` or `roots`; what is absent from the object stays. */
    void configure(std::string_view options) const { change(&trunkline_session_configure, options); }
    /** Takes a server away from this session alone; its leases are of no use until `enable`. */
    void disable(std::string_view server) const { change(&trunkline_session_disable, server); }
    /** Undoes `disable`; the server is acquired again in the background, and events tell when it is back. */
    void enable(std::string_view server) const { change(&trunkline_session_enable, server); }
    /** Provides a server of the host's own to this session alone, for acquires to come; the functions run on a thread of each
        connection's own. */
    void provide(std::string_view server, host_function function, host_closed_function closed = {}) const {
        using detail::provided;
        auto owner = std::make_unique<provided>(provided{handle_.place(), std::move(function), std::move(closed)});
        void *user_data = owner.release(); // The library destroys it, also when this fails.
        detail::checked([&](trunkline_error **err) {
            return trunkline_session_provide(handle_.pool(), handle_.number(), detail::view(server), &provided::received,
                                             &provided::closed, user_data, &provided::destroyed, err);
        });
    }
    /** Events of this session; the function runs on a thread of the subscription's own. */
    subscription subscribe(event_function function, std::uint64_t mask = TRUNKLINE_EVERY_EVENT) const {
        return subscription(handle_.place(), std::move(function), [&](auto called, void *data, auto... rest) {
            return trunkline_session_subscribe(handle_.pool(), handle_.number(), mask, called, data, rest...);
        });
    }
    /** Ends it: its calls are cancelled; its holds stay for `keep_for`, or for what its options say. */
    void close(std::optional<std::chrono::milliseconds> keep_for = {}) {
        std::uint64_t number = handle_.forget();
        detail::checked([&](trunkline_error **err) {
            return trunkline_session_close(handle_.pool(), number, detail::milliseconds(keep_for), err);
        });
    }
    std::uint64_t number() const noexcept { return handle_.number(); }

private:
    friend class pool;

    session(std::shared_ptr<detail::pool_place> pool, std::uint64_t number) noexcept
        : handle_(std::move(pool), number, &closed) {}
    template <class Function> void change(Function function, std::string_view text) const {
        detail::checked([&](trunkline_error **err) {
            return function(handle_.pool(), handle_.number(), detail::view(text), err);
        });
    }
    static void closed(detail::pool_place &pool, std::uint64_t number) noexcept {
        if (pool.raw)
            trunkline_session_close(pool.raw, number, TRUNKLINE_DEFAULT, nullptr);
    }

    detail::handle handle_;
};

/** The version of the library that was loaded, and its capability tags: a JSON array. */
inline std::string version() { return trunkline_version(); }
inline std::uint32_t abi_version() noexcept { return trunkline_abi_version(); }
inline std::string features() { return detail::copy(trunkline_features()); }
/** The settings files of products that exist for this user and a workspace: `{v, files: [{path, format, scope}]}`. */
inline std::string detect(std::string_view workspace = {}) {
    return detail::text([&](trunkline_buf **out, trunkline_error **err) {
        return trunkline_detect(detail::view(workspace), out, err);
    });
}

/** What a queue gives: the end of an operation, or an event. */
struct item {
    std::uint64_t tag = 0;
    std::uint64_t handle = 0;
    trunkline_item_kind kind = TRUNKLINE_ITEM_KIND_DONE;
    std::uint32_t event = 0;
    /** The result, report or event: JSON. */
    std::string json;
    /** Set when the operation failed. */
    std::optional<error> failure;
};

/** Results and events behind a descriptor to poll, for hosts with a loop. Start operations on it by the functions of `trunkline.h`. */
class queue {
public:
    queue() {
        trunkline_queue *raw = nullptr;
        detail::checked([&](trunkline_error **err) { return trunkline_queue_new(&raw, err); });
        raw_.reset(raw);
    }
    /** Readable while items wait. */
    int fd() const noexcept { return trunkline_queue_fd(raw_.get()); }
    trunkline_queue *raw() const noexcept { return raw_.get(); }
    /** Up to `most` items, oldest first, without waiting. */
    std::vector<item> drain(std::size_t most = 64) {
        std::vector<trunkline_item> raw(most);
        std::size_t count = 0;
        detail::checked([&](trunkline_error **err) {
            return trunkline_queue_drain(raw_.get(), raw.data(), raw.size(), &count, err);
        });
        std::vector<item> items(count);
        for (std::size_t i = 0; i < count; i++) {
            items[i] = {raw[i].tag, raw[i].handle, raw[i].kind, raw[i].event, detail::copy(trunkline_buf_str(raw[i].buf)), {}};
            if (raw[i].error)
                items[i].failure.emplace(std::exchange(raw[i].error, nullptr));
            trunkline_item_clear(&raw[i]);
        }
        return items;
    }

private:
    std::unique_ptr<trunkline_queue, detail::free_queue> raw_;
};

/** One workspace's set of connections. Destroying it waits for nothing; `close` waits. */
class pool {
public:
    explicit pool(std::string_view options = {}) {
        trunkline_pool *raw = nullptr;
        detail::checked([&](trunkline_error **err) { return trunkline_pool_new(detail::view(options), &raw, err); });
        raw_.reset(raw);
        place_ = std::make_shared<detail::pool_place>(raw);
    }
    /** A pool whose handlers answer the servers of sessions without a handler of their own. */
    pool(std::string_view options, handlers handlers_) : place_(std::make_shared<detail::pool_place>(nullptr)) {
        trunkline_pool *raw = nullptr;
        std::uint64_t offered = handlers_.offered;
        void *user_data = new handlers::given{place_, std::move(handlers_.ask)}; // The library destroys it, also when this fails.
        detail::checked([&](trunkline_error **err) {
            return trunkline_pool_new_with_handlers(detail::view(options), offered, &handlers::told, user_data,
                                                    &handlers::destroyed, &raw, err);
        });
        raw_.reset(raw);
        std::lock_guard<std::mutex> lock(place_->lock);
        place_->raw = raw;
    }
    pool(pool &&) noexcept = default;
    pool &operator=(pool &&other) noexcept {
        leave();
        raw_ = std::move(other.raw_);
        place_ = std::move(other.place_);
        return *this;
    }
    ~pool() { leave(); }

    session open(std::string_view options) const {
        std::uint64_t number = 0;
        detail::checked([&](trunkline_error **err) {
            return trunkline_session_open(raw_.get(), detail::view(options), &number, err);
        });
        return session(place_, number);
    }
    /** A session with handlers of its own; the pool's answer where one is missing. */
    session open(std::string_view options, handlers handlers_) const {
        std::uint64_t number = 0, offered = handlers_.offered;
        void *user_data = new handlers::given{place_, std::move(handlers_.ask)}; // The library destroys it, also when this fails.
        detail::checked([&](trunkline_error **err) {
            return trunkline_session_open_with_handlers(raw_.get(), detail::view(options), offered, &handlers::told, user_data,
                                                        &handlers::destroyed, &number, err);
        });
        return session(place_, number);
    }
    /** Answers a request of a server with its result, a JSON object; from any thread. */
    void answer(std::uint64_t request, std::string_view result) const {
        detail::checked([&](trunkline_error **err) {
            return trunkline_request_answer(raw_.get(), request, detail::view(result), err);
        });
    }
    /** Refuses a request of a server with a JSON-RPC error; -1 stands for a user who declines. */
    void refuse(std::uint64_t request, std::int32_t code, std::string_view message) const {
        detail::checked([&](trunkline_error **err) {
            return trunkline_request_refuse(raw_.get(), request, code, detail::view(message), err);
        });
    }
    /** A lease for the session of that id, which is opened if need be. */
    lease acquire(std::string_view server, std::string_view config, std::string_view session_id,
                  std::string_view options = {}) const {
        std::uint64_t number = 0;
        detail::checked([&](trunkline_error **err) {
            return trunkline_pool_acquire(raw_.get(), detail::view(server), detail::view(config), detail::view(session_id),
                                          detail::view(options), &number, err);
        });
        return lease(place_, number);
    }
    std::future<lease> acquire_async(std::string_view server, std::string_view config, std::string_view session_id,
                                     std::string_view options = {}) const {
        auto take = [place = place_](trunkline_item &item) { return lease(place, std::exchange(item.handle, 0)); };
        return detail::started<lease>(take, [&](auto done, void *user_data, auto destroy, trunkline_error **err) {
            return trunkline_pool_acquire_start(raw_.get(), detail::view(server), detail::view(config),
                                                detail::view(session_id), detail::view(options), done, user_data, destroy,
                                                nullptr, err);
        });
    }
    /** Makes these servers the pool's run-time source; the report. */
    std::string reconcile(std::string_view servers) const {
        return detail::text([&](trunkline_buf **out, trunkline_error **err) {
            return trunkline_pool_reconcile(raw_.get(), detail::view(servers), out, err);
        });
    }
    std::future<std::string> reconcile_async(std::string_view servers) const {
        return detail::started_text([&](auto... rest) {
            return start_with_op(&trunkline_pool_reconcile_start, detail::view(servers), rest...);
        });
    }
    /** Replaces the connections of a server, or of one of its entries; the report, with the reasons of `trunkline_pool_restart`. */
    std::string restart(std::string_view server, std::uint32_t entry_index = TRUNKLINE_EVERY_ENTRY) const {
        return detail::text([&](trunkline_buf **out, trunkline_error **err) {
            return trunkline_pool_restart(raw_.get(), detail::view(server), entry_index, out, err);
        });
    }
    std::future<std::string> restart_async(std::string_view server,
                                           std::uint32_t entry_index = TRUNKLINE_EVERY_ENTRY) const {
        return detail::started_text([&](auto done, void *user_data, auto destroy, trunkline_error **err) {
            return trunkline_pool_restart_start(raw_.get(), detail::view(server), entry_index, done, user_data, destroy,
                                                nullptr, err);
        });
    }
    /** Accepts the definition of a tool that is kept back: the one with this digest, which was shown. */
    void accept_tool(std::string_view server, std::string_view tool, std::string_view digest) const {
        detail::checked([&](trunkline_error **err) {
            return trunkline_pool_accept_tool(raw_.get(), detail::view(server), detail::view(tool), detail::view(digest), err);
        });
    }
    std::future<void> accept_tool_async(std::string_view server, std::string_view tool, std::string_view digest) const {
        return detail::started_end([&](auto done, void *user_data, auto destroy, trunkline_error **err) {
            return trunkline_pool_accept_tool_start(raw_.get(), detail::view(server), detail::view(tool), detail::view(digest),
                                                    done, user_data, destroy, nullptr, err);
        });
    }
    /** Replaces the folders that servers are told of, a JSON array; servers are told, and list again in the background. */
    void set_roots(std::string_view roots) const {
        detail::checked([&](trunkline_error **err) { return trunkline_pool_set_roots(raw_.get(), detail::view(roots), err); });
    }
    std::future<void> set_roots_async(std::string_view roots) const {
        return detail::started_end([&](auto done, void *user_data, auto destroy, trunkline_error **err) {
            return trunkline_pool_set_roots_start(raw_.get(), detail::view(roots), done, user_data, destroy, nullptr, err);
        });
    }
    /** Replaces the lists of servers that may run, a JSON object; the report names the servers about which it changed. */
    std::string set_gates(std::string_view lists) const {
        return detail::text([&](auto... outs) { return trunkline_pool_set_gates(raw_.get(), detail::view(lists), outs...); });
    }
    /** Begins a sign-in, and says where a person has to go. */
    std::string sign_in(std::string_view server, std::string_view options = {}) const {
        return detail::text([&](auto... outs) { return trunkline_pool_sign_in(raw_.get(), detail::view(server), detail::view(options), outs...); });
    }
    std::future<std::string> sign_in_async(std::string_view server, std::string_view options = {}) const {
        return detail::started_text([&](auto done, void *user_data, auto destroy, trunkline_error **err) {
            return trunkline_pool_sign_in_start(raw_.get(), detail::view(server), detail::view(options), done, user_data, destroy,
                                                nullptr, err);
        });
    }
    /** Ends a sign-in with the address that the person was redirected to. */
    std::string finish_sign_in(std::string_view redirect_url) const {
        return detail::text([&](auto... outs) { return trunkline_pool_finish_sign_in(raw_.get(), detail::view(redirect_url), outs...); });
    }
    std::future<std::string> finish_sign_in_async(std::string_view redirect_url) const {
        return detail::started_text([&](auto... rest) {
            return start_with_op(&trunkline_pool_finish_sign_in_start, detail::view(redirect_url), rest...);
        });
    }
    /** Forgets what a server was signed in to with. */
    std::string sign_out(std::string_view server) const {
        return detail::text([&](auto... outs) { return trunkline_pool_sign_out(raw_.get(), detail::view(server), outs...); });
    }
    std::future<std::string> sign_out_async(std::string_view server) const {
        return detail::started_text([&](auto... rest) {
            return start_with_op(&trunkline_pool_sign_out_start, detail::view(server), rest...);
        });
    }
    /** Ends every connection, one-way; the report. */
    std::string drain_all(std::string_view options = {}) const {
        return detail::text([&](trunkline_buf **out, trunkline_error **err) {
            return trunkline_pool_drain_all(raw_.get(), detail::view(options), out, err);
        });
    }
    std::future<std::string> drain_all_async(std::string_view options = {}) const {
        return detail::started_text([&](auto... rest) {
            return start_with_op(&trunkline_pool_drain_all_start, detail::view(options), rest...);
        });
    }
    std::string status() const {
        return detail::text([&](trunkline_buf **out, trunkline_error **err) {
            return trunkline_pool_status(raw_.get(), out, err);
        });
    }
    /** Events of the whole pool; the function runs on a thread of the subscription's own. */
    subscription subscribe(event_function function, std::uint64_t mask = TRUNKLINE_EVERY_EVENT) const {
        return subscription(place_, std::move(function), [&](auto called, void *data, auto... rest) {
            return trunkline_pool_subscribe(raw_.get(), mask, called, data, rest...);
        });
    }
    /** Ends an operation with `cancelled`, unless it has ended. */
    void cancel(std::uint64_t op) const {
        detail::checked([&](trunkline_error **err) { return trunkline_op_cancel(raw_.get(), op, err); });
    }
    /** Drains it and waits until nothing is left: at most `timeout`, 10 s by default. */
    void close(std::optional<std::chrono::milliseconds> timeout = {}) {
        detail::checked([&](trunkline_error **err) {
            return trunkline_pool_close(raw_.get(), detail::milliseconds(timeout), err);
        });
    }
    trunkline_pool *raw() const noexcept { return raw_.get(); }

private:
    template <class Function>
    trunkline_status start_with_op(Function function, trunkline_str text, trunkline_done_fn done, void *user_data,
                                   trunkline_destroy_fn destroy, trunkline_error **err) const {
        return function(raw_.get(), text, done, user_data, destroy, nullptr, err);
    }
    void leave() noexcept {
        if (place_) {
            std::lock_guard<std::mutex> lock(place_->lock);
            place_->raw = nullptr;
        }
        raw_.reset();
    }

    std::unique_ptr<trunkline_pool, detail::free_pool> raw_;
    std::shared_ptr<detail::pool_place> place_;
};

} // namespace trunkline

#endif
