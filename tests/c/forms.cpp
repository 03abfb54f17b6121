// trunkline_forms.hpp: operations on a queue and with a callback, queues that threads wait for, and what a compiler is told.
#include <stdexcept>
#include <thread>

#include "host.hpp"

namespace {

using namespace std::chrono_literals;
using trunkline::outcome;

/// The next item, waited for.
trunkline::item next(const trunkline::queue &queue) {
    CHECK(queue.wait(30s));
    std::vector<trunkline::item> items = queue.drain(1);
    CHECK(items.size() == 1);
    return std::move(items[0]);
}

// SPEC 16.1
void operations_end_in_a_queue() {
    host h;
    trunkline::queue queue;
    CHECK(h.session.on_queue(queue, 1).acquire("s") != 0);
    trunkline::item item = next(queue);
    CHECK(item.tag == 1 && !item.failure && item.handle);
    trunkline::lease lease = h.pool.take_lease(item);
    CHECK(item.handle == 0 && lease.number());
    lease.on_queue(queue, 2).call_tool("echo", R"({"message": "queued"})");
    item = next(queue);
    CHECK(item.tag == 2 && has(item.json, "queued"));
    h.session.on_queue(queue, 3).call_tool("mcp__s__none");
    item = next(queue);
    CHECK(item.tag == 3 && item.failure && item.failure->code() == TRUNKLINE_STATUS_TOOL_NOT_FOUND);
    trunkline::call_options options;
    options.timeout = 60s;
    std::uint64_t op = lease.on_queue(queue, 4).call_tool("sleep", R"({"ms": 60000})", options);
    h.pool.cancel(op);
    CHECK(next(queue).failure->code() == TRUNKLINE_STATUS_CANCELLED);
    h.pool.on_queue(queue, 5).restart("s");
    CHECK(has(next(queue).json, R"("restarted":true)"));
    h.pool.on_queue(queue, 6).set_trusted(trunkline::workspace_trust::trusted);
    h.session.on_queue(queue, 7).ready({}, 10s);
    CHECK(next(queue).tag + next(queue).tag == 13);
    h.pool.close();
}

// SPEC 16.1, 16.6: events and ends of one queue come in their order.
void a_queue_has_events_too() {
    host h;
    trunkline::queue queue;
    trunkline::lease lease = h.session.acquire("s");
    trunkline::subscription ours = h.session.subscribe(queue, 1, TRUNKLINE_MASK(TRUNKLINE_EVENT_PROGRESS));
    trunkline::subscription all = h.pool.subscribe(queue, 2, TRUNKLINE_MASK(TRUNKLINE_EVENT_LOG));
    CHECK(has(ours.snapshot(), R"("seq")") && has(all.snapshot(), R"("status")"));
    trunkline::call_options options;
    options.progress = true;
    lease.on_queue(queue, 3).call_tool("progress", R"({"steps": 2})", options);
    for (int step = 0; step < 2; step++) {
        trunkline::item item = next(queue);
        CHECK(item.tag == 1 && item.kind == TRUNKLINE_ITEM_KIND_EVENT && has(item.json, R"("progress":)"));
    }
    CHECK(next(queue).tag == 3);
    ours.close();
    lease.call_tool("log", R"({"level": "info", "text": "x"})");
    CHECK(next(queue).tag == 2);
    h.pool.close();
}

// SPEC 16.2
void threads_wait_for_a_queue_until_it_is_closed() {
    host h;
    trunkline::queue queue;
    CHECK(!queue.wait(0ms) && !queue.wait(-5ms) && !queue.wait(10ms));
    trunkline::lease lease = h.session.acquire("s");
    tally taken;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            try {
                while (queue.wait())
                    for (const trunkline::item &item : queue.drain(2)) {
                        CHECK(!item.failure);
                        taken.up();
                    }
                CHECK(!"a wait without a limit ends");
            } catch (const trunkline::error &failure) {
                CHECK(failure.code() == TRUNKLINE_STATUS_CLOSED);
            }
        });
    for (std::uint64_t tag = 0; tag < 100; tag++)
        lease.on_queue(queue, tag).call_tool("echo", R"({"message": "x"})");
    taken.wait(100);
    queue.close();
    for (std::thread &thread : threads)
        thread.join();
    try {
        lease.on_queue(queue, 1).call_tool("echo");
        CHECK(!"started");
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_CLOSED && failure.outcome() == "not_sent");
    }
    h.pool.close();
}

// SPEC 16.1, 16.2
void operations_end_in_a_callback() {
    host h;
    tally ends;
    std::optional<trunkline::lease> lease;
    h.session.with_callback([&](outcome<trunkline::lease> acquired) {
        lease.emplace(acquired.get());
        ends.up();
    }).acquire("s");
    ends.wait(1);
    auto calls = lease->with_callback([&](outcome<std::string> answer) {
        CHECK(answer && !answer.failure() && has(answer.get(), "called"));
        ends.up();
        throw std::runtime_error("nobody hears of it");
    });
    calls.call_tool("echo", R"({"message": "called"})");
    CHECK(calls.call_tool("echo", R"({"message": "called again"})") != 0);
    ends.wait(3);
    h.session.with_callback([&](outcome<std::string> answer) {
        CHECK(!answer && answer.failure());
        try {
            answer.get();
        } catch (const trunkline::error &failure) {
            CHECK(failure.code() == TRUNKLINE_STATUS_TOOL_NOT_FOUND);
            ends.up();
        }
    }).call_tool("mcp__s__none");
    ends.wait(4);
    // A function that only moves serves one operation.
    h.session.with_callback([&, owned = std::make_unique<int>(5)](outcome<void> listed) {
        listed.get();
        CHECK(*owned == 5);
        ends.up();
    }).listed();
    h.pool.with_callback([&](outcome<std::string> report) {
        CHECK(has(report.get(), R"("v":1)"));
        ends.up();
    }).approvals();
    ends.wait(6);
    h.pool.close();
}

// SPEC 16.1: what cannot be started is thrown, and no function is called.
void what_is_not_started_is_thrown() {
    host h;
    bool is_called = false;
    auto call = [&](auto outcome) { is_called = !outcome || true; };
    h.pool.close();
    try {
        h.pool.with_callback(call).load("/no/such/file");
        h.session.with_callback(call).call_tool("mcp__s__echo");
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_CLOSED);
        return;
    }
    // Accepted, it ends; either is one answer.
    UNTIL(is_called);
}

// SPEC 5.12, 16.1
void versions_statuses_and_lists_have_their_names() {
    CHECK(trunkline::status_name(TRUNKLINE_STATUS_OK) == "ok");
    CHECK(trunkline::status_name(TRUNKLINE_STATUS_TOOL_NOT_FOUND) == "tool_not_found");
    CHECK(trunkline::status_name(-1) == "unknown" && trunkline::status_name(4711) == "unknown");
    CHECK(trunkline::version() == TRUNKLINE_VERSION);
    host h;
    trunkline::lease lease = h.session.acquire("s");
    std::uint64_t own = 0, shaped = 0;
    CHECK(has(h.session.tools(own), "echo") && has(h.session.tools_for("openai", shaped), "function") && own == shaped);
    h.pool.close();
}

} // namespace

int main(int argc, char **argv) {
    begin_program(argc, argv);
    RUN(operations_end_in_a_queue);
    RUN(a_queue_has_events_too);
    RUN(threads_wait_for_a_queue_until_it_is_closed);
    RUN(operations_end_in_a_callback);
    RUN(what_is_not_started_is_thrown);
    RUN(versions_statuses_and_lists_have_their_names);
    return 0;
}
