//! Written from core/pool/src/interface/operations; do not edit.
/*
 * The operations that take their time, in the forms of trunkline_forms.hpp. Include trunkline.hpp.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef TRUNKLINE_OPERATIONS_HPP
#define TRUNKLINE_OPERATIONS_HPP

#include "trunkline_forms.hpp"

namespace trunkline {

class lease;

/** The operations of a lease that take their time, in one of the forms that do not wait. */
template <class Form> class lease_operations {
public:
    /** In that form. */
    explicit lease_operations(Form form) : form_(std::move(form)) {}

    /**
     * Calls a tool by the server's own name. See `trunkline_lease_call_tool`.
     */
    auto call_tool(std::string_view tool, std::string_view arguments = {}, const call_options &options = detail::default_options()) {
        const trunkline_call_options raw = options.raw();
        return form_.template run<std::string>(
            &trunkline_lease_call_tool_start, &trunkline_lease_call_tool_enqueue,
            form_.of.number, detail::view(tool), detail::view(arguments), &raw);
    }
    /**
     * Sends any other request of the protocol, and gives its result undecoded. See
     * `trunkline_lease_request`.
     */
    auto request(std::string_view method, std::string_view params = {}, const call_options &options = detail::default_options()) {
        const trunkline_call_options raw = options.raw();
        return form_.template run<std::string>(
            &trunkline_lease_request_start, &trunkline_lease_request_enqueue,
            form_.of.number, detail::view(method), detail::view(params), &raw);
    }
    /**
     * Subscribes the session to updates of a resource. See `trunkline_lease_subscribe_resource`.
     */
    auto subscribe_resource(std::string_view uri) {
        return form_.template run<void>(
            &trunkline_lease_subscribe_resource_start, &trunkline_lease_subscribe_resource_enqueue,
            form_.of.number, detail::view(uri));
    }
    /**
     * The counterpart of `trunkline_lease_subscribe_resource`: with the last the session gets no
     * more updates. See `trunkline_lease_unsubscribe_resource`.
     */
    auto unsubscribe_resource(std::string_view uri) {
        return form_.template run<void>(
            &trunkline_lease_unsubscribe_resource_start, &trunkline_lease_unsubscribe_resource_enqueue,
            form_.of.number, detail::view(uri));
    }

private:
    Form form_;
};

/** The operations of a session that take their time, in one of the forms that do not wait. */
template <class Form> class session_operations {
public:
    /** In that form. */
    explicit session_operations(Form form) : form_(std::move(form)) {}

    /**
     * An explicit lease on a server, once it is connected. See `trunkline_session_acquire`.
     */
    auto acquire(std::string_view server, std::string_view config = {}, std::string_view options = {}) {
        return form_.template run<lease>(
            &trunkline_session_acquire_start, &trunkline_session_acquire_enqueue,
            form_.of.number, detail::view(server), detail::view(config), detail::view(options));
    }
    /**
     * Waits until each server that the session wants is ready, has failed or sleeps, and says how
     * each of them stands. See `trunkline_session_started`.
     */
    auto started() {
        return form_.template run<std::string>(
            &trunkline_session_started_start, &trunkline_session_started_enqueue,
            form_.of.number);
    }
    /**
     * Waits until every server that the session wants is ready, has failed or sleeps. See
     * `trunkline_session_ready`.
     */
    auto ready(std::string_view server = {}, std::optional<std::chrono::milliseconds> timeout = {}) {
        return form_.template run<void>(
            &trunkline_session_ready_start, &trunkline_session_ready_enqueue,
            form_.of.number, detail::view(server), detail::milliseconds(timeout));
    }
    /**
     * Reads the lists of a server anew, for servers that announce nothing, and waits until they are
     * in force. See `trunkline_session_refresh`.
     */
    auto refresh(std::string_view server) {
        return form_.template run<void>(
            &trunkline_session_refresh_start, &trunkline_session_refresh_enqueue,
            form_.of.number, detail::view(server));
    }
    /**
     * Waits until no list of the session's servers is being read or owed, at most 5 s. See
     * `trunkline_session_listed`.
     */
    auto listed(std::string_view server = {}) {
        return form_.template run<void>(
            &trunkline_session_listed_start, &trunkline_session_listed_enqueue,
            form_.of.number, detail::view(server));
    }
    /**
     * Calls a tool of the session's view by its exposed name (`mcp__server__tool`). See
     * `trunkline_session_call_tool`.
     */
    auto call_tool(std::string_view tool, std::string_view arguments = {}, const call_options &options = detail::default_options()) {
        const trunkline_call_options raw = options.raw();
        return form_.template run<std::string>(
            &trunkline_session_call_tool_start, &trunkline_session_call_tool_enqueue,
            form_.of.number, detail::view(tool), detail::view(arguments), &raw);
    }
    /**
     * Sends any other request of the protocol to a server, as `trunkline_lease_request`. See
     * `trunkline_session_request`.
     */
    auto request(std::string_view server, std::string_view method, std::string_view params = {}, const call_options &options = detail::default_options()) {
        const trunkline_call_options raw = options.raw();
        return form_.template run<std::string>(
            &trunkline_session_request_start, &trunkline_session_request_enqueue,
            form_.of.number, detail::view(server), detail::view(method), detail::view(params), &raw);
    }

private:
    Form form_;
};

/** The operations of a pool that take their time, in one of the forms that do not wait. */
template <class Form> class pool_operations {
public:
    /** In that form. */
    explicit pool_operations(Form form) : form_(std::move(form)) {}

    /**
     * A lease on a server by its configuration, for a session by its id. See
     * `trunkline_pool_acquire`.
     */
    auto acquire(std::string_view server, std::string_view config, std::string_view session_id, std::string_view options = {}) {
        return form_.template run<lease>(
            &trunkline_pool_acquire_start, &trunkline_pool_acquire_enqueue,
            detail::view(server), detail::view(config), detail::view(session_id), detail::view(options));
    }
    /**
     * Replaces the connections of a server's entries, or of one of them, and waits for the new
     * ones. See `trunkline_pool_restart`.
     */
    auto restart(std::string_view server, std::uint32_t entry_index = TRUNKLINE_EVERY_ENTRY) {
        return form_.template run<std::string>(
            &trunkline_pool_restart_start, &trunkline_pool_restart_enqueue,
            detail::view(server), entry_index);
    }
    /**
     * Accepts the definition of a tool that is kept back. See `trunkline_pool_accept_tool`.
     */
    auto accept_tool(std::string_view server, std::string_view tool, std::string_view digest) {
        return form_.template run<void>(
            &trunkline_pool_accept_tool_start, &trunkline_pool_accept_tool_enqueue,
            detail::view(server), detail::view(tool), detail::view(digest));
    }
    /**
     * Replaces the folders that servers are told of, and waits until they are looked at. See
     * `trunkline_pool_set_roots`.
     */
    auto set_roots(std::string_view roots) {
        return form_.template run<void>(
            &trunkline_pool_set_roots_start, &trunkline_pool_set_roots_enqueue,
            detail::view(roots));
    }
    /**
     * Ends every connection, one-way: later acquires, reconciles and restarts are refused as
     * `closing`. See `trunkline_pool_drain_all`.
     */
    auto drain_all(std::string_view options = {}) {
        return form_.template run<std::string>(
            &trunkline_pool_drain_all_start, &trunkline_pool_drain_all_enqueue,
            detail::view(options));
    }
    /**
     * Makes these servers the pool's run-time source, and waits until that is done. See
     * `trunkline_pool_reconcile`.
     */
    auto reconcile(std::string_view servers) {
        return form_.template run<std::string>(
            &trunkline_pool_reconcile_start, &trunkline_pool_reconcile_enqueue,
            detail::view(servers));
    }
    /**
     * Reads a settings file into the source that its place implies, and waits until that is done.
     * See `trunkline_pool_load`.
     */
    auto load(std::string_view path, std::string_view options = {}) {
        return form_.template run<std::string>(
            &trunkline_pool_load_start, &trunkline_pool_load_enqueue,
            detail::view(path), detail::view(options));
    }
    /**
     * Sets whether the workspace is trusted. See `trunkline_pool_set_trusted`.
     */
    auto set_trusted(workspace_trust trusted) {
        return form_.template run<std::string>(
            &trunkline_pool_set_trusted_start, &trunkline_pool_set_trusted_enqueue,
            static_cast<std::uint32_t>(trusted));
    }
    /**
     * Reads every loaded file again, and waits until that is done. See `trunkline_pool_reload`.
     */
    auto reload(std::string_view options = {}) {
        return form_.template run<std::string>(
            &trunkline_pool_reload_start, &trunkline_pool_reload_enqueue,
            detail::view(options));
    }
    /**
     * Lists what waits for approval and what was decided for this workspace. See
     * `trunkline_pool_approvals`.
     */
    auto approvals() {
        return form_.template run<std::string>(
            &trunkline_pool_approvals_start, &trunkline_pool_approvals_enqueue);
    }
    /**
     * Approves the configuration whose request with that hash was shown. See
     * `trunkline_pool_approve`.
     */
    auto approve(std::string_view server, std::string_view hash) {
        return form_.template run<std::string>(
            &trunkline_pool_approve_start, &trunkline_pool_approve_enqueue,
            detail::view(server), detail::view(hash));
    }
    /**
     * Rejects the configuration with that hash: a running server ends, and nobody is asked about it
     * again. See `trunkline_pool_reject`.
     */
    auto reject(std::string_view server, std::string_view hash) {
        return form_.template run<std::string>(
            &trunkline_pool_reject_start, &trunkline_pool_reject_enqueue,
            detail::view(server), detail::view(hash));
    }
    /**
     * Forgets every decision about a server of this workspace, so that it waits for approval again.
     * See `trunkline_pool_forget`.
     */
    auto forget(std::string_view server) {
        return form_.template run<std::string>(
            &trunkline_pool_forget_start, &trunkline_pool_forget_enqueue,
            detail::view(server));
    }
    /**
     * Waits until nothing that configuration caused is under way: no question to the host, no
     * connect. See `trunkline_pool_settled`.
     */
    auto settled(std::optional<std::chrono::milliseconds> timeout = {}) {
        return form_.template run<std::string>(
            &trunkline_pool_settled_start, &trunkline_pool_settled_enqueue,
            detail::milliseconds(timeout));
    }
    /**
     * Begins to sign in to a remote server, and waits for the address that a person has to visit.
     * See `trunkline_pool_sign_in`.
     */
    auto sign_in(std::string_view server, std::string_view options = {}) {
        return form_.template run<std::string>(
            &trunkline_pool_sign_in_start, &trunkline_pool_sign_in_enqueue,
            detail::view(server), detail::view(options));
    }
    /**
     * Ends a sign-in with the whole address that the person was redirected to, and waits for the
     * token. See `trunkline_pool_finish_sign_in`.
     */
    auto finish_sign_in(std::string_view redirect_url) {
        return form_.template run<std::string>(
            &trunkline_pool_finish_sign_in_start, &trunkline_pool_finish_sign_in_enqueue,
            detail::view(redirect_url));
    }
    /**
     * Forgets what was signed in for a server, and a sign-in that is under way. See
     * `trunkline_pool_sign_out`.
     */
    auto sign_out(std::string_view server) {
        return form_.template run<std::string>(
            &trunkline_pool_sign_out_start, &trunkline_pool_sign_out_enqueue,
            detail::view(server));
    }

private:
    Form form_;
};

} // namespace trunkline

#endif
