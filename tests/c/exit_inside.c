/*
 * Callbacks that call `exit`: the program starts itself, for each kind of callback, as a host that ends inside one amid calls. What a host
 * that ends so still has is leaked by intent, so that valgrind does not run this, and the address sanitizer looks for no leaks in it.
 */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const trunkline_str none = {NULL, 0};

/* The code that says that it was the callback that ended the host, and the calls that are under way then. */
enum { CODE = 73, CALLS = 8 };

/* Seconds after which a host that has not ended hangs. */
enum { HANG_SECONDS = 60 };

/* A call of those, which nobody waits for, in milliseconds. */
#define SLEEP TRUNKLINE_LITERAL("{\"ms\":600000}")

static const char *program;

static void exit_at_event(void *user_data, uint32_t event, trunkline_str json)
{
    (void)user_data, (void)event, (void)json;
    exit(CODE);
}

static void exit_at_end(void *user_data, trunkline_item *item)
{
    (void)user_data, (void)item;
    exit(CODE);
}

static void exit_at_request(void *user_data, uint32_t news, uint64_t request, trunkline_str json)
{
    (void)user_data, (void)news, (void)request, (void)json;
    exit(CODE);
}

static void exit_at_records(void *user_data, trunkline_str records)
{
    (void)user_data, (void)records;
    exit(CODE);
}

static void exit_at_frame(void *user_data, uint64_t connection, trunkline_str frame)
{
    (void)user_data, (void)connection, (void)frame;
    exit(CODE);
}

static void ignore_item(void *user_data, trunkline_item *item)
{
    (void)user_data, (void)item;
}

static void start(trunkline_pool *pool, uint64_t lease, trunkline_str tool, trunkline_str arguments, trunkline_done_fn done)
{
    OK(trunkline_lease_call_tool_start(pool, lease, tool, arguments, NULL, done, NULL, NULL, NULL, &err));
}

/* Has a callback of that kind called. */
static void cause(trunkline_pool *pool, uint64_t session, uint64_t lease, const char *kind)
{
    trunkline_str ask = TRUNKLINE_LITERAL("{\"method\":\"elicitation/create\",\"params\":{\"message\":\"?\"}}");
    uint64_t number;
    trunkline_logs *logs;
    trunkline_buf *report = NULL;
    if (strcmp(kind, "event") == 0) {
        OK(trunkline_pool_subscribe(pool, TRUNKLINE_MASK(TRUNKLINE_EVENT_LOG), exit_at_event, NULL, NULL, &number, NULL, &err));
        start(pool, lease, TRUNKLINE_LITERAL("log"), TRUNKLINE_LITERAL("{\"level\":\"info\",\"text\":\"hello\"}"), ignore_item);
    } else if (strcmp(kind, "end") == 0) {
        start(pool, lease, TRUNKLINE_LITERAL("pid"), none, exit_at_end);
    } else if (strcmp(kind, "request") == 0) {
        start(pool, lease, TRUNKLINE_LITERAL("ask"), ask, ignore_item);
    } else if (strcmp(kind, "records") == 0) {
        OK(trunkline_logs_new(TRUNKLINE_LITERAL("debug"), exit_at_records, NULL, NULL, &logs, &err));
        OK(trunkline_pool_reconcile(pool, TRUNKLINE_LITERAL("{\"other\":{\"command\":\"sleep\",\"disabled\":true}}"), &report, &err));
        trunkline_buf_free(report);
    } else {
        OK(trunkline_session_provide(pool, session, TRUNKLINE_LITERAL("own"), exit_at_frame, NULL, NULL, NULL, &err));
        OK(trunkline_session_acquire(pool, session, TRUNKLINE_LITERAL("own"), none, none, &number, &err));
    }
}

/* The host: it ends nowhere but in the callback. */
static void be_the_host(const char *kind, const char *log)
{
    trunkline_pool *pool;
    uint64_t session, lease;
    char *server = server_config("", log);
    alarm(HANG_SECONDS);
    OK(trunkline_pool_new(none, &pool, &err));
    OK(trunkline_session_open_with_handlers(pool, TRUNKLINE_LITERAL("{\"id\":\"a\"}"), TRUNKLINE_MASK(TRUNKLINE_HANDLER_ELICITATION),
                                            exit_at_request, NULL, NULL, &session, &err));
    OK(trunkline_session_acquire(pool, session, TRUNKLINE_LITERAL("s"), text_of(server), none, &lease, &err));
    free(server);
    for (int i = 0; i < CALLS; i++)
        start(pool, lease, TRUNKLINE_LITERAL("sleep"), SLEEP, ignore_item);
    cause(pool, session, lease, kind);
    for (;;)
        pause();
}

/* The host ends with the code of the callback, and its server after it. */
static void a_host_ends_in(const char *kind)
{
    char log[64];
    int status = -1;
    make_log(log);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
        execl(program, program, "--host", kind, log, (char *)NULL);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == CODE);
    CHECK(starts_of(log) == 1);
    UNTIL(processes_of(log) == 0);
    unlink(log);
}

/* SPEC 16.4, I-19 */
static void a_host_may_exit_in_a_callback_of_events(void)
{
    a_host_ends_in("event");
}

/* SPEC 16.4, I-19 */
static void a_host_may_exit_at_the_end_of_a_call(void)
{
    a_host_ends_in("end");
}

/* SPEC 16.4, I-19 */
static void a_host_may_exit_where_a_server_asks(void)
{
    a_host_ends_in("request");
}

/* SPEC 16.4, I-19 */
static void a_host_may_exit_in_a_callback_of_logs(void)
{
    a_host_ends_in("records");
}

/* SPEC 16.4, I-19 */
static void a_host_may_exit_in_a_server_of_its_own(void)
{
    a_host_ends_in("frame");
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 4 && strcmp(argv[1], "--host") == 0)
        be_the_host(argv[2], argv[3]);
    begin_program(argc, argv);
    RUN(a_host_may_exit_in_a_callback_of_events);
    RUN(a_host_may_exit_at_the_end_of_a_call);
    RUN(a_host_may_exit_where_a_server_asks);
    RUN(a_host_may_exit_in_a_callback_of_logs);
    RUN(a_host_may_exit_in_a_server_of_its_own);
    score("callbacks/c", tests_run);
    return 0;
}
