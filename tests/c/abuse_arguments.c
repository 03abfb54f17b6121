/* The arguments of the abusive calls but for their texts, and the callbacks that are handed over. */
#define _POSIX_C_SOURCE 200809L
#include "abuse.h"

#define HANDLES 16
#define OPTIONS_MAX 4096

/* Whatever a call gave back, of all pools; any thread may use and release it. And the last of each kind, which may live the longest. */
static uint64_t handles[KINDS][HANDLES], latest[KINDS];
static long asked, received;

unsigned roll(host *h, unsigned sides)
{
    h->dice ^= h->dice << 13;
    h->dice ^= h->dice >> 7;
    h->dice ^= h->dice << 17;
    return (unsigned)(h->dice % sides);
}

long add(long *count, long number)
{
    return __atomic_add_fetch(count, number, __ATOMIC_SEQ_CST);
}

bool is_function(const host *h, const char *start)
{
    return strncmp(h->function, start, strlen(start)) == 0;
}

/* Whichever pool it is of, and if it still is. */
static void end_handle(kind of, uint64_t handle)
{
    for (int number = 0; number < SCENES; number++) {
        trunkline_pool *pool = scenes[number].pool;
        if (of == SESSION)
            trunkline_session_close(pool, handle, 0, NULL);
        else if (of == LEASE)
            trunkline_lease_release(pool, handle, NULL);
        else if (of == SUBSCRIPTION)
            trunkline_subscription_close(pool, handle, NULL);
        else if (of == CONNECTION)
            trunkline_host_close(pool, handle, NULL);
    }
}

void remember(kind of, uint64_t handle)
{
    /* Both ends of the number differ between handles that follow one another. */
    size_t place = (size_t)(handle + (handle >> 45)) % HANDLES;
    uint64_t before = __atomic_exchange_n(&handles[of][place], handle, __ATOMIC_SEQ_CST);
    __atomic_store_n(&latest[of], handle, __ATOMIC_SEQ_CST);
    if (before != handle)
        end_handle(of, before);
}

/* Mostly one of that kind, which may be over; or of another, or near one, or nobody's. */
static uint64_t any(host *h, kind wanted)
{
    /* There would soon be nothing left, were everything ended as often as it is used. */
    bool ends = strstr(h->function, "_release") || strstr(h->function, "_close");
    kind of = roll(h, ends ? 2 : 8) == 0 ? (kind)roll(h, KINDS) : wanted;
    uint64_t *place = roll(h, 3) || ends ? &handles[of][roll(h, HANDLES)] : &latest[of];
    uint64_t kept = __atomic_load_n(place, __ATOMIC_SEQ_CST);
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

/* Where nothing says that it ends, it waits but for a moment. */
static uint64_t any_time(host *h)
{
    unsigned which = roll(h, 40);
    return which == 0 ? TRUNKLINE_DEFAULT : which == 1 ? h->dice : roll(h, 50);
}

uint64_t choose_number(host *h, const char *parameter)
{
    static const struct {
        const char *parameter;
        kind kind;
    } of_handles[] = {
        {"session", SESSION}, {"lease", LEASE}, {"subscription", SUBSCRIPTION},
        {"op", OPERATION}, {"connection", CONNECTION}, {"request", REQUEST},
    };
    for (size_t at = 0; at < sizeof of_handles / sizeof *of_handles; at++)
        if (strcmp(parameter, of_handles[at].parameter) == 0)
            return any(h, of_handles[at].kind);
    /* Nobody need put anything into a queue. */
    if (is_function(h, "trunkline_queue_wait"))
        return roll(h, 20);
    if (strcmp(parameter, "timeout_ms") == 0)
        return any_time(h);
    if (strcmp(parameter, "offered") == 0)
        return roll(h, 8) ? roll(h, 2 * TRUNKLINE_MASK(TRUNKLINE_HANDLER_ENTRIES)) : h->dice;
    if (strcmp(parameter, "mask") == 0)
        return roll(h, 2) ? TRUNKLINE_EVERY_EVENT : h->dice;
    /* More than there is room for is wrong only of the one that has room. */
    if (strcmp(parameter, "capacity") == 0)
        return roll(h, ITEMS + 1);
    /* Switches, places and codes: what is small is mostly right. */
    return roll(h, 4) ? roll(h, 2) : roll(h, 2) ? h->dice : UINT64_MAX;
}

/* Whether the pool has less afterwards than the other threads need. */
static bool takes_away(const host *h)
{
    static const char *const starts[] = {"close", "drain_all", "reconcile", "restart", "reload", "remove_server", "set_gates",
                                         "add_server", "switch_source"};
    for (size_t at = 0; at < sizeof starts / sizeof *starts; at++)
        if (is_function(h, "trunkline_pool_") && strncmp(h->function + 15, starts[at], strlen(starts[at])) == 0)
            return true;
    return false;
}

trunkline_pool *choose_pool_p(host *h)
{
    unsigned which = roll(h, 30);
    if (is_function(h, "trunkline_pool_free")) {
        trunkline_pool *pool = which < 15 ? NULL : h->pool;
        h->pool = pool ? NULL : h->pool;
        return pool;
    }
    if (which == 0)
        return NULL;
    if (takes_away(h))
        return which < 15 ? h->pool : scenes[WHOLE + roll(h, SCENES - WHOLE)].pool;
    /* A server that the host provides never answers: a pool that may wait long for it is none to give it to. */
    if (which < 4 && !is_function(h, "trunkline_session_provide"))
        return h->pool;
    return scenes[which < 8 ? roll(h, SCENES) : 0].pool;
}

trunkline_queue *choose_queue_p(host *h)
{
    unsigned which = roll(h, 12);
    if (is_function(h, "trunkline_queue_free")) {
        trunkline_queue *own = which < 6 ? NULL : h->queue;
        h->queue = own ? NULL : h->queue;
        return own;
    }
    if (is_function(h, "trunkline_queue_close"))
        return which < 6 ? NULL : h->queue;
    return which == 0 ? NULL : which < 4 ? h->queue : queue;
}

const trunkline_queue *choose_const_queue_p(host *h)
{
    return choose_queue_p(h);
}

/* What is freed is out of the host's hands. */
trunkline_logs *choose_logs_p(host *h)
{
    trunkline_logs *logs = h->logs;
    h->logs = NULL;
    return logs;
}

trunkline_buf *choose_buf_p(host *h)
{
    trunkline_buf *buf = h->buf;
    h->buf = NULL;
    return buf;
}

trunkline_error *choose_error_p(host *h)
{
    trunkline_error *error = h->error;
    h->error = NULL;
    return error;
}

const trunkline_buf *choose_const_buf_p(host *h)
{
    return roll(h, 8) ? h->buf : NULL;
}

const trunkline_error *choose_const_error_p(host *h)
{
    unsigned which = roll(h, 8);
    return which == 0 ? NULL : which < 3 ? trunkline_error_cause(h->error) : h->error;
}

trunkline_item *choose_item_p(host *h)
{
    if (is_function(h, "trunkline_item_clear"))
        return roll(h, 8) ? &h->items[roll(h, ITEMS)] : NULL;
    for (int at = 0; at < ITEMS; at++)
        trunkline_item_clear(&h->items[at]);
    return roll(h, 8) ? h->items : NULL;
}

/* Room enough for options of any size that is not refused. */
typedef union {
    trunkline_call_options options;
    char bytes[OPTIONS_MAX];
} room;

/* Of a size that is refused only the size is there; of any other, so many bytes. */
const trunkline_call_options *choose_const_call_options_p(host *h)
{
    static const size_t sizes[] = {0, 1, 8, sizeof(trunkline_call_options) - 1, sizeof(trunkline_call_options),
                                   OPTIONS_MAX, OPTIONS_MAX + 1, (size_t)-1};
    static const char *const metas[] = {"", "{\"progressToken\":7,\"traceparent\":\"x\"}", "[]", "\xff"};
    room room = {{0}};
    trunkline_call_options *options = &room.options;
    size_t size = roll(h, 6) ? sizeof *options : sizes[roll(h, sizeof sizes / sizeof *sizes)];
    size_t there = size < sizeof *options || size > OPTIONS_MAX ? sizeof size : size;
    options->struct_size = size;
    options->timeout_ms = roll(h, 2) ? 1 + roll(h, 50) : 2000;
    options->idle_timeout_ms = roll(h, 24) ? 0 : h->dice;
    options->progress = roll(h, 24) ? roll(h, 2) : 2;
    options->retry = roll(h, 24) ? roll(h, 3) : 9;
    options->wait = roll(h, 24) ? roll(h, 2) : 2;
    options->out_call = roll(h, 2) ? &h->out_call : NULL;
    options->meta_json = text_of(metas[roll(h, 4) ? 0 : roll(h, 4)]);
    if (roll(h, 2))
        room.bytes[OPTIONS_MAX - 1] = 1;
    free(h->options);
    CHECK(h->options = malloc(there));
    memcpy(h->options, &room, there);
    return roll(h, 3) == 0 ? NULL : h->options;
}

/* A place for a result, mostly. */
#define CHOOSE_OUT(name, type, place)                \
    type *name(host *h)                              \
    {                                                \
        return roll(h, 12) ? &h->place : NULL;       \
    }
CHOOSE_OUT(choose_pool_p_p, trunkline_pool *, out_pool)
CHOOSE_OUT(choose_queue_p_p, trunkline_queue *, out_queue)
CHOOSE_OUT(choose_logs_p_p, trunkline_logs *, out_logs)
CHOOSE_OUT(choose_buf_p_p, trunkline_buf *, out_buf)
CHOOSE_OUT(choose_uint64_t_p, uint64_t, out_handle)
CHOOSE_OUT(choose_size_t_p, size_t, out_count)

trunkline_error **choose_error_p_p(host *h)
{
    h->wants_error = roll(h, 12);
    return h->wants_error ? &h->out_error : NULL;
}

void *choose_void_p(host *h)
{
    (void)h;
    return &given_back;
}

static void on_destroy(void *data)
{
    CHECK(data == &given_back);
    add(&given_back, 1);
}

trunkline_destroy_fn choose_destroy_fn(host *h)
{
    if (roll(h, 12) == 0)
        return NULL;
    add(&handed_over, 1);
    return on_destroy;
}

static void on_done(void *data, trunkline_item *item)
{
    CHECK(data == &given_back);
    CHECK(item->kind == TRUNKLINE_ITEM_KIND_DONE && (item->status == TRUNKLINE_STATUS_OK) == !item->error);
    if (item->handle)
        remember(LEASE, item->handle);
    /* What is taken is the host's. */
    if (add(&answered, 1) % 2 == 0)
        trunkline_item_clear(item);
    call_inside();
}

static void on_event(void *data, uint32_t event, trunkline_str json)
{
    CHECK(data == &given_back && json.len > 0);
    if (event != TRUNKLINE_EVENT_LAGGED)
        call_inside();
}

static void on_log(void *data, trunkline_str records)
{
    CHECK(data == &given_back && records.len > 0);
}

/* Half of what is asked is answered at once, the rest by the thread that comes upon it, or never. */
static void on_ask(void *data, uint32_t news, uint64_t request, trunkline_str json)
{
    CHECK(data == &given_back && (json.len > 0) == (news != TRUNKLINE_REQUEST_EVENT_WITHDRAWN));
    if (news == TRUNKLINE_REQUEST_EVENT_ASKED)
        remember(REQUEST, request);
    if (add(&asked, 1) % 2)
        for (int number = 0; number < SCENES; number++)
            trunkline_request_answer(scenes[number].pool, request, TRUNKLINE_LITERAL("{}"), NULL);
}

/* Half of the connections are over with the first message; of the rest any thread may send, and end them. */
static void on_receive(void *data, uint64_t connection, trunkline_str frame)
{
    CHECK(data == &given_back && frame.len > 0);
    if (add(&received, 1) % 2)
        remember(CONNECTION, connection);
    else
        end_handle(CONNECTION, connection);
}

static void on_closed(void *data, uint64_t connection)
{
    CHECK(data == &given_back && connection);
}

/* A function to be called back, mostly. */
#define CHOOSE_FN(type, function)                    \
    trunkline_##type choose_##type(host *h)          \
    {                                                \
        return roll(h, 12) ? function : NULL;        \
    }
CHOOSE_FN(done_fn, on_done)
CHOOSE_FN(event_fn, on_event)
CHOOSE_FN(log_fn, on_log)
CHOOSE_FN(ask_fn, on_ask)
CHOOSE_FN(host_receive_fn, on_receive)
CHOOSE_FN(host_closed_fn, on_closed)
