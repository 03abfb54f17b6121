/*
 * Sessions, leases and subscriptions. Include trunkline.hpp.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef TRUNKLINE_SESSION_HPP
#define TRUNKLINE_SESSION_HPP

#include "trunkline_operations.hpp"

namespace trunkline {

/** What a subscriber is called with: a `trunkline_event`, and the event as a JSON object that is good until the function returns. */
using event_function = std::function<void(std::uint32_t event, std::string_view json)>;

/**
 * Events, for as long as it lives. Destroying it waits for a callback that is running, unless that is the one that destroys it. Destroying
 * the pool first does not: what the function refers to must then outlive the function itself.
 */
class [[nodiscard]] subscription {
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
    static void ended(trunkline_pool *pool, std::uint64_t number) noexcept {
        trunkline_subscription_close(pool, number, nullptr);
    }

    template <class Call>
    subscription(const std::shared_ptr<detail::pool_place> &pool, event_function function, Call &&call) {
        auto owner = std::make_unique<event_function>(std::move(function));
        void *user_data = owner.release(); // The library destroys it, also when this fails.
        begin(pool, [&](auto... outs) { return call(&called, user_data, &destroyed, outs...); });
    }
    /** Of a queue. */
    template <class Call> subscription(const std::shared_ptr<detail::pool_place> &pool, Call &&call) { begin(pool, call); }

    template <class Call> void begin(const std::shared_ptr<detail::pool_place> &pool, Call &&call) {
        std::uint64_t number = 0;
        trunkline_buf *snapshot = nullptr;
        detail::checked([&](trunkline_error **err) { return call(&number, &snapshot, err); });
        handle_ = detail::handle(pool, number, &ended);
        snapshot_ = detail::take(snapshot);
    }

    detail::handle handle_;
    std::string snapshot_;
};

/** A session's hold on a server, released when it is destroyed. */
class [[nodiscard]] lease : public operation_forms<lease, lease_operations> {
public:
    lease() noexcept = default;

    /** Calls a tool by the server's own name, and waits. */
    std::string call_tool(std::string_view tool, std::string_view arguments = {}, const call_options &options = {}) const {
        return detail::call(handle_, &trunkline_lease_call_tool, tool, arguments, options);
    }
    /** The same, and in `sent` the result byte for byte as the server sent it. */
    std::string call_tool(std::string_view tool, std::string_view arguments, const call_options &options,
                          std::string &sent) const {
        return detail::call(handle_, &trunkline_lease_call_tool, tool, arguments, options, &sent);
    }
    /** The same as `call_tool`, as a future. */
    std::future<std::string> call_tool_async(std::string_view tool, std::string_view arguments = {},
                                          const call_options &options = {}) const {
        return futures(options.out_op).call_tool(tool, arguments, options);
    }
    /** Sends any other request (`resources/read`, `prompts/get`, ...), and waits. */
    std::string request(std::string_view method, std::string_view params = {}, const call_options &options = {}) const {
        return detail::call(handle_, &trunkline_lease_request, method, params, options);
    }
    /** The same as `request`, as a future. */
    std::future<std::string> request_async(std::string_view method, std::string_view params = {},
                                          const call_options &options = {}) const {
        return futures(options.out_op).request(method, params, options);
    }
    /** Subscribes the session to updates of a resource, and waits. Counted, by whichever lease of the session: each
     *  needs its unsubscribe. */
    void subscribe_resource(std::string_view uri) const {
        detail::told(handle_, &trunkline_lease_subscribe_resource, uri);
    }
    /** The same as `subscribe_resource`, as a future. */
    std::future<void> subscribe_resource_async(std::string_view uri, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).subscribe_resource(uri);
    }
    /** The counterpart of `subscribe_resource`: with the last the session gets no more of its events. */
    void unsubscribe_resource(std::string_view uri) const {
        detail::told(handle_, &trunkline_lease_unsubscribe_resource, uri);
    }
    /** The same as `unsubscribe_resource`, as a future. */
    std::future<void> unsubscribe_resource_async(std::string_view uri, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).unsubscribe_resource(uri);
    }
    /** The tools of this server in the session's view: a JSON array. */
    std::string tools() const { return detail::read(handle_, &trunkline_lease_tools); }
    /** `{v, server, entry_index, generation, state}`. */
    std::string describe() const { return detail::read(handle_, &trunkline_lease_describe); }
    /** What the server said of itself: `{protocol_version, server_info, capabilities, instructions}`; `null` before it was connected to. */
    std::string introduction() const { return detail::read(handle_, &trunkline_lease_introduction); }
    /** Gives it up; calls under way go on. Repeating it does nothing. */
    void release() noexcept { handle_ = detail::handle(); }
    /** The number for functions of `trunkline.h`; the owner stays this. */
    std::uint64_t number() const noexcept { return handle_.number(); }

private:
    friend class pool;
    friend class session;
    template <class Value> friend Value detail::value_of(const std::shared_ptr<detail::pool_place> &, trunkline_item &);
    friend class operation_forms<lease, lease_operations>;

    detail::target target() const { return {handle_.place(), handle_.number()}; }
    lease(std::shared_ptr<detail::pool_place> pool, std::uint64_t number) noexcept
        : handle_(std::move(pool), number, &released) {}
    static void released(trunkline_pool *pool, std::uint64_t number) noexcept {
        trunkline_lease_release(pool, number, nullptr);
    }

    detail::handle handle_;
};

/** One conversation, closed when it is destroyed. */
class [[nodiscard]] session : public operation_forms<session, session_operations> {
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
    /** The same as `acquire`, as a future. */
    std::future<lease> acquire_async(std::string_view server, std::string_view config = {},
                                     std::string_view options = {}, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).acquire(server, config, options);
    }
    /** Waits until each server that it wants is ready, has failed or sleeps, at most for the start gate; how each stands. */
    std::string started() const { return detail::read(handle_, &trunkline_session_started); }
    /** The same as `started`, as a future. */
    std::future<std::string> started_async(std::uint64_t *out_op = nullptr) const {
        return futures(out_op).started();
    }
    /** Waits until every server that it wants, or that one, is ready, has failed or sleeps; that one's failure is thrown. */
    void ready(std::string_view server = {}, std::optional<std::chrono::milliseconds> timeout = {}) const {
        detail::checked([&](trunkline_error **err) {
            return trunkline_session_ready(handle_.pool(), handle_.number(), detail::view(server),
                                           detail::milliseconds(timeout), err);
        });
    }
    /** The same as `ready`, as a future. */
    std::future<void> ready_async(std::string_view server = {}, std::optional<std::chrono::milliseconds> timeout = {},
                                  std::uint64_t *out_op = nullptr) const {
        return futures(out_op).ready(server, timeout);
    }
    /** Has the lists of a server read anew, which is acquired for that, and waits; throws why no list could be had. */
    void refresh(std::string_view server) const { detail::told(handle_, &trunkline_session_refresh, server); }
    /** The same as `refresh`, as a future. */
    std::future<void> refresh_async(std::string_view server, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).refresh(server);
    }
    /** Waits until no list of its servers, or of that one, is being read or has to be, at most 5 s. */
    void listed(std::string_view server = {}) const { detail::told(handle_, &trunkline_session_listed, server); }
    /** The same as `listed`, as a future. */
    std::future<void> listed_async(std::string_view server = {}, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).listed(server);
    }
    /** What a server that it holds said of itself, as of `lease::introduction`. */
    std::string introduction(std::string_view server) const {
        return detail::text([&](trunkline_buf **out, trunkline_error **err) {
            return trunkline_session_introduction(handle_.pool(), handle_.number(), detail::view(server), out, err);
        });
    }
    /** Calls a tool by its exposed name, and waits. */
    std::string call_tool(std::string_view tool, std::string_view arguments = {}, const call_options &options = {}) const {
        return detail::call(handle_, &trunkline_session_call_tool, tool, arguments, options);
    }
    /** The same, and in `sent` the result byte for byte as the server sent it. */
    std::string call_tool(std::string_view tool, std::string_view arguments, const call_options &options,
                          std::string &sent) const {
        return detail::call(handle_, &trunkline_session_call_tool, tool, arguments, options, &sent);
    }
    /** The same as `call_tool`, as a future. */
    std::future<std::string> call_tool_async(std::string_view tool, std::string_view arguments = {},
                                          const call_options &options = {}) const {
        return futures(options.out_op).call_tool(tool, arguments, options);
    }
    /** JSON arrays of what it sees. */
    std::string tools() const { return detail::read(handle_, &trunkline_session_tools); }
    /** The tools, and the number of that list: one that is no less than the `revision` of an event has what the event tells. */
    std::string tools(std::uint64_t &revision) const {
        return detail::text([&](trunkline_buf **out, trunkline_error **err) {
            auto status = trunkline_session_tools(handle_.pool(), handle_.number(), out, err);
            revision = trunkline_buf_revision(*out);
            return status;
        });
    }
    /** The tools in the shape in which a model API takes them: `mcp`, `openai`, `openai_responses`, `anthropic`, `gemini` or `any`. */
    std::string tools_for(std::string_view shape) const {
        std::uint64_t revision = 0;
        return tools_for(shape, revision);
    }
    /** The same, and the number of that list. */
    std::string tools_for(std::string_view shape, std::uint64_t &revision) const {
        return detail::text([&](trunkline_buf **out, trunkline_error **err) {
            auto status = trunkline_session_tools_for(handle_.pool(), handle_.number(), detail::view(shape), out, err);
            revision = trunkline_buf_revision(*out);
            return status;
        });
    }
    /** The prompts of its view: a JSON array, as of `trunkline_session_prompts`. */
    std::string prompts() const { return detail::read(handle_, &trunkline_session_prompts); }
    /** The resources of its view. */
    std::string resources() const { return detail::read(handle_, &trunkline_session_resources); }
    /** The resource templates of its view. */
    std::string resource_templates() const { return detail::read(handle_, &trunkline_session_resource_templates); }
    /** Changes `servers`, `include`, `exclude`, `trust`, `always_load` or `roots`; what is absent from the object stays. */
    void configure(std::string_view options) const { change(&trunkline_session_configure, options); }
    /** Takes a server away from this session alone; its leases are of no use until `enable`. */
    void disable(std::string_view server) const { change(&trunkline_session_disable, server); }
    /** Undoes `disable`; the server is acquired again in the background, and events tell when it is back. */
    void enable(std::string_view server) const { change(&trunkline_session_enable, server); }
    /** Why a server, or a tool by its exposed name, is there for this session or is not. */
    std::string explain(std::string_view name) const {
        return detail::text([&](trunkline_buf **out, trunkline_error **err) {
            return trunkline_session_explain(handle_.pool(), handle_.number(), detail::view(name), out, err);
        });
    }
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
    /** Events of this session, as items of a queue with that tag. It ends with the queue too. */
    subscription subscribe(const queue &queue, std::uint64_t tag, std::uint64_t mask = TRUNKLINE_EVERY_EVENT) const {
        return subscription(handle_.place(), [&](auto... outs) {
            return trunkline_session_subscribe_queue(handle_.pool(), handle_.number(), mask, queue.raw(), tag, outs...);
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
    /** The number of the C interface. */
    std::uint64_t number() const noexcept { return handle_.number(); }

private:
    friend class pool;
    friend class operation_forms<session, session_operations>;

    detail::target target() const { return {handle_.place(), handle_.number()}; }
    session(std::shared_ptr<detail::pool_place> pool, std::uint64_t number) noexcept
        : handle_(std::move(pool), number, &closed) {}
    template <class Function> void change(Function function, std::string_view text) const {
        detail::checked([&](trunkline_error **err) {
            return function(handle_.pool(), handle_.number(), detail::view(text), err);
        });
    }
    static void closed(trunkline_pool *pool, std::uint64_t number) noexcept {
        trunkline_session_close(pool, number, TRUNKLINE_DEFAULT, nullptr);
    }

    detail::handle handle_;
};

} // namespace trunkline

#endif
