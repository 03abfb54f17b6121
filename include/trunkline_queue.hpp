/*
 * Queues, for hosts with a loop. Include trunkline.hpp.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef TRUNKLINE_QUEUE_HPP
#define TRUNKLINE_QUEUE_HPP

#include "trunkline_detail.hpp"

namespace trunkline {

/** What a queue gives: the end of an operation, or an event. */
struct item {
    /** What the host gave with the operation or subscription. */
    std::uint64_t tag = 0;
    /** What the operation gave, such as a lease, where it gave a handle; else 0. */
    std::uint64_t handle = 0;
    /** Whether an operation has ended or an event has come. */
    trunkline_item_kind kind = TRUNKLINE_ITEM_KIND_DONE;
    /** The kind of the event. */
    std::uint32_t event = 0;
    /** The result, report or event: JSON. */
    std::string json;
    /** Set when the operation failed. */
    std::optional<error> failure;
};

/** Results and events, to poll a descriptor for or to wait for. `on_queue` of a pool, session or lease starts operations on it. */
class queue {
public:
    queue() {
        trunkline_queue *raw = nullptr;
        detail::checked([&](trunkline_error **err) { return trunkline_queue_new(&raw, err); });
        raw_.reset(raw);
    }
    /** Readable while items wait. */
    int fd() const noexcept { return trunkline_queue_fd(raw_.get()); }
    /** For the C interface; it stays this object's. */
    trunkline_queue *raw() const noexcept { return raw_.get(); }
    /** Waits until items are there, or the time is over: whether some are. Throws once the queue is closed. */
    bool wait(std::optional<std::chrono::milliseconds> timeout = {}) const {
        trunkline_error *raw = nullptr;
        trunkline_status status = trunkline_queue_wait(raw_.get(), detail::milliseconds(timeout), &raw);
        std::optional<error> failure;
        if (raw)
            failure.emplace(raw);
        if (failure && status != TRUNKLINE_STATUS_TIMEOUT)
            throw *failure;
        return !failure;
    }
    /** Ends it for every thread: what waits in it is dropped, and who waits for it hears that it is closed. */
    void close() const {
        detail::checked([&](trunkline_error **err) { return trunkline_queue_close(raw_.get(), err); });
    }
    /** Up to `most` items, oldest first, without waiting. */
    [[nodiscard]] std::vector<item> drain(std::size_t most = 64) const {
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

} // namespace trunkline

#endif
