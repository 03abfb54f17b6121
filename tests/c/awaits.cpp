// trunkline_forms.hpp in C++20: coroutines that await operations.
#include <stdexcept>
#include <thread>

#include "host.hpp"

namespace {

using namespace std::chrono_literals;

/// A coroutine that runs until its first wait when it is called, and whose end a thread can wait for.
struct task {
    struct promise_type {
        std::promise<void> end;
        task get_return_object() { return {end.get_future(), std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() { end.set_value(); }
        void unhandled_exception() { end.set_exception(std::current_exception()); }
    };
    std::future<void> end;
    std::coroutine_handle<promise_type> handle;
};

task main_job(host &h, std::string &seen) {
    trunkline::lease lease = co_await h.session.awaitable().acquire("s");
    auto first = lease.awaitable().call_tool("echo", R"({"message": "first"})");
    auto second = lease.awaitable().call_tool("echo", R"({"message": "second"})");
    CHECK(first.number() != second.number());
    seen = co_await second;
    seen += co_await first;
    co_await h.session.awaitable().ready({}, 10s);
    seen += co_await h.pool.awaitable().approvals();
}

// SPEC 16.1
void a_coroutine_awaits_what_it_started() {
    host h;
    std::string seen;
    main_job(h, seen).end.get();
    CHECK(has(seen, "second") && has(seen, "first") && has(seen, R"("requests")"));
    h.pool.close();
}

task failing(host &h, const trunkline::lease &lease, int &failures) {
    try {
        co_await lease.awaitable().call_tool("none");
    } catch (const trunkline::error &failure) {
        failures += failure.code() == TRUNKLINE_STATUS_TOOL_NOT_FOUND;
    }
    auto slow = lease.awaitable().call_tool("sleep", R"({"ms": 60000})");
    h.pool.cancel(slow.number());
    try {
        co_await slow;
    } catch (const trunkline::error &failure) {
        failures += failure.code() == TRUNKLINE_STATUS_CANCELLED;
    }
    co_await lease.awaitable().subscribe_resource("test://one");
    throw std::runtime_error("of the coroutine");
}

// SPEC 5.12, 16.1
void failures_are_thrown_where_they_are_awaited() {
    host h;
    trunkline::lease lease = h.session.acquire("s");
    int failures = 0;
    try {
        failing(h, lease, failures).end.get();
        CHECK(!"thrown");
    } catch (const std::runtime_error &failure) {
        CHECK(has(failure.what(), "of the coroutine") && failures == 2);
    }
    h.pool.close();
}

task on_thread(const trunkline::lease &lease, const trunkline::resume_function &resume, std::thread::id wanted, int times) {
    for (int i = 0; i < times; i++) {
        co_await lease.awaitable(resume).call_tool("echo", R"({"message": "x"})");
        // A wait is refused on a thread of the library, and allowed on the host's.
        CHECK(std::this_thread::get_id() == wanted && has(lease.call_tool("echo", R"({"message": "waits"})"), "waits"));
    }
}

// SPEC 16.1, 16.2
void a_coroutine_goes_on_where_its_host_says() {
    host h;
    trunkline::lease lease = h.session.acquire("s");
    std::mutex lock;
    std::condition_variable changed;
    std::vector<std::coroutine_handle<>> ready;
    trunkline::resume_function resume = [&](std::coroutine_handle<> handle) {
        std::lock_guard<std::mutex> held(lock);
        ready.push_back(handle);
        changed.notify_one();
    };
    std::thread loop([&] {
        std::future<void> end = on_thread(lease, resume, std::this_thread::get_id(), 5).end;
        while (end.wait_for(0ms) != std::future_status::ready) {
            std::unique_lock<std::mutex> held(lock);
            changed.wait(held, [&] { return !ready.empty(); });
            std::coroutine_handle<> next = ready.back();
            ready.pop_back();
            held.unlock();
            next.resume();
        }
        end.get();
    });
    loop.join();
    h.pool.close();
}

task sleeping(const trunkline::lease &lease) { co_await lease.awaitable().call_tool("sleep", R"({"ms": 60000})"); }

// SPEC 5.5: what nobody awaits any more is cancelled, and nothing that is gone is resumed.
void what_is_destroyed_is_cancelled() {
    host h;
    trunkline::lease lease = h.session.acquire("s");
    for (int round = 0; round < 20; round++) {
        (void)lease.awaitable().call_tool("sleep", R"({"ms": 60000})");
        task suspended = sleeping(lease);
        suspended.handle.destroy();
    }
    UNTIL(has(h.pool.status(), R"("in_flight":0)"));
    CHECK(has(lease.call_tool("echo", R"({"message": "well"})"), "well"));
    auto lost = lease.awaitable().call_tool("sleep", R"({"ms": 60000})");
    h.pool.close(0ms);
}

task many(const trunkline::lease &lease, tally &ends) {
    for (int i = 0; i < 50; i++)
        co_await lease.awaitable().call_tool("echo", R"({"message": "x"})");
    ends.up();
}

// SPEC 16.2: ends that come while a coroutine is about to wait.
void many_coroutines_go_on_side_by_side() {
    host h;
    trunkline::lease lease = h.session.acquire("s");
    tally ends;
    for (int i = 0; i < 40; i++)
        many(lease, ends);
    ends.wait(40);
    h.pool.close();
}

} // namespace

int main(int argc, char **argv) {
    begin_program(argc, argv);
    RUN(a_coroutine_awaits_what_it_started);
    RUN(failures_are_thrown_where_they_are_awaited);
    RUN(a_coroutine_goes_on_where_its_host_says);
    RUN(what_is_destroyed_is_cancelled);
    RUN(many_coroutines_go_on_side_by_side);
    return 0;
}
