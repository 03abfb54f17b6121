/*
 * Forks of a process that has a pool. A program of its own, since a forked child inherits the verdicts of test tools.
 * The children use no checks of the fixture: they say by their exit status which step went wrong.
 */
#define _DEFAULT_SOURCE
#include "fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const trunkline_str none = {NULL, 0};

/* Answers that take longer have waited; the rest is for a busy machine. What could wait here would wait longer. */
enum { ANSWER_MS = 9000, LONG_MS = 60000 };

/* The rule: so many of a hundred answers of each function, in microseconds. The long form holds it, where nothing else runs. */
enum { PROMPT_US = 50000, PROMPT_SHARE = 95 };

/* The functions that are tried in each fork; the forks without calls, and the most that there are amid calls. */
enum { FUNCTIONS = 20, QUIET_FORKS = 30, AMID_CALLS_MOST = 100 };

/* How long each function took in each fork: of this process and its children. */
typedef struct {
    int forks;
    long long us[FUNCTIONS][QUIET_FORKS + AMID_CALLS_MOST];
} answer_times;

static answer_times *answered;

typedef struct {
    scene scene;
    uint64_t lease;
    uint64_t subscription;
    trunkline_queue *queue;
} host;

static host new_host(void)
{
    host h = {open_scene("", ""), 0, 0, NULL};
    h.lease = acquire(&h.scene);
    OK(trunkline_queue_new(&h.queue, &err));
    OK(trunkline_pool_subscribe_queue(h.scene.pool, TRUNKLINE_EVERY_EVENT, h.queue, 1, &h.subscription, NULL, &err));
    return h;
}

static void ignore_item(void *user_data, trunkline_item *item)
{
    (void)user_data;
    (void)item;
}

static bool is_long(void)
{
    return getenv("TRUNKLINE_FULL") != NULL;
}

static int destroyed;

static void note_destroy(void *user_data)
{
    (void)user_data;
    destroyed++;
}

static long long now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

/* Notes what a function answers, and how long it took. */
#define TRY(call)                                                        \
    do {                                                                 \
        long long called = now_us();                                     \
        answers[tried] = (call);                                         \
        answered->us[tried++][answered->forks] = now_us() - called;      \
    } while (0)

/* Every function on the parent's objects; the number of the first that does not answer FORKED in time. */
static int try_everything(const host *h)
{
    trunkline_pool *pool = h->scene.pool;
    trunkline_buf *buf = NULL;
    trunkline_item item;
    uint64_t handle;
    size_t count;
    trunkline_error *err = NULL;
    long long begun = now_ms();
    trunkline_str tool = TRUNKLINE_LITERAL("pid");
    trunkline_status answers[FUNCTIONS];
    int tried = 0;
    TRY(trunkline_pool_status(pool, &buf, NULL));
    TRY(trunkline_pool_close(pool, LONG_MS, NULL));
    TRY(trunkline_pool_drain_all(pool, none, &buf, NULL));
    TRY(trunkline_pool_reconcile(pool, TRUNKLINE_LITERAL("{}"), &buf, NULL));
    TRY(trunkline_pool_subscribe_queue(pool, 1, h->queue, 1, &handle, NULL, NULL));
    TRY(trunkline_session_open(pool, TRUNKLINE_LITERAL("{\"id\":\"c\"}"), &handle, NULL));
    TRY(trunkline_session_tools(pool, h->scene.session, &buf, NULL));
    TRY(trunkline_session_acquire(pool, h->scene.session, TRUNKLINE_LITERAL("s"), none, none, &handle, NULL));
    TRY(trunkline_session_started(pool, h->scene.session, &buf, NULL));
    TRY(trunkline_session_ready(pool, h->scene.session, none, LONG_MS, NULL));
    TRY(trunkline_session_close(pool, h->scene.session, 0, NULL));
    TRY(trunkline_lease_call_tool(pool, h->lease, tool, none, NULL, &buf, NULL));
    TRY(trunkline_lease_call_tool_start(pool, h->lease, tool, none, NULL, ignore_item, NULL, note_destroy, NULL, NULL));
    TRY(trunkline_lease_call_tool_enqueue(pool, h->lease, tool, none, NULL, h->queue, 1, NULL, NULL));
    TRY(trunkline_lease_describe(pool, h->lease, &buf, NULL));
    TRY(trunkline_lease_release(pool, h->lease, NULL));
    TRY(trunkline_subscription_close(pool, h->subscription, NULL));
    TRY(trunkline_op_cancel(pool, 1, NULL));
    TRY(trunkline_queue_drain(h->queue, &item, 1, &count, NULL));
    TRY(trunkline_pool_status(pool, &buf, &err));
    answered->forks++;
    for (int i = 0; i < FUNCTIONS; i++)
        if (answers[i] != TRUNKLINE_STATUS_FORKED)
            return i + 1;
    if (now_ms() - begun > ANSWER_MS)
        return 50;
    if (destroyed != 1 || trunkline_error_code(err) != TRUNKLINE_STATUS_FORKED)
        return 51;
    if (trunkline_queue_fd(h->queue) != -1)
        return 52;
    trunkline_error_free(err);
    trunkline_queue_free(h->queue);
    trunkline_pool_free(pool);
    return 0;
}

static int use_a_pool_of_its_own(const host *h)
{
    trunkline_pool *pool;
    trunkline_buf *buf = NULL;
    uint64_t session, lease;
    char *server = server_config("", h->scene.log);
    if (trunkline_pool_new(none, &pool, NULL) ||
        trunkline_session_open(pool, TRUNKLINE_LITERAL("{\"id\":\"c\"}"), &session, NULL) ||
        trunkline_session_acquire(pool, session, TRUNKLINE_LITERAL("s"), text_of(server), none, &lease, NULL) ||
        trunkline_lease_call_tool(pool, lease, TRUNKLINE_LITERAL("echo"), TRUNKLINE_LITERAL("{\"message\":\"c\"}"), NULL, &buf,
                                  NULL))
        return 1;
    if (!take_text(buf, "c") || trunkline_pool_close(pool, TRUNKLINE_DEFAULT, NULL))
        return 2;
    trunkline_pool_free(pool);
    free(server);
    return 0;
}

/* Runs the body in a child that ends by exit(), as a careless host's would, and checks that it did well. */
static void in_child(const host *h, int (*body)(const host *))
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(90);
        exit(body(h));
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0)
        fprintf(stderr, "the child ended with %x\n", (unsigned)status);
    CHECK(status == 0);
}

static void check_parent(host *h, const char *pid)
{
    trunkline_buf *buf = NULL;
    OK(trunkline_lease_call_tool(h->scene.pool, h->lease, TRUNKLINE_LITERAL("pid"), none, NULL, &buf, &err));
    CHECK(take_text(buf, pid));
}

static void server_pid(const host *h, char pid[32])
{
    trunkline_buf *buf = NULL;
    OK(trunkline_lease_call_tool(h->scene.pool, h->lease, TRUNKLINE_LITERAL("pid"), none, NULL, &buf, &err));
    json *result = take_json(buf);
    snprintf(pid, 32, "%s", json_text(json_get(json_at(json_get(result, "content"), 0), "text")));
    json_free(result);
}

/* I-20, SPEC 16.3 */
static void a_child_gets_forked_at_once_and_the_parent_goes_on(void)
{
    host h = new_host();
    char pid[32];
    server_pid(&h, pid);
    for (int round = 0; round < QUIET_FORKS; round++) {
        in_child(&h, try_everything);
        check_parent(&h, pid);
    }
    close_scene(&h.scene);
    trunkline_queue_free(h.queue);
}

/* SPEC 16.3 */
static void a_child_may_make_a_pool_of_its_own(void)
{
    host h = new_host();
    char pid[32];
    server_pid(&h, pid);
    in_child(&h, use_a_pool_of_its_own);
    check_parent(&h, pid);
    close_scene(&h.scene);
    trunkline_queue_free(h.queue);
}

static host *forking;
static volatile sig_atomic_t forked;

static void fork_at_event(void *user_data, uint32_t event, trunkline_str json)
{
    (void)user_data, (void)event, (void)json;
    if (!forked)
        in_child(forking, use_a_pool_of_its_own);
    forked |= 1;
}

static void fork_at_end(void *user_data, trunkline_item *item)
{
    (void)user_data, (void)item;
    in_child(forking, use_a_pool_of_its_own);
    forked |= 2;
}

/* SPEC 16.3: it waits as on any other thread. */
static void a_child_that_was_forked_inside_a_callback_may_too(void)
{
    host h = new_host();
    trunkline_buf *report = NULL;
    uint64_t subscription;
    forking = &h;
    OK(trunkline_pool_subscribe(h.scene.pool, TRUNKLINE_MASK(TRUNKLINE_EVENT_RECONCILED), fork_at_event, NULL, NULL, &subscription,
                                NULL, &err));
    OK(trunkline_pool_reconcile(h.scene.pool, TRUNKLINE_LITERAL("{\"other\":{\"command\":\"sleep\",\"disabled\":true}}"),
                                &report, &err));
    trunkline_buf_free(report);
    UNTIL(forked == 1);
    OK(trunkline_lease_call_tool_start(h.scene.pool, h.lease, TRUNKLINE_LITERAL("pid"), none, NULL, fork_at_end, NULL, NULL, NULL,
                                       &err));
    UNTIL(forked == 3);
    close_scene(&h.scene);
    trunkline_queue_free(h.queue);
}

static int by_size(const void *one, const void *other)
{
    long long difference = *(const long long *)one - *(const long long *)other;
    return difference < 0 ? -1 : difference > 0;
}

/* Each function by itself: what one of twenty always waits for is few of all answers. */
static void answers_are_prompt(void)
{
    long long slowest = 0, worst = 0;
    int forks = answered->forks, share = (forks - 1) * PROMPT_SHARE / 100;
    for (int i = 0; i < FUNCTIONS; i++) {
        long long *us = answered->us[i];
        qsort(us, (size_t)forks, sizeof *us, by_size);
        slowest = us[share] > slowest ? us[share] : slowest;
        worst = us[forks - 1] > worst ? us[forks - 1] : worst;
    }
    printf("%d forks: %d of 100 answers of the slowest function within %lld us, %lld us at worst\n", forks, PROMPT_SHARE, slowest, worst);
    CHECK(!is_long() || slowest <= PROMPT_US);
}

/* I-20: forks while calls are under way, so that locks are held by threads that the child does not have. */
static void a_fork_amid_calls_hangs_neither_side(void)
{
    host h = new_host();
    trunkline_item items[64];
    for (int round = 0; round < (is_long() ? AMID_CALLS_MOST : 30); round++) {
        for (uint64_t tag = 0; tag < 64; tag++)
            OK(trunkline_lease_call_tool_enqueue(h.scene.pool, h.lease, TRUNKLINE_LITERAL("pid"), none, NULL, h.queue, tag,
                                                 NULL, &err));
        in_child(&h, try_everything);
        for (size_t left = 64, count; left > 0;) {
            OK(trunkline_queue_drain(h.queue, items, 64, &count, &err));
            for (size_t i = 0; i < count; i++) {
                left -= items[i].kind == TRUNKLINE_ITEM_KIND_DONE;
                CHECK(items[i].status == TRUNKLINE_STATUS_OK);
                trunkline_item_clear(&items[i]);
            }
            pause_ms(1);
        }
    }
    answers_are_prompt();
    close_scene(&h.scene);
    trunkline_queue_free(h.queue);
}

/* A child that does nothing of the library's, and lives until its end of the pipe is let go. */
static pid_t idle_child(int *hold)
{
    int ends[2];
    char byte;
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(ends[0]);
    *hold = ends[1];
    return child;
}

/* SPEC 9.8, 16.3, I-20: the server reads the end of its input though the child had a copy of the pipe. */
static void a_child_that_lives_on_makes_no_close_a_forced_one(void)
{
    scene s = open_scene("{\"exit_grace_ms\":30000}", "");
    trunkline_buf *buf = NULL;
    int status = -1, hold;
    acquire(&s);
    pid_t child = idle_child(&hold);
    OK(trunkline_pool_drain_all(s.pool, TRUNKLINE_LITERAL("{\"timeout_ms\":90000}"), &buf, &err));
    json *report = take_json(buf);
    CHECK(json_number(json_get(report, "drained")) == 1 && json_number(json_get(report, "forced")) == 0);
    json_free(report);
    close(hold);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close_scene(&s);
}

static volatile sig_atomic_t opens = 1;

static void *open_pools(void *unused)
{
    (void)unused;
    while (opens) {
        trunkline_pool *pool;
        OK(trunkline_pool_new(none, &pool, &err));
        trunkline_pool_free(pool);
    }
    return NULL;
}

/* SPEC 16.3: a fork amid the start of the library, which is then locked by a thread that the child does not have. */
static void a_child_may_make_a_pool_though_its_parent_was_about_to(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, open_pools, NULL) == 0);
    for (int round = 0; round < 300; round++) {
        int status = -1;
        fflush(NULL);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            trunkline_pool *pool;
            alarm(60);
            _exit(trunkline_pool_new(none, &pool, NULL) == TRUNKLINE_STATUS_OK ? 0 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    opens = 0;
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    answered = mmap(NULL, sizeof *answered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(answered != MAP_FAILED);
    RUN(a_child_gets_forked_at_once_and_the_parent_goes_on);
    RUN(a_child_may_make_a_pool_of_its_own);
    RUN(a_child_that_was_forked_inside_a_callback_may_too);
    RUN(a_fork_amid_calls_hangs_neither_side);
    RUN(a_child_that_lives_on_makes_no_close_a_forced_one);
    RUN(a_child_may_make_a_pool_though_its_parent_was_about_to);
    score("hosts/c", tests_run);
    return 0;
}
