/*
 * Pools. Include trunkline.hpp.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef TRUNKLINE_POOL_HPP
#define TRUNKLINE_POOL_HPP

#include "trunkline_session.hpp"

namespace trunkline {

/** One workspace's set of connections. Destroying it waits for nothing; `close` waits. */
class pool : public operation_forms<pool, pool_operations> {
public:
    /** `options`: a JSON object, as of `trunkline_pool_new`. Throws for a wrong one. */
    explicit pool(std::string_view options = {}) {
        trunkline_pool *raw = nullptr;
        detail::checked([&](trunkline_error **err) { return trunkline_pool_new(detail::view(options), &raw, err); });
        raw_.reset(raw, detail::free_pool());
        place_ = std::make_shared<detail::pool_place>(raw_);
    }
    /** A pool whose handlers answer the servers of sessions without a handler of their own. */
    pool(std::string_view options, handlers handlers_) : place_(std::make_shared<detail::pool_place>()) {
        trunkline_pool *raw = nullptr;
        std::uint64_t offered = handlers_.offered;
        void *user_data = new handlers::given{place_, std::move(handlers_.ask)}; // The library destroys it, also when this fails.
        detail::checked([&](trunkline_error **err) {
            return trunkline_pool_new_with_handlers(detail::view(options), offered, &handlers::told, user_data,
                                                    &handlers::destroyed, &raw, err);
        });
        raw_.reset(raw, detail::free_pool());
        place_->set(raw_);
    }
    /** Takes over the pool of another owner, which has none then. */
    pool(pool &&) noexcept = default;
    /** Gives up its own pool, and takes over another owner's. */
    pool &operator=(pool &&other) noexcept {
        leave();
        raw_ = std::move(other.raw_);
        place_ = std::move(other.place_);
        return *this;
    }
    ~pool() { leave(); }

    /** A session: one conversation. `options`: a JSON object, as of `trunkline_session_open`. */
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
    /** The same as `acquire`, as a future. */
    std::future<lease> acquire_async(std::string_view server, std::string_view config, std::string_view session_id,
                                     std::string_view options = {}, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).acquire(server, config, session_id, options);
    }
    /** Makes these servers the pool's run-time source; the report. */
    std::string reconcile(std::string_view servers) const {
        return report(&trunkline_pool_reconcile, detail::view(servers));
    }
    /** The same as `reconcile`, as a future. */
    std::future<std::string> reconcile_async(std::string_view servers, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).reconcile(servers);
    }
    /** Replaces the connections of a server, or of one of its entries; the report, with the reasons of `trunkline_pool_restart`. */
    std::string restart(std::string_view server, std::uint32_t entry_index = TRUNKLINE_EVERY_ENTRY) const {
        return report(&trunkline_pool_restart, detail::view(server), entry_index);
    }
    /** The same as `restart`, as a future. */
    std::future<std::string> restart_async(std::string_view server,
                                           std::uint32_t entry_index = TRUNKLINE_EVERY_ENTRY,
                                           std::uint64_t *out_op = nullptr) const {
        return futures(out_op).restart(server, entry_index);
    }
    /** Accepts the definition of a tool that is kept back: the one with this digest, which was shown. */
    void accept_tool(std::string_view server, std::string_view tool, std::string_view digest) const {
        detail::checked([&](trunkline_error **err) {
            return trunkline_pool_accept_tool(raw_.get(), detail::view(server), detail::view(tool), detail::view(digest), err);
        });
    }
    /** The same as `accept_tool`, as a future. */
    std::future<void> accept_tool_async(std::string_view server, std::string_view tool, std::string_view digest,
                                        std::uint64_t *out_op = nullptr) const {
        return futures(out_op).accept_tool(server, tool, digest);
    }
    /** Replaces the folders that servers are told of, a JSON array; servers are told, and list again in the background. */
    void set_roots(std::string_view roots) const {
        detail::checked([&](trunkline_error **err) { return trunkline_pool_set_roots(raw_.get(), detail::view(roots), err); });
    }
    /** The same as `set_roots`, as a future. */
    std::future<void> set_roots_async(std::string_view roots, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).set_roots(roots);
    }
    /** Replaces the lists of servers that may run, a JSON object; the report names the servers about which it changed. */
    std::string set_gates(std::string_view lists) const {
        return report(&trunkline_pool_set_gates, detail::view(lists));
    }
    /** Reads a settings file into the source that its place implies; the report. */
    std::string load(std::string_view path, std::string_view options = {}) const {
        return report(&trunkline_pool_load, detail::view(path), detail::view(options));
    }
    /** The same as `load`, as a future. */
    std::future<std::string> load_async(std::string_view path, std::string_view options = {},
                                        std::uint64_t *out_op = nullptr) const {
        return futures(out_op).load(path, options);
    }
    /** Replaces a source (`user`, `extension:git`) by the text of settings, or removes it when that is empty; the report. */
    std::string set_source(std::string_view source, std::string_view settings) const {
        return report(&trunkline_pool_set_source, detail::view(source), detail::view(settings));
    }
    /** Switches a source, or all of a scope, off or on again; the report. */
    std::string switch_source(std::string_view source, source_switch to) const {
        return report(&trunkline_pool_switch_source, detail::view(source), static_cast<std::uint32_t>(to));
    }
    /** Adds a server to the run-time source, or replaces it there: `{v, server, result, reason?}`. */
    std::string add_server(std::string_view server, std::string_view config) const {
        return report(&trunkline_pool_add_server, detail::view(server), detail::view(config));
    }
    /** Takes a server out of the run-time source: `{v, server, result}`. */
    std::string remove_server(std::string_view server) const {
        return report(&trunkline_pool_remove_server, detail::view(server));
    }
    /** Why a server, or a tool by its exposed name, is there or is not; what sessions hide is not in it. */
    std::string explain(std::string_view name) const { return report(&trunkline_pool_explain, detail::view(name)); }
    /** Reads every loaded file again and looks everything up anew; the report. */
    std::string reload(std::string_view options = {}) const {
        return report(&trunkline_pool_reload, detail::view(options));
    }
    /** The same as `reload`, as a future. */
    std::future<std::string> reload_async(std::string_view options = {}, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).reload(options);
    }
    /** Waits until nothing that configuration caused is under way; how every server stands. */
    std::string settled(std::optional<std::chrono::milliseconds> timeout = {}) const {
        return report(&trunkline_pool_settled, detail::milliseconds(timeout));
    }
    /** The same as `settled`, as a future. */
    std::future<std::string> settled_async(std::optional<std::chrono::milliseconds> timeout = {},
                                           std::uint64_t *out_op = nullptr) const {
        return futures(out_op).settled(timeout);
    }
    /** Says whether the workspace is trusted; the report. */
    std::string set_trusted(workspace_trust trust) const {
        return report(&trunkline_pool_set_trusted, static_cast<std::uint32_t>(trust));
    }
    /** The same as `set_trusted`, as a future. */
    std::future<std::string> set_trusted_async(workspace_trust trust, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).set_trusted(trust);
    }
    /** What waits for approval and what was decided: `{v, root, requests, decisions}`. */
    std::string approvals() const { return report(&trunkline_pool_approvals); }
    /** The same as `approvals`, as a future. */
    std::future<std::string> approvals_async(std::uint64_t *out_op = nullptr) const {
        return futures(out_op).approvals();
    }
    /** Lets the configuration run whose request with this hash was shown; the report. */
    std::string approve(std::string_view server, std::string_view hash) const {
        return report(&trunkline_pool_approve, detail::view(server), detail::view(hash));
    }
    /** The same as `approve`, as a future. */
    std::future<std::string> approve_async(std::string_view server, std::string_view hash,
                                           std::uint64_t *out_op = nullptr) const {
        return futures(out_op).approve(server, hash);
    }
    /** Keeps the configuration with this hash from running; the report. */
    std::string reject(std::string_view server, std::string_view hash) const {
        return report(&trunkline_pool_reject, detail::view(server), detail::view(hash));
    }
    /** The same as `reject`, as a future. */
    std::future<std::string> reject_async(std::string_view server, std::string_view hash,
                                          std::uint64_t *out_op = nullptr) const {
        return futures(out_op).reject(server, hash);
    }
    /** Forgets every decision about a server; the report. */
    std::string forget(std::string_view server) const { return report(&trunkline_pool_forget, detail::view(server)); }
    /** The same as `forget`, as a future. */
    std::future<std::string> forget_async(std::string_view server, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).forget(server);
    }
    /** Begins a sign-in, and says where a person has to go. */
    std::string sign_in(std::string_view server, std::string_view options = {}) const {
        return report(&trunkline_pool_sign_in, detail::view(server), detail::view(options));
    }
    /** The same as `sign_in`, as a future. */
    std::future<std::string> sign_in_async(std::string_view server, std::string_view options = {},
                                           std::uint64_t *out_op = nullptr) const {
        return futures(out_op).sign_in(server, options);
    }
    /** Ends a sign-in with the address that the person was redirected to. */
    std::string finish_sign_in(std::string_view redirect_url) const {
        return report(&trunkline_pool_finish_sign_in, detail::view(redirect_url));
    }
    /** The same as `finish_sign_in`, as a future. */
    std::future<std::string> finish_sign_in_async(std::string_view redirect_url, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).finish_sign_in(redirect_url);
    }
    /** Forgets what a server was signed in to with. */
    std::string sign_out(std::string_view server) const {
        return report(&trunkline_pool_sign_out, detail::view(server));
    }
    /** The same as `sign_out`, as a future. */
    std::future<std::string> sign_out_async(std::string_view server, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).sign_out(server);
    }
    /** Ends every connection, one-way; the report. */
    std::string drain_all(std::string_view options = {}) const {
        return report(&trunkline_pool_drain_all, detail::view(options));
    }
    /** The same as `drain_all`, as a future. */
    std::future<std::string> drain_all_async(std::string_view options = {}, std::uint64_t *out_op = nullptr) const {
        return futures(out_op).drain_all(options);
    }
    /** The state of the pool: a JSON object, as of `trunkline_pool_status`. */
    std::string status() const { return report(&trunkline_pool_status); }
    /** The same with options: `{"processes": true}`. */
    std::string status(std::string_view options) const {
        return report(&trunkline_pool_status_with, detail::view(options));
    }
    /** What the status counts, in the text format of Prometheus. */
    std::string metrics(std::string_view options = {}) const {
        return report(&trunkline_pool_metrics, detail::view(options));
    }
    /** The lease that an operation on a queue gave, which the item has no more then. */
    lease take_lease(item &item) const { return lease(place_, std::exchange(item.handle, 0)); }
    /** Events of the whole pool, as items of a queue with that tag. It ends with the queue too. */
    subscription subscribe(const queue &queue, std::uint64_t tag, std::uint64_t mask = TRUNKLINE_EVERY_EVENT) const {
        return subscription(place_, [&](auto... outs) {
            return trunkline_pool_subscribe_queue(raw_.get(), mask, queue.raw(), tag, outs...);
        });
    }
    /** Events of the whole pool; the function runs on a thread of the subscription's own. */
    subscription subscribe(event_function function, std::uint64_t mask = TRUNKLINE_EVERY_EVENT) const {
        return subscription(place_, std::move(function), [&](auto called, void *data, auto... rest) {
            return trunkline_pool_subscribe(raw_.get(), mask, called, data, rest...);
        });
    }
    /** Ends an operation with `cancelled`, unless it has ended: the number that `out_op` of what gives a future was put to. */
    void cancel(std::uint64_t op) const {
        detail::checked([&](trunkline_error **err) { return trunkline_op_cancel(raw_.get(), op, err); });
    }
    /** Drains it and waits until nothing is left: at most `timeout`, 10 s by default. */
    void close(std::optional<std::chrono::milliseconds> timeout = {}) {
        detail::checked([&](trunkline_error **err) {
            return trunkline_pool_close(raw_.get(), detail::milliseconds(timeout), err);
        });
    }
    /** For the C interface; it stays this object's. */
    trunkline_pool *raw() const noexcept { return raw_.get(); }

private:
    friend class operation_forms<pool, pool_operations>;

    detail::target target() const { return {place_, 0}; }
    /** A function of the pool that gives a text, and waits if the function does. */
    template <class Function, class... Arguments> std::string report(Function function, Arguments... arguments) const {
        return detail::text([&](auto... outs) { return function(raw_.get(), arguments..., outs...); });
    }
    void leave() noexcept {
        if (place_)
            place_->set(nullptr);
        raw_.reset();
    }

    std::shared_ptr<trunkline_pool> raw_;
    std::shared_ptr<detail::pool_place> place_;
};

} // namespace trunkline

#endif
