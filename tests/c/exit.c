/*
 * Hosts that end without closing: the program starts itself 30 times, each time with calls under way, and looks for what is left; and one
 * that calls while it ends.
 */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <sys/wait.h>
#include <unistd.h>

static const trunkline_str none = {NULL, 0};

/* A host that waits for the calls takes a minute. */
enum { REPETITIONS = 30, PROMPT_MS = 50000 };

/* A call that nobody answers ends with a time-out after this. */
enum { LATE_MS = 60000 };

static const char *program;

static void ignore_item(void *user_data, trunkline_item *item)
{
    (void)user_data;
    (void)item;
}

static void ignore_event(void *user_data, uint32_t event, trunkline_str text)
{
    (void)user_data;
    (void)event;
    (void)text;
}

static trunkline_pool *late_pool;
static uint64_t late_lease;

static void call_late(void)
{
    trunkline_buf *buf = NULL;
    trunkline_call_options options = TRUNKLINE_CALL_OPTIONS_INIT;
    options.timeout_ms = LATE_MS;
    OK(trunkline_lease_call_tool(late_pool, late_lease, TRUNKLINE_LITERAL("echo"), TRUNKLINE_LITERAL("{\"message\":\"late\"}"),
                                 &options, &buf, &err));
    CHECK(take_text(buf, "late"));
}

/* The host that calls in `main`, and once more while it exits, when what was this thread's own is gone. */
static int be_the_late_host(const char *log)
{
    uint64_t session;
    char *server = server_config("", log);
    OK(trunkline_pool_new(none, &late_pool, &err));
    OK(trunkline_session_open(late_pool, TRUNKLINE_LITERAL("{\"id\":\"a\"}"), &session, &err));
    OK(trunkline_session_acquire(late_pool, session, TRUNKLINE_LITERAL("s"), text_of(server), none, &late_lease, &err));
    free(server);
    call_late();
    CHECK(atexit(call_late) == 0);
    return 0;
}

/* The host that ends: a pool, a subscription, 32 calls under way. `way` says how it ends. */
static int be_the_host(const char *way, const char *log)
{
    if (strcmp(way, "late") == 0)
        return be_the_late_host(log);
    trunkline_pool *pool;
    uint64_t session, lease, subscription;
    char *server = server_config("", log);
    OK(trunkline_pool_new(none, &pool, &err));
    OK(trunkline_session_open(pool, TRUNKLINE_LITERAL("{\"id\":\"a\"}"), &session, &err));
    OK(trunkline_pool_subscribe(pool, TRUNKLINE_EVERY_EVENT, ignore_event, NULL, NULL, &subscription, NULL, &err));
    OK(trunkline_session_acquire(pool, session, TRUNKLINE_LITERAL("s"), text_of(server), none, &lease, &err));
    for (int i = 0; i < 32; i++) {
        trunkline_str tool = i % 2 ? TRUNKLINE_LITERAL("pid") : TRUNKLINE_LITERAL("sleep");
        trunkline_str arguments = i % 2 ? none : TRUNKLINE_LITERAL("{\"ms\":60000}");
        OK(trunkline_lease_call_tool_start(pool, lease, tool, arguments, NULL, ignore_item, NULL, NULL, NULL, &err));
    }
    free(server);
    if (strcmp(way, "free") == 0)
        trunkline_pool_free(pool);
    if (strcmp(way, "_exit") == 0)
        _exit(0);
    if (strcmp(way, "exit") == 0)
        exit(0);
    return 0;
}

static void hosts_end(const char *way, int repetitions)
{
    for (int round = 0; round < repetitions; round++) {
        char log[64];
        int status = -1;
        make_log(log);
        fflush(NULL);
        long long begun = now_ms();
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            execl(program, program, "--host", way, log, (char *)NULL);
            _exit(127);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        CHECK(now_ms() - begun < PROMPT_MS);
        CHECK(starts_of(log) == 1);
        UNTIL(processes_of(log) == 0);
        unlink(log);
    }
}

/* SPEC 16.4, I-19 */
static void a_host_that_returns_from_main_leaves_nothing(void)
{
    hosts_end("return", REPETITIONS);
}

/* SPEC 16.4, I-19 */
static void a_host_that_calls_exit_leaves_nothing(void)
{
    hosts_end("exit", REPETITIONS);
}

/* SPEC 16.4, I-19 */
static void a_host_that_ends_without_its_exit_handlers_leaves_nothing(void)
{
    hosts_end("_exit", REPETITIONS);
}

/* SPEC 16.4, I-19 */
static void a_host_that_frees_and_ends_at_once_leaves_nothing(void)
{
    hosts_end("free", REPETITIONS);
}

/* SPEC 16.4, I-19 */
static void a_host_may_call_from_an_exit_handler(void)
{
    hosts_end("late", 1);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 4 && strcmp(argv[1], "--host") == 0)
        return be_the_host(argv[2], argv[3]);
    begin_program(argc, argv);
    RUN(a_host_that_returns_from_main_leaves_nothing);
    RUN(a_host_that_calls_exit_leaves_nothing);
    RUN(a_host_that_ends_without_its_exit_handlers_leaves_nothing);
    RUN(a_host_that_frees_and_ends_at_once_leaves_nothing);
    RUN(a_host_may_call_from_an_exit_handler);
    score("hosts/c", tests_run);
    return 0;
}
