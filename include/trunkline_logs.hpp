/*
 * Part of trunkline.hpp: what the library logs.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef TRUNKLINE_LOGS_HPP
#define TRUNKLINE_LOGS_HPP

#include "trunkline_detail.hpp"

namespace trunkline {

/** Called with records that the library logged: a JSON array, good until it returns. */
using log_function = std::function<void(std::string_view)>;

/**
 * What the library logs, from a level on, for as long as it lives: the function runs on a thread of its own. The newest of the process has
 * the records. Destroying it waits until the function was told what was logged so far, unless that is the one that destroys it.
 */
class logs {
public:
    logs() noexcept = default;
    /** `level`: `error`, `warn`, `info`, `debug` or `trace`. */
    explicit logs(log_function function, std::string_view level = "info") {
        auto owner = std::make_unique<log_function>(std::move(function));
        void *user_data = owner.release(); // The library destroys it, also when this fails.
        trunkline_logs *raw = nullptr;
        detail::checked([&](trunkline_error **err) {
            return trunkline_logs_new(detail::view(level), &called, user_data, &destroyed, &raw, err);
        });
        raw_.reset(raw);
    }
    /** Ends it. */
    void close() noexcept { raw_.reset(); }

private:
    static void called(void *user_data, trunkline_str records) noexcept {
        try {
            (*static_cast<log_function *>(user_data))({records.ptr, records.len});
        } catch (...) {
            // An exception must not reach the library, and nobody else is here to take it.
        }
    }
    static void destroyed(void *user_data) noexcept { delete static_cast<log_function *>(user_data); }

    std::unique_ptr<trunkline_logs, detail::free_logs> raw_;
};

} // namespace trunkline

#endif
