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
 * goes nowhere. What gives a future takes `out_op`, last or in its `call_options`: where the number is put by which `pool::cancel` ends it, before
 * the function returns. `on_queue`, `with_callback` and, in C++20, `awaitable` have the same operations in other forms. Texts are UTF-8, structured values JSON; `trunkline.h` says what each holds. A wait for a time below zero, such as that
 * to a deadline which has passed, is over at once.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef TRUNKLINE_HPP
#define TRUNKLINE_HPP

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "trunkline.hpp needs C++17 or later (-std=c++17); trunkline.h, the C interface, needs C++11"
#elif !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#error "trunkline.hpp needs exceptions; trunkline.h, the C interface, does not"
#else

#include "trunkline_logs.hpp"
#include "trunkline_pool.hpp"

namespace trunkline {

/** The version of the library that was loaded, and its capability tags: a JSON array. */
inline std::string version() { return trunkline_version(); }
/** The version of the C interface that the loaded library speaks: not less than `TRUNKLINE_ABI_VERSION`. */
inline std::uint32_t abi_version() noexcept { return trunkline_abi_version(); }
/** The capability tags of the library: a JSON array. */
inline std::string features() { return detail::copy(trunkline_features()); }
/** The settings files of products that exist for this user and a workspace: `{v, files: [{path, format, scope}]}`. */
inline std::string detect(std::string_view workspace = {}) {
    return detail::text([&](trunkline_buf **out, trunkline_error **err) {
        return trunkline_detect(detail::view(workspace), out, err);
    });
}

/** The stable name of a status, such as `tool_not_found`. */
inline std::string status_name(std::int32_t status) { return trunkline_status_name(status); }

} // namespace trunkline

#endif
#endif
