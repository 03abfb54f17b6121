/*
 * The C ABI in the hands of a host that gets everything wrong: every function of the header, with handles that are stale, foreign, of
 * another kind or nobody's, released twice and from several threads at once, with texts that are NULL, cut off, huge or no UTF-8, options
 * of any size, no place for a result, on pools and queues that are closed or amid a drain, and from inside callbacks (SPEC 16.2, SECURITY
 * row 19). What the header says ends all other use, such as a pointer that was freed, is nobody's any more.
 *
 * Each call must be answered: by success, or by a status that has an error with the same code, and nothing else. At the end everything
 * that was handed over has come back once, and nothing is left. TRUNKLINE_ABUSE is the number of calls; TRUNKLINE_SEED repeats a run but
 * for the order of its threads; TRUNKLINE_ABUSE_TOLD lists the functions.
 */
#define _POSIX_C_SOURCE 200809L
#include "abuse.h"

#include <pthread.h>

#define THREADS 3

typedef struct {
    const char *name;
    void (*call)(host *h);
} function;

scene scenes[SCENES];
trunkline_queue *queue;
long handed_over, given_back, answered;

static long inside, inside_max;

static void take_status(host *h, trunkline_status status);
static void take_text_of(host *h, trunkline_str text);

#include "abuse_calls.h"

#define FUNCTIONS (sizeof functions / sizeof *functions)

/* How often each was called, and did what it is for. */
static long calls_of[FUNCTIONS], successes_of[FUNCTIONS];

/* Every byte of it can be read. */
static void take_text_of(host *h, trunkline_str text)
{
    volatile unsigned sum = 0;
    for (size_t at = 0; at < text.len; at++)
        sum += (unsigned char)text.ptr[at];
    (void)h;
}

/* What every answer must be. */
static void take_status(host *h, trunkline_status status)
{
    trunkline_error *error = h->out_error;
    h->is_ok = status == TRUNKLINE_STATUS_OK;
    CHECK(status != TRUNKLINE_STATUS_INTERNAL);
    CHECK(!error == (h->is_ok || !h->wants_error));
    CHECK(!error || (trunkline_error_code(error) == status && trunkline_error_message(error).len > 0));
    CHECK(h->is_ok || (!h->out_buf && !h->out_handle && !h->out_pool && !h->out_queue && !h->out_logs && !h->out_count));
}

/* What a handle is of that the function gave. */
static kind kind_given(const host *h)
{
    if (strstr(h->function, "_start") || strstr(h->function, "_enqueue"))
        return OPERATION;
    return strstr(h->function, "_session_open") ? SESSION : strstr(h->function, "_subscribe") ? SUBSCRIPTION : LEASE;
}

/* What came takes the place of what the host had, which so is freed in whatever state it is. */
#define TAKE(h, field, free)             \
    do {                                 \
        if ((h)->out_##field) {          \
            free((h)->field);            \
            (h)->field = (h)->out_##field; \
            (h)->out_##field = NULL;     \
        }                                \
    } while (0)

/* Of what a queue gave, leases are somebody's to use and release; the rest stays in the items. */
static void take_items(host *h)
{
    CHECK(h->out_count <= ITEMS);
    for (; h->out_count > 0; h->out_count--) {
        const trunkline_item *item = &h->items[h->out_count - 1];
        if (item->kind == TRUNKLINE_ITEM_KIND_DONE && item->handle)
            remember(LEASE, item->handle);
    }
}

static void call(host *h, size_t at)
{
    h->function = functions[at].name;
    h->is_right = h->is_ok = true;
    functions[at].call(h);
    add(&calls_of[at], 1);
    add(&successes_of[at], h->is_ok);
    /* One that waits for a time that nobody knows. */
    if (h->out_pool && !h->is_right) {
        trunkline_pool_free(h->out_pool);
        h->out_pool = NULL;
    }
    TAKE(h, pool, trunkline_pool_free);
    TAKE(h, queue, trunkline_queue_free);
    TAKE(h, logs, trunkline_logs_free);
    TAKE(h, buf, trunkline_buf_free);
    TAKE(h, error, trunkline_error_free);
    take_items(h);
    if (h->out_handle)
        remember(kind_given(h), h->out_handle);
    h->out_handle = 0;
}

static void end_host(host *h)
{
    for (int at = 0; at < ITEMS; at++)
        trunkline_item_clear(&h->items[at]);
    trunkline_pool_free(h->pool);
    trunkline_queue_free(h->queue);
    trunkline_logs_free(h->logs);
    trunkline_buf_free(h->buf);
    trunkline_error_free(h->error);
    free(h->garbage);
    free(h->options);
    free(h);
}

/* One of all; of those that tell the most, or look for files, one in five of what chance would give, as they take as long as all others. */
static size_t draw(host *h)
{
    static const char *const slow[] = {"_pool_status", "_metrics", "_pool_subscribe", "_session_subscribe", "_pool_acquire",
                                       "_set_source", "load"};
    for (;;) {
        size_t at = roll(h, FUNCTIONS);
        bool is_slow = false;
        for (size_t number = 0; number < sizeof slow / sizeof *slow; number++)
            is_slow = is_slow || strstr(functions[at].name, slow[number]);
        if (!is_slow || roll(h, 5) == 0)
            return at;
    }
}

static host *new_host(uint64_t number)
{
    host *h = calloc(1, sizeof *h);
    CHECK(h);
    h->dice = number * 0x9e3779b97f4a7c15u;
    return h;
}

void call_inside(void)
{
    long number = add(&inside, 1);
    /* What is done inside a callback may be told to others. */
    if (number > inside_max)
        return;
    host *h = new_host((uint64_t)number);
    call(h, draw(h));
    end_host(h);
}

/* What most functions leave in the queue of all is more than one of them takes out. */
static void drain(host *h)
{
    trunkline_item *items = h->items;
    for (int at = 0; at < ITEMS; at++)
        trunkline_item_clear(&items[at]);
    OK(trunkline_queue_drain(queue, items, ITEMS, &h->out_count, &err));
    take_items(h);
}

/* Each function at least once: when there is the most to break. */
static void *abuse(void *data)
{
    host *h = data;
    for (long number = 0; number < h->calls; number++) {
        long left = h->calls - number;
        if (left <= (long)FUNCTIONS)
            call(h, (size_t)left - 1);
        else if (roll(h, 10) == 0)
            drain(h);
        else
            call(h, draw(h));
    }
    end_host(h);
    return NULL;
}

static void open_scenes(void)
{
    static const char options[] = "{\"trusted\":true,\"approvals\":\"memory\",\"limits\":{\"event_backlog\":64},\"start_gate_ms\":20,"
                                  "\"connect_timeout_ms\":1000,\"handler_timeout_ms\":100}";
    trunkline_ask_fn ask = NULL;
    host *h = new_host(1);
    while (!ask)
        ask = choose_ask_fn(h);
    uint64_t offered = 2 * TRUNKLINE_MASK(TRUNKLINE_HANDLER_ENTRIES) - 1;
    OK(trunkline_pool_new_with_handlers(text_of(options), offered, ask, &given_back, NULL, &scenes[0].pool, &err));
    for (int number = 1; number < SCENES; number++)
        OK(trunkline_pool_new(text_of(options), &scenes[number].pool, &err));
    for (int number = 0; number < SCENES; number++) {
        furnish_scene(&scenes[number], "");
        remember(SESSION, scenes[number].session);
    }
    prepare_texts();
    end_host(h);
}

/* Callbacks use the pools until the last has come. */
static void close_scenes(void)
{
    for (int number = 0; number < SCENES; number++)
        OK(trunkline_pool_close(scenes[number].pool, TRUNKLINE_DEFAULT, &err));
    trunkline_queue_free(queue);
    UNTIL(add(&given_back, 0) == add(&handed_over, 0));
    for (int number = 0; number < SCENES; number++) {
        trunkline_pool_free(scenes[number].pool);
        end_scene(&scenes[number]);
    }
    remove_texts();
}

/* SPEC 16.2, 16.3 */
static void every_wrong_call_is_answered_and_does_no_harm(void)
{
    long calls = number_from("TRUNKLINE_ABUSE", getenv("TRUNKLINE_FULL") ? 501000 : 27300), succeeded = 0, reached = 0;
    long seed = number_from("TRUNKLINE_SEED", 1);
    printf("%ld calls, seed %ld\n", calls, seed);
    fflush(stdout);
    pthread_t threads[THREADS];
    inside_max = calls / 10;
    OK(trunkline_queue_new(&queue, &err));
    open_scenes();
    for (int number = 0; number < THREADS; number++) {
        host *h = new_host((uint64_t)(seed * THREADS + number));
        h->calls = calls / THREADS;
        CHECK(pthread_create(&threads[number], NULL, abuse, h) == 0);
    }
    for (int number = 0; number < THREADS; number++)
        CHECK(pthread_join(threads[number], NULL) == 0);
    close_scenes();
    for (size_t at = 0; at < FUNCTIONS; at++) {
        if (getenv("TRUNKLINE_ABUSE_TOLD"))
            printf("%6ld of %6ld succeeded: %s\n", successes_of[at], calls_of[at], functions[at].name);
        CHECK(calls_of[at] > 0);
        succeeded += successes_of[at];
        reached += successes_of[at] > 0;
    }
    printf("%ld succeeded, of %ld functions of %d, %ld callbacks, all given back\n", succeeded, reached, (int)FUNCTIONS, answered);
    /* It gets far enough to have something to break. */
    CHECK(succeeded > calls / 8 && reached > (long)FUNCTIONS / 2 && answered > 0);
    score("abi", calls);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(every_wrong_call_is_answered_and_does_no_harm);
    return 0;
}
