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
