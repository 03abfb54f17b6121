// trunkline.hpp: callbacks that throw, of each kind. Each is contained, and others stay answered.
#include <stdexcept>

#include "host.hpp"

namespace {

/// What is no exception of the language's own, either.
struct bare {};

/// Throws, each time something else.
[[noreturn]] void throw_as(int number) {
    if (number % 3 == 0)
        throw std::runtime_error("thrown by a callback");
    if (number % 3 == 1)
        throw bare{};
    throw number;
}

/// How often each is called: once for each thing that is thrown.
constexpr int TIMES = 3;

/// Whether another lease of the server is answered.
void is_answered(const trunkline::lease &other) { CHECK(has(other.call_tool("echo", R"({"message": "well"})"), "well")); }

// SPEC 16.2, I-18
void a_callback_of_events_that_throws_is_contained() {
    host h;
    tally calls;
    int number = 0;
    trunkline::subscription subscription = h.pool.subscribe(
        [&](std::uint32_t, std::string_view) {
            calls.up();
            throw_as(number++);
        },
        TRUNKLINE_MASK(TRUNKLINE_EVENT_LOG));
    CHECK(has(subscription.snapshot(), "\"seq\""));
    trunkline::lease lease = h.session.acquire("s");
    for (int i = 1; i <= TIMES; i++) {
        lease.call_tool("log", R"({"level": "info", "text": "x"})");
        calls.wait(i);
        is_answered(lease);
    }
    h.pool.close();
}

// SPEC 15.1, 16.2, I-18: the server hears that its request failed, and nothing of what was thrown.
void a_handler_that_throws_refuses_the_request() {
    host h;
    tally calls;
    int number = 0;
    trunkline::handlers throwing;
    throwing.offered = TRUNKLINE_MASK(TRUNKLINE_HANDLER_ELICITATION);
    throwing.ask = [&](std::uint32_t, std::uint64_t, std::string_view) {
        calls.up();
        throw_as(number++);
    };
    trunkline::session asked = h.pool.open(R"({"id": "asked", "servers": []})", throwing);
    trunkline::lease lease = asked.acquire("s"), other = h.session.acquire("s");
    for (int i = 1; i <= TIMES; i++) {
        std::string seen = lease.call_tool("ask", R"({"method": "elicitation/create", "params": {"message": "?"}})");
        CHECK(has(seen, "-32603") && has(seen, "the handler failed") && !has(seen, "thrown"));
        calls.wait(i);
        is_answered(other);
    }
    h.pool.close();
}

// SPEC 16.2, 16.7, I-18
void a_callback_of_logs_that_throws_is_contained() {
    tally calls;
    int number = 0;
    trunkline::logs logs([&](std::string_view) {
        calls.up();
        throw_as(number++);
    });
    host h;
    for (int i = 1; i <= TIMES; i++) {
        trunkline::lease lease = h.session.acquire("s");
        is_answered(lease);
        h.pool.restart_async("s").get();
        calls.wait(i);
    }
    h.pool.close();
    logs.close();
}

// SPEC 2.1, 16.2
void a_server_of_the_hosts_own_that_throws_or_ends_is_an_error() {
    tally over;
    host h;
    std::string seen;
    trunkline::lease other = h.session.acquire("s");
    trunkline::host_function ends = [&seen](const trunkline::host_connection &connection, std::string_view frame) {
        seen = frame;
        connection.close();
        connection.close();
    };
    trunkline::host_function throws = [](const trunkline::host_connection &, std::string_view) { throw std::runtime_error("no"); };
    trunkline::host_function throws_bare = [](const trunkline::host_connection &, std::string_view) { throw bare{}; };
    trunkline::host_closed_function closed = [&over](const trunkline::host_connection &connection) {
        CHECK(connection.number() > 0);
        over.up();
        throw std::runtime_error("nobody hears of it");
    };
    for (const trunkline::host_function &server : {ends, throws, throws_bare}) {
        h.session.provide("own", server, closed);
        try {
            (void)h.session.acquire("own");
            CHECK(!"acquired");
        } catch (const trunkline::error &failure) {
            CHECK(failure.code() == TRUNKLINE_STATUS_CONNECT_FAILED);
        }
        is_answered(other);
    }
    over.wait(3);
    CHECK(has(seen, "\"method\":"));
}

} // namespace

int main(int argc, char **argv) {
    begin_program(argc, argv);
    RUN(a_callback_of_events_that_throws_is_contained);
    RUN(a_handler_that_throws_refuses_the_request);
    RUN(a_callback_of_logs_that_throws_is_contained);
    RUN(a_server_of_the_hosts_own_that_throws_or_ends_is_an_error);
    score("callbacks/c", tests_run);
    return 0;
}
