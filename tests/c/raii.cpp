// trunkline.hpp: owners, exceptions, futures, callbacks.
#include <poll.h>

#include <optional>
#include <stdexcept>
#include <type_traits>

#include "host.hpp"

namespace {

using namespace std::chrono_literals;

static_assert(std::is_move_constructible_v<trunkline::lease> && !std::is_copy_constructible_v<trunkline::lease>);
static_assert(std::is_move_assignable_v<trunkline::session> && !std::is_copy_constructible_v<trunkline::session>);
static_assert(std::is_move_constructible_v<trunkline::pool> && !std::is_copy_constructible_v<trunkline::pool>);
static_assert(std::is_move_constructible_v<trunkline::queue> && !std::is_copy_constructible_v<trunkline::queue>);
static_assert(std::is_move_constructible_v<trunkline::logs> && !std::is_copy_constructible_v<trunkline::logs>);
static_assert(std::is_nothrow_destructible_v<trunkline::subscription>);

// SPEC 5.1
void calls_give_texts_and_futures() {
    host h;
    trunkline::lease lease = h.session.acquire("s");
    CHECK(has(lease.call_tool("echo", R"({"message": "plain"})"), "plain"));
    CHECK(has(h.session.call_tool("mcp__s__add", R"({"a": 1, "b": 2})"), "\"3\""));
    std::string sent, shown = lease.call_tool("verbatim", R"({"result": "{\"half\":\"\\ud83d\"}"})", {}, sent);
    CHECK(has(shown, "\\ufffd") && sent == R"({"half":"\ud83d"})");
    CHECK(has(h.session.call_tool("mcp__s__echo", R"({"message": "plain"})", {}, sent), "plain") && has(sent, "plain"));
    std::future<std::string> first = lease.call_tool_async("echo", R"({"message": "first"})");
    std::future<std::string> second = h.session.call_tool_async("mcp__s__echo", R"({"message": "second"})");
    CHECK(has(first.get(), "first") && has(second.get(), "second"));
    CHECK(has(lease.request_async("prompts/list").get(), "prompts"));
    CHECK(has(lease.describe(), "\"active\"") && has(h.session.tools(), "mcp__s__echo"));
    trunkline::lease other = h.session.acquire_async("s").get();
    CHECK(other.number() != lease.number());
    h.session.ready({}, 10s);
    CHECK(has(h.session.started(), R"("v":1)") && has(h.session.started_async().get(), R"("servers")"));
    h.pool.close();
}

// SPEC 7.9, 16.8
void lists_are_read_anew_and_servers_say_who_they_are() {
    host h;
    trunkline::lease lease = h.session.acquire("s");
    CHECK(has(lease.introduction(), R"("instructions":"for tests")") && lease.introduction() == h.session.introduction("s"));
    lease.call_tool("change_list", R"({"add": ["tool_1001"], "notify": 0})");
    h.session.refresh("s");
    CHECK(has(h.session.tools(), "mcp__s__tool_1001"));
    lease.call_tool("change_list", R"({"add": ["tool_1002"], "notify": 0})");
    h.session.refresh_async("s").get();
    CHECK(has(h.session.tools(), "mcp__s__tool_1002"));
    lease.call_tool("change_list", R"({"add": ["tool_1003"]})");
    h.session.listed("s");
    CHECK(has(h.session.tools(), "mcp__s__tool_1003"));
    h.session.listed_async().get();
    h.pool.close();
}

// SPEC 15.3, 16.1
void a_program_cannot_be_signed_in_to() {
    host h;
    using attempt = void (*)(trunkline::pool &);
    attempt attempts[] = {
        [](trunkline::pool &pool) { pool.sign_in("s"); },
        [](trunkline::pool &pool) { pool.sign_in_async("s").get(); },
        [](trunkline::pool &pool) { pool.finish_sign_in("http://localhost/back"); },
        [](trunkline::pool &pool) { pool.finish_sign_in_async("http://localhost/back").get(); },
        [](trunkline::pool &pool) { pool.sign_out("nobody"); },
        [](trunkline::pool &pool) { pool.sign_out_async("nobody").get(); },
    };
    for (attempt attempt : attempts) {
        try {
            attempt(h.pool);
            CHECK(!"signed in");
        } catch (const trunkline::error &failure) {
            CHECK(!failure.name().empty());
        }
    }
}

/// The least that a server can say.
void answer(const trunkline::host_connection &connection, std::string_view frame) {
    json *message = json_parse(frame.data(), frame.size());
    const json *method = json_get(message, "method");
    std::string end = R"(, "error": {"code": -32601, "message": "no such method"}})";
    if (json_is_text(method, "initialize"))
        end = R"(, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "own", "version": "1"}}})";
    else if (json_is_text(method, "tools/list"))
        end = R"(, "result": {"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]}})";
    if (const json *number = json_get(message, "id")) {
        char *id = json_write(number);
        connection.send(std::string(R"({"jsonrpc": "2.0", "id": )") + id + end);
        std::free(id);
    }
    json_free(message);
}

// SPEC 2.1, 16.2: a lease that is the last to hold a provided server may end what its function holds.
void a_provided_server_may_hold_what_is_of_its_pool() {
    tally over;
    host h;
    struct held {
        trunkline::lease lease;
        trunkline::session session;
        tally &over;
        ~held() {
            lease.release();
            session = {};
            over.up();
        }
    };
    std::shared_ptr<held> holds(new held{h.session.acquire("s"), h.pool.open(R"({"id": "held"})"), over});
    trunkline::session session = h.pool.open(R"({"id": "b", "servers": []})");
    session.provide("own", [holds](const trunkline::host_connection &connection, std::string_view frame) { answer(connection, frame); });
    holds.reset();
    trunkline::lease lease = session.acquire("own");
    session.close(0ms);
    UNTIL(!has(h.pool.status(), R"("own")"));
    lease.release();
    over.wait(1);
    h.pool.close();
}

// SPEC 5.5, 5.9, 7.7, 9.1, 16.1
void what_c_has_the_wrapper_has() {
    host h;
    CHECK(trunkline::abi_version() >= TRUNKLINE_ABI_VERSION && has(trunkline::features(), "workspace_pool"));
    CHECK(!trunkline::version().empty());
    CHECK(has(trunkline::detect(), "\"files\":"));
    trunkline::lease lease = h.session.acquire("s");
    h.session.ready_async({}, 10s).get();
    tally updates, steps;
    std::uint64_t number = 0;
    trunkline::subscription events = h.session.subscribe([&](std::uint32_t event, std::string_view json) {
        if (event == TRUNKLINE_EVENT_RESOURCE_UPDATED)
            updates.up();
        else if (event == TRUNKLINE_EVENT_PROGRESS && has(std::string(json), R"("call":)"))
            steps.up();
    });
    trunkline::call_options options;
    options.progress = true;
    options.out_call = &number;
    lease.call_tool("progress", R"({"steps": 3})", options);
    steps.wait(3);
    CHECK(number > 0);
    lease.subscribe_resource("test://one");
    lease.call_tool("touch_resource", R"({"uri": "test://one"})");
    updates.wait(1);
    lease.unsubscribe_resource("test://one");
    lease.subscribe_resource_async("test://one").get();
    lease.unsubscribe_resource_async("test://one").get();
    std::uint64_t op = 0;
    trunkline::call_options cancellable;
    cancellable.out_op = &op;
    std::future<std::string> slow = lease.call_tool_async("sleep", R"({"ms": 60000})", cancellable);
    h.pool.cancel(op);
    try {
        slow.get();
        CHECK(false);
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_CANCELLED && failure.cause().empty());
    }
    CHECK(has(h.pool.restart_async("s").get(), "\"restarted\":true"));
    char log[64];
    make_log(log);
    char *server = server_config(R"("--label","other")", log);
    trunkline::lease other = h.pool.acquire("other", server, "b");
    CHECK(h.pool.acquire_async("other", server, "b").get().number() != other.number());
    std::free(server);
    h.pool.close();
    UNTIL(processes_of(log) == 0);
    std::remove(log);
}

// SPEC 3.4, 5.5
void what_gives_a_future_can_be_cancelled() {
    const char *silent = R"("--initialize-delay-ms","600000")";
    host h(silent);
    auto is_cancelled = [&](auto start) {
        std::uint64_t op = 0;
        auto future = start(&op);
        h.pool.cancel(op);
        try {
            (void)future.get();
        } catch (const trunkline::error &failure) {
            return failure.code() == TRUNKLINE_STATUS_CANCELLED;
        }
        return false;
    };
    CHECK(is_cancelled([&](std::uint64_t *op) { return h.session.acquire_async("s", {}, {}, op); }));
    char *server = server_config(silent, h.log);
    CHECK(is_cancelled([&](std::uint64_t *op) { return h.pool.acquire_async("t", server, "b", {}, op); }));
    std::free(server);
    trunkline::session wants = h.pool.open(R"({"id": "c", "servers": ["s"]})");
    CHECK(is_cancelled([&](std::uint64_t *op) { return wants.ready_async({}, {}, op); }));
    CHECK(is_cancelled([&](std::uint64_t *op) { return wants.started_async(op); }));
    CHECK(is_cancelled([&](std::uint64_t *op) { return wants.refresh_async("s", op); }));
    CHECK(is_cancelled([&](std::uint64_t *op) { return h.pool.settled_async({}, op); }));
    std::uint64_t op = 0;
    CHECK(has(h.pool.approvals_async(&op).get(), R"("v":1)") && op != 0);
    h.pool.close(0ms);
}

// SPEC 5.12
void a_failure_is_an_exception_with_its_particulars() {
    host h;
    trunkline::lease lease = h.session.acquire("s");
    trunkline::call_options options;
    options.timeout = 50ms;
    options.retry = trunkline::retry_policy::safe;
    options.wait = true;
    CHECK(options.raw().retry == 2 && options.raw().wait == 1 && trunkline::call_options{}.raw().retry == 0);
    try {
        lease.call_tool("sleep", R"({"ms": 60000})", options);
        CHECK(false);
    } catch (const trunkline::error &failure) {
        // It may have run.
        CHECK(failure.code() == TRUNKLINE_STATUS_TIMEOUT && failure.name() == "timeout" && !failure.retryable());
        CHECK(failure.server() == "s" && *failure.what() && has(failure.detail(), "total"));
    }
    try {
        lease.call_tool_async("none").get();
        CHECK(false);
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_TOOL_NOT_FOUND);
    }
    try {
        trunkline::pool wrong(R"({"no_such_option": 1})");
        CHECK(false);
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_UNKNOWN_OPTION);
    }
    h.pool.close();
}

// SPEC 3.6
void owners_release_when_they_are_destroyed() {
    host h("", R"({"drain_delay_ms": 50})");
    {
        trunkline::lease lease = h.session.acquire("s"), moved = std::move(lease);
        CHECK(lease.number() == 0 && moved.number() != 0);
        moved = h.session.acquire("s");
        CHECK(processes_of(h.log) == 1);
    }
    UNTIL(processes_of(h.log) == 0);
    h.session = h.pool.open(R"({"id": "b", "servers": []})");
    trunkline::lease lease = h.session.acquire("s");
    h.session.close();
    h.session = trunkline::session();
    h.pool.close();
}

// SPEC 6.3, 6.5, 15.2
void a_session_changes_while_it_lives() {
    host h;
    trunkline::lease lease = h.session.acquire("s");
    h.pool.set_roots(R"(["/"])");
    UNTIL(has(lease.call_tool("seen", R"({"method": "notifications/roots/list_changed"})"), "\"1\""));
    try {
        h.pool.set_roots_async(R"(["/"])").get();
        h.pool.set_roots_async(R"(["/", "/no/such/folder"])").get();
        CHECK(false);
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_INVALID_ARGUMENT && has(failure.detail(), "roots[1]"));
    }
    CHECK(has(h.pool.set_gates(R"({"excluded": ["other"]})"), R"("servers":{})"));
    h.session.configure(R"({"include": {"s": ["echo"]}})");
    CHECK(has(h.session.tools(), "mcp__s__echo") && !has(h.session.tools(), "mcp__s__add"));
    h.session.disable("s");
    CHECK(h.session.tools() == "[]");
    h.session.enable("s");
    UNTIL(has(h.session.tools(), "mcp__s__echo"));
    try {
        h.session.disable("no such server");
        CHECK(false);
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_NOT_ADMITTED);
    }
    h.pool.close();
}

// SPEC 7.6, 9.5
void what_a_pool_refuses_is_thrown() {
    host h("", R"({"budget": {"limit": 1, "mode": "enforce"}, "on_tool_change": "quarantine"})");
    trunkline::lease lease = h.session.acquire("s");
    try {
        (void)h.session.acquire("t", R"({"command": "/no/such/program"})");
        CHECK(false);
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_BUDGET_EXHAUSTED && has(failure.detail(), "\"live\":1"));
    }
    const std::string stale(64, '0');
    for (bool waits : {true, false}) {
        try {
            if (waits)
                h.pool.accept_tool("s", "echo", stale);
            else
                h.pool.accept_tool_async("s", "echo", stale).get();
            CHECK(false);
        } catch (const trunkline::error &failure) {
            CHECK(failure.code() == TRUNKLINE_STATUS_STALE_APPROVAL);
        }
    }
    h.pool.close();
}

// SPEC 10.1, 12.5, 12.7, 16.1
void sources_and_approvals_are_of_the_wrapper_too() {
    using trunkline::source_switch, trunkline::workspace_trust;
    host h("", R"({"approvals": "memory"})");
    char *server = server_config("", h.log);
    const std::string settings = std::string("{\"mcpServers\":{\"p\":") + server + "}}", file = std::string(h.log) + ".json";
    CHECK(has(h.pool.explain("r"), R"("reason":"not_configured")"));
    CHECK(has(h.session.explain("mcp__s__nothing"), R"("reason":"unused")"));
    CHECK(has(h.pool.add_server("r", server), R"("result":"added")") && has(h.pool.remove_server("r"), R"("result":"removed")"));
    std::free(server);
    CHECK(has(h.pool.set_source("project", settings), R"("reason":"untrusted")"));
    CHECK(has(h.pool.set_trusted_async(workspace_trust::trusted).get(), R"("reason":"pending_approval")"));
    CHECK(has(h.pool.set_trusted(workspace_trust::trusted), R"("servers":{})"));
    const std::string shown = h.pool.approvals();
    const std::string hash = shown.substr(shown.find("v1:"), 67);
    CHECK(shown == h.pool.approvals_async().get() && has(shown, R"("hash":"v1:)"));
    try {
        h.pool.approve("p", "v1:" + std::string(64, '0'));
        CHECK(false);
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_STALE_APPROVAL && failure.server() == "p" && !failure.hint().empty());
    }
    CHECK(has(h.pool.approve("p", hash), R"("action":"added")"));
    CHECK(has(h.session.acquire("p").call_tool("echo", R"({"message": "approved"})"), "approved"));
    CHECK(has(h.pool.reject_async("p", hash).get(), R"("reason":"rejected")") && has(h.pool.reject("p", hash), R"("v":1)"));
    CHECK(has(h.pool.forget("p"), R"("forgotten":1)") && has(h.pool.forget_async("p").get(), R"("forgotten":0)"));
    CHECK(has(h.pool.approve_async("p", hash).get(), R"("action":"added")"));
    CHECK(has(h.pool.switch_source("project", source_switch::off), R"("action":"removed")"));
    CHECK(has(h.pool.switch_source("project", source_switch::on), R"("action":"added")"));
    CHECK(has(h.pool.set_source("project", {}), R"("action":"removed")"));
    CHECK(has(h.pool.load(file, R"({"watch": true})"), R"("servers":{})") && has(h.pool.load_async(file, R"({"watch": true})").get(), "user:"));
    CHECK(has(h.pool.reload(), R"("errors":[])") && has(h.pool.reload_async(R"({"reconnect": "all"})").get(), R"("errors":[])"));
    CHECK(has(h.pool.settled(), R"("s":)") && has(h.pool.settled_async(10s).get(), R"("s":)"));
    h.pool.close();
}

// I-16
void a_subscription_may_be_ended_from_inside() {
    host h;
    tally calls;
    std::mutex mutex;
    trunkline::subscription subscription;
    trunkline::lease lease = h.session.acquire("s");
    {
        std::lock_guard<std::mutex> lock(mutex);
        subscription = h.session.subscribe(
            [&](std::uint32_t, std::string_view json) {
                std::lock_guard<std::mutex> inner(mutex);
                CHECK(json.find("\"v\":1") != json.npos);
                subscription.close();
                calls.up();
            },
            TRUNKLINE_MASK(TRUNKLINE_EVENT_LOG));
    }
    lease.call_tool("log", R"({"level": "info", "text": "x"})");
    calls.wait(1);
    h.pool.close();
}

// SPEC 16.1
void a_queue_gives_items() {
    host h;
    trunkline::queue queue;
    trunkline::lease lease = h.session.acquire("s");
    trunkline_str tool = TRUNKLINE_LITERAL("none"), arguments = {nullptr, 0};
    trunkline::detail::checked([&](trunkline_error **err) {
        return trunkline_lease_call_tool_enqueue(h.pool.raw(), lease.number(), tool, arguments, nullptr, queue.raw(), 9,
                                                 nullptr, err);
    });
    std::vector<trunkline::item> items;
    while (items.empty()) {
        pollfd polled = {queue.fd(), POLLIN, 0};
        CHECK(poll(&polled, 1, 30000) == 1);
        items = queue.drain();
    }
    CHECK(items.size() == 1 && items[0].tag == 9 && items[0].failure);
    CHECK(items[0].failure->code() == TRUNKLINE_STATUS_TOOL_NOT_FOUND);
    h.pool.close();
}

// I-19
void a_pool_may_go_before_what_it_gave() {
    trunkline::lease lease;
    trunkline::session session;
    trunkline::subscription subscription;
    std::future<std::string> answer;
    {
        host h;
        lease = h.session.acquire("s");
        subscription = h.pool.subscribe([](std::uint32_t, std::string_view) {});
        answer = lease.call_tool_async("sleep", R"({"ms": 60000})");
        session = std::move(h.session);
        trunkline::pool gone = std::move(h.pool);
    }
    try {
        answer.get();
        CHECK(false);
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_CLOSED);
    }
}

// I-19: a lease that nobody waits for any more is released on a thread of the library, perhaps while the pool goes.
void a_lease_may_come_while_its_pool_goes() {
    for (int round = 0; round < 5; round++) {
        host h;
        trunkline::lease lease = h.session.acquire("s");
        for (int i = 0; i < 50; i++)
            h.session.acquire_async("s");
        trunkline::pool gone = std::move(h.pool);
    }
}

// SPEC 16.7
void logs_are_told_as_long_as_they_live() {
    tally connected;
    std::optional<trunkline::logs> logs;
    logs.emplace([&](std::string_view records) {
        if (has(std::string(records), R"("message":"connected")"))
            connected.up();
        throw std::runtime_error("contained");
    });
    host h;
    trunkline::lease lease = h.session.acquire("s");
    connected.wait(1);
    logs.reset();
    try {
        trunkline::logs([](std::string_view) {}, "loud");
        CHECK(false);
    } catch (const trunkline::error &failure) {
        CHECK(failure.code() == TRUNKLINE_STATUS_INVALID_ARGUMENT && has(failure.detail(), R"("path":"level")"));
    }
    h.pool.close();
}

// SPEC 16.7
void status_and_metrics_take_options() {
    host h;
    trunkline::lease lease = h.session.acquire("s");
    CHECK(has(h.pool.status(), R"("memory_bytes":null)") && !has(h.pool.status(R"({"processes": true})"), R"("memory_bytes":null)"));
    CHECK(has(h.pool.metrics(), "trunkline_server_up{server=\"s\"} 1\n") && !has(h.pool.metrics(), "memory"));
    CHECK(has(h.pool.metrics(R"({"processes": true})"), "trunkline_server_memory_bytes{server=\"s\"} "));
    h.pool.close();
}

/// Whether it gives up as soon as it has looked: a wait without an end would end the program.
template <class Wait> bool gives_up(Wait &&wait) {
    try {
        wait();
        return false;
    } catch (const trunkline::error &failure) {
        return failure.code() == TRUNKLINE_STATUS_TIMEOUT;
    }
}

// SPEC 16.2: a deadline that has passed is no deadline that never comes.
void a_time_below_none_is_over() {
    host h(R"("--silent")", R"({"connect_timeout_ms": 300000})");
    trunkline::session session = h.pool.open(R"({"id": "waits", "servers": ["s"]})");
    for (std::chrono::milliseconds passed : {-1ms, -5ms}) {
        CHECK(gives_up([&] { session.ready("s", passed); }));
        CHECK(gives_up([&] { session.ready_async("s", passed).get(); }));
        trunkline::call_options options;
        options.timeout = options.idle_timeout = passed;
        CHECK(options.raw().timeout_ms == 1 && options.raw().idle_timeout_ms == 1);
    }
    h.pool.close(-5ms);
}

} // namespace

int main(int argc, char **argv) {
    begin_program(argc, argv);
    RUN(calls_give_texts_and_futures);
    RUN(lists_are_read_anew_and_servers_say_who_they_are);
    RUN(what_c_has_the_wrapper_has);
    RUN(what_gives_a_future_can_be_cancelled);
    RUN(a_failure_is_an_exception_with_its_particulars);
    RUN(owners_release_when_they_are_destroyed);
    RUN(a_session_changes_while_it_lives);
    RUN(what_a_pool_refuses_is_thrown);
    RUN(sources_and_approvals_are_of_the_wrapper_too);
    RUN(a_subscription_may_be_ended_from_inside);
    RUN(a_program_cannot_be_signed_in_to);
    RUN(a_provided_server_may_hold_what_is_of_its_pool);
    RUN(a_queue_gives_items);
    RUN(a_pool_may_go_before_what_it_gave);
    RUN(a_lease_may_come_while_its_pool_goes);
    RUN(logs_are_told_as_long_as_they_live);
    RUN(status_and_metrics_take_options);
    RUN(a_time_below_none_is_over);
    return 0;
}
