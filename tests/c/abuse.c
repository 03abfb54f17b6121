/*
 * The C ABI in the hands of a host that gets everything wrong: handles that are stale, foreign, of another kind or nobody's, released
 * twice and from several threads at once, texts that are NULL, cut off or no UTF-8, options of any size (SPEC 16.2, SECURITY row 19).
 *
 * Each call must be answered: by success, or by a status that has an error with the same code. At the end everything that was handed
 * over has come back once, and nothing is left. TRUNKLINE_ABUSE is the number of calls; TRUNKLINE_SEED repeats a run but for the
 * order of its threads.
 */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <pthread.h>

#define THREADS 3
#define HANDLES 16

/* What a handle is of. */
typedef enum { SESSION, LEASE, SUBSCRIPTION, OPERATION, KINDS } kind;

static scene scenes[2];
static trunkline_queue *queue;
/* Whatever a call gave back, of both pools; any thread may use and release it. */
static uint64_t handles[KINDS][HANDLES];
static long handed_over, given_back, answered, succeeded;

typedef struct {
    uint64_t dice;
    long calls;
    char *garbage;
} host;

static unsigned roll(host *h, unsigned sides)
{
    h->dice ^= h->dice << 13;
    h->dice ^= h->dice >> 7;
    h->dice ^= h->dice << 17;
    return (unsigned)(h->dice % sides);
}

static long add(long *count, long number)
{
    return __atomic_add_fetch(count, number, __ATOMIC_SEQ_CST);
}

static void keep(host *h, kind of, uint64_t handle)
{
    if (handle)
        __atomic_store_n(&handles[of][roll(h, HANDLES)], handle, __ATOMIC_SEQ_CST);
}

/* Mostly one of that kind, which may be over; or of another, or near one, or nobody's. */
static uint64_t any(host *h, kind wanted)
{
    kind of = roll(h, 8) == 0 ? (kind)roll(h, KINDS) : wanted;
    uint64_t kept = __atomic_load_n(&handles[of][roll(h, HANDLES)], __ATOMIC_SEQ_CST);
    switch (roll(h, 30)) {
    case 0:
        return 0;
    case 1:
        return kept + 1;
    case 2:
        return kept ^ ((uint64_t)1 << roll(h, 64));
    case 3:
        return h->dice;
    default:
        return kept;
    }
}

#define GARBAGE 300

static trunkline_str text(host *h)
{
    static const char *const texts[] = {
        "", "s", "a", "pid", "echo", "sleep", "{}", "[]", "null", "{\"message\":\"x\"}", "{\"ms\":1}", "{\"id\":\"a\"}", "{\"id\":7}",
        "{\"id\":\"b\",\"servers\":[]}", "{\"id\":\"c\",\"include\":{\"s\":[\"e*\"]}}", "{\"timeout_ms\":\"soon\"}", "{\"timeout_ms\":5}",
        "{\"command\":7}", "{\"s\":", "tools/list", "ping", "project", "openai", "mcp__s__echo", "{\"nobody\":1}", "\xc3\x28", "a\xff",
    };
    trunkline_str none = {NULL, 0}, missing = {NULL, 3}, endless = {"x", (size_t)-1};
    unsigned which = roll(h, (unsigned)(sizeof texts / sizeof *texts) + 5);
    switch (which) {
    case 0:
        return none;
    case 1:
        return missing;
    case 2:
        return endless;
    case 3:
    case 4:
        for (int at = 0; at < GARBAGE; at++)
            h->garbage[at] = (char)roll(h, 256);
        return TRUNKLINE_TEXT(h->garbage, roll(h, GARBAGE));
    default:
        return text_of(texts[which - 5]);
    }
}

/* Mostly what is right. */
static trunkline_str mostly(host *h, const char *right)
{
    return roll(h, 4) ? text_of(right) : text(h);
}

static void on_done(void *data, trunkline_item *item)
{
    (void)data;
    CHECK(item->kind == TRUNKLINE_ITEM_KIND_DONE && (item->status == TRUNKLINE_STATUS_OK) == !item->error);
    add(&answered, 1);
}

static void on_event(void *data, uint32_t event, trunkline_str json)
{
    (void)data, (void)event;
    CHECK(json.len > 0);
}

static void on_destroy(void *data)
{
    CHECK(data == &given_back);
    add(&given_back, 1);
}

/* What every answer must be. */
static void check(trunkline_status status, trunkline_error *err, trunkline_buf *buf)
{
    CHECK((status == TRUNKLINE_STATUS_OK) == !err);
    CHECK(status != TRUNKLINE_STATUS_INTERNAL);
    add(&succeeded, status == TRUNKLINE_STATUS_OK);
    if (err)
        CHECK(trunkline_error_code(err) == status && trunkline_error_message(err).len > 0 && !buf);
    trunkline_error_free(err);
    trunkline_buf_free(buf);
}

static trunkline_pool *pool(host *h)
{
    unsigned which = roll(h, 30);
    return which == 0 ? NULL : scenes[which < 4].pool;
}

/* Room enough for options of any size that is not refused. */
typedef union {
    trunkline_call_options options;
    char bytes[4096];
} room;

static const trunkline_call_options *options_in(host *h, room *room)
{
    static const size_t sizes[] = {0, 1, 8, sizeof(trunkline_call_options), 4096, 4097, (size_t)-1};
    memset(room, 0, sizeof *room);
    room->options.struct_size = roll(h, 3) ? sizeof room->options : sizes[roll(h, 7)];
    room->options.timeout_ms = roll(h, 2) ? 1 + roll(h, 50) : 2000;
    room->options.progress = roll(h, 8) ? roll(h, 2) : 2;
    room->options.retry = roll(h, 8) ? roll(h, 3) : 9;
    room->options.wait = roll(h, 8) ? roll(h, 2) : 2;
    if (roll(h, 50) == 0)
        room->bytes[4095] = 1;
    return roll(h, 3) == 0 ? NULL : &room->options;
}

/* A function that makes something, or looks. */
static void make(host *h)
{
    trunkline_error *err = NULL;
    trunkline_buf *buf = NULL;
    trunkline_status status;
    uint64_t out = 0;
    trunkline_pool *p = pool(h);
    char id[40];
    switch (roll(h, 13)) {
    case 0:
        snprintf(id, sizeof id, "{\"id\":\"%u\",\"servers\":[]}", roll(h, 20));
        status = trunkline_session_open(p, mostly(h, id), &out, &err);
        keep(h, SESSION, out);
        break;
    case 1:
        status = trunkline_session_acquire(p, any(h, SESSION), TRUNKLINE_LITERAL("s"), mostly(h, ""), mostly(h, ""), &out, &err);
        keep(h, LEASE, out);
        break;
    case 2:
        status = trunkline_session_tools(p, any(h, SESSION), &buf, &err);
        break;
    case 3:
        status = trunkline_session_tools_for(p, any(h, SESSION), text(h), &buf, &err);
        break;
    case 4:
        status = trunkline_session_explain(p, any(h, SESSION), text(h), &buf, &err);
        break;
    case 5:
        status = trunkline_lease_tools(p, any(h, LEASE), &buf, &err);
        break;
    case 6:
        status = trunkline_lease_describe(p, any(h, LEASE), &buf, &err);
        break;
    case 7:
        status = trunkline_pool_status(p, &buf, &err);
        break;
    case 8:
        status = trunkline_pool_explain(p, text(h), &buf, &err);
        break;
    case 9:
        status = trunkline_session_configure(p, any(h, SESSION), text(h), &err);
        break;
    case 10:
        status = trunkline_pool_subscribe_queue(p, TRUNKLINE_EVERY_EVENT, queue, SUBSCRIPTION, &out, &buf, &err);
        break;
    case 11:
        status = trunkline_pool_reconcile(p, text_of("{\"s\":7}"), &buf, &err);
        break;
    default: {
        bool is_mine = roll(h, 2);
        add(&handed_over, 1);
        status = trunkline_session_subscribe(p, any(h, SESSION), is_mine ? TRUNKLINE_EVERY_EVENT : h->dice, on_event, &given_back,
                                             on_destroy, &out, &buf, &err);
        keep(h, SUBSCRIPTION, out);
    }
    }
    check(status, err, buf);
}

/* A function that works on what there is. */
static void use(host *h)
{
    trunkline_error *err = NULL;
    trunkline_buf *buf = NULL;
    trunkline_status status;
    uint64_t out = 0;
    trunkline_pool *p = pool(h);
    room room;
    const trunkline_call_options *how = options_in(h, &room);
    switch (roll(h, 8)) {
    case 0:
        status = trunkline_lease_call_tool(p, any(h, LEASE), mostly(h, "pid"), mostly(h, "{}"), how, &buf, &err);
        break;
    case 1:
        status = trunkline_session_call_tool(p, any(h, SESSION), mostly(h, "mcp__s__pid"), mostly(h, "{}"), how, &buf, &err);
        break;
    case 2:
        add(&handed_over, 1);
        status = trunkline_lease_call_tool_start(p, any(h, LEASE), mostly(h, "sleep"), mostly(h, "{\"ms\":20}"), how,
                                                on_done, &given_back, on_destroy, &out, &err);
        break;
    case 3:
        status = trunkline_lease_call_tool_enqueue(p, any(h, LEASE), mostly(h, "echo"), mostly(h, "{\"message\":\"x\"}"),
                                                   how, queue, SUBSCRIPTION, &out, &err);
        break;
    case 4:
        status = trunkline_lease_request(p, any(h, LEASE), mostly(h, "ping"), mostly(h, "{}"), how, &buf, &err);
        break;
    case 5:
        status = trunkline_lease_subscribe_resource(p, any(h, LEASE), text(h), &err);
        break;
    case 6:
        status = trunkline_session_acquire_enqueue(p, any(h, SESSION), TRUNKLINE_LITERAL("s"), mostly(h, ""), mostly(h, ""),
                                                   queue, LEASE, &out, &err);
        break;
    default:
        status = trunkline_request_answer(p, any(h, OPERATION), text(h), &err);
    }
    check(status, err, buf);
    keep(h, OPERATION, out);
}

/* A function that ends something, whatever it is. */
static void end(host *h)
{
    trunkline_error *err = NULL;
    trunkline_status status;
    trunkline_pool *p = pool(h);
    switch (roll(h, 6)) {
    case 0:
        status = trunkline_session_close(p, any(h, SESSION), roll(h, 2) ? 0 : h->dice, &err);
        break;
    case 1:
        status = trunkline_lease_release(p, any(h, LEASE), &err);
        break;
    case 2:
        status = trunkline_subscription_close(p, any(h, SUBSCRIPTION), &err);
        break;
    case 3:
        status = trunkline_op_cancel(p, any(h, OPERATION), &err);
        break;
    case 4:
        status = trunkline_host_close(p, any(h, OPERATION), &err);
        break;
    default:
        status = trunkline_request_refuse(p, any(h, OPERATION), (int32_t)h->dice, text(h), &err);
    }
    check(status, err, NULL);
}

/* Takes out of the queue what there is; acquires leave leases that somebody will use and release. */
static void drain(host *h)
{
    trunkline_item items[8];
    size_t count = 0, most = 1 + roll(h, 8);
    OK(trunkline_queue_drain(queue, items, most, &count, &err));
    CHECK(count <= most);
    for (size_t at = 0; at < count; at++) {
        keep(h, items[at].tag == LEASE ? LEASE : SUBSCRIPTION, items[at].handle);
        trunkline_item_clear(&items[at]);
        trunkline_item_clear(&items[at]);
    }
}

static void *abuse(void *data)
{
    host *h = data;
    h->garbage = malloc(GARBAGE);
    CHECK(h->garbage);
    for (long call = 0; call < h->calls; call++) {
        unsigned which = roll(h, 10);
        if (which < 5)
            make(h);
        else if (which < 8)
            use(h);
        else if (which < 9)
            end(h);
        else
            drain(h);
    }
    free(h->garbage);
    return NULL;
}

/* SPEC 16.2, 16.3 */
static void every_wrong_call_is_answered_and_does_no_harm(void)
{
    long calls = number_from("TRUNKLINE_ABUSE", getenv("TRUNKLINE_FULL") ? 500000 : 27000);
    long seed = number_from("TRUNKLINE_SEED", 1);
    printf("%ld calls, seed %ld\n", calls, seed);
    fflush(stdout);
    pthread_t threads[THREADS];
    host hosts[THREADS];
    for (int number = 0; number < 2; number++)
        scenes[number] = open_scene("{\"limits\":{\"event_backlog\":64}}", "");
    OK(trunkline_queue_new(&queue, &err));
    for (int number = 0; number < THREADS; number++) {
        hosts[number] = (host){(uint64_t)(seed * THREADS + number) * 0x9e3779b97f4a7c15u, calls / THREADS, NULL};
        CHECK(pthread_create(&threads[number], NULL, abuse, &hosts[number]) == 0);
    }
    for (int number = 0; number < THREADS; number++)
        CHECK(pthread_join(threads[number], NULL) == 0);
    for (int number = 0; number < 2; number++)
        close_scene(&scenes[number]);
    trunkline_queue_free(queue);
    UNTIL(add(&given_back, 0) == add(&handed_over, 0));
    printf("%ld succeeded, %ld callbacks, all given back\n", succeeded, answered);
    /* It gets far enough to have something to break. */
    CHECK(succeeded > calls / 8 && answered > 0);
    score("abi", calls);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(every_wrong_call_is_answered_and_does_no_harm);
    return 0;
}
