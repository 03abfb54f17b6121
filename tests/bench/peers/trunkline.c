/* The benchmark's client on trunkline's C ABI: blocking calls, 64 in flight through a queue, and calls beside a callback that blocks. */
#define _GNU_SOURCE
#include "measure.h"

#include <poll.h>
#include <semaphore.h>
#include <trunkline.h>

static trunkline_pool *pool;
static uint64_t lease;

static void check(trunkline_status status, trunkline_error *error) {
    if (status == TRUNKLINE_STATUS_OK) return;
    trunkline_str text = trunkline_error_message(error);
    fprintf(stderr, "status %d: %.*s\n", (int)status, (int)text.len, text.ptr);
    exit(1);
}

static trunkline_str str(const char *text) {
    return TRUNKLINE_TEXT(text, strlen(text));
}

static void call(const char *arguments) {
    trunkline_buf *result = NULL;
    trunkline_error *error = NULL;
    check(trunkline_lease_call_tool(pool, lease, str("big"), str(arguments), NULL, &result, &error), error);
    trunkline_buf_free(result);
}

static void sequential(const char *name, const char *arguments) {
    double end = now() + WARM_UP;
    while (now() < end) call(arguments);
    size_t calls = 0;
    double started = now(), before = cpu(), last = started;
    while (last - started < MEASURED && calls < TIMES_MAX) {
        call(arguments);
        double t = now();
        times_us[calls++] = (t - last) * 1e6;
        last = t;
    }
    print_sequential(name, calls, last - started, cpu() - before);
}

static void enqueue(trunkline_queue *queue, const char *arguments) {
    trunkline_error *error = NULL;
    check(trunkline_lease_call_tool_enqueue(pool, lease, str("big"), str(arguments), NULL, queue, 0, NULL, &error), error);
}

static void wide(const char *name, const char *arguments) {
    trunkline_queue *queue = NULL;
    trunkline_error *error = NULL;
    check(trunkline_queue_new(&queue, &error), error);
    struct pollfd ready = {trunkline_queue_fd(queue), POLLIN, 0};
    size_t calls = 0, in_flight = 0;
    double started = now(), before = cpu();
    for (; in_flight < WIDTH; in_flight++) enqueue(queue, arguments);
    while (in_flight > 0) {
        trunkline_item items[WIDTH];
        size_t count = 0;
        poll(&ready, 1, -1);
        check(trunkline_queue_drain(queue, items, WIDTH, &count, &error), error);
        int goes_on = now() - started < MEASURED;
        for (size_t i = 0; i < count; i++) {
            check(items[i].status, items[i].error);
            trunkline_item_clear(&items[i]);
            calls++;
            if (goes_on) enqueue(queue, arguments);
            else in_flight--;
        }
    }
    print_wide(name, calls, now() - started, cpu() - before);
    trunkline_queue_free(queue);
}

/* A pool with one server, which is held. */
static void open_pool(const char *server) {
    trunkline_error *error = NULL;
    uint64_t session = 0;
    char config[4096];
    snprintf(config, sizeof config, "{\"command\": \"%s\"}", server);
    check(trunkline_pool_new(str(""), &pool, &error), error);
    check(trunkline_session_open(pool, str("{\"id\": \"a\", \"servers\": []}"), &session, &error), error);
    check(trunkline_session_acquire(pool, session, str("s"), str(config), str(""), &lease, &error), error);
}

static void close_pool(void) {
    trunkline_error *error = NULL;
    check(trunkline_pool_close(pool, TRUNKLINE_DEFAULT, &error), error);
    trunkline_pool_free(pool);
}

static void calls(const char *server) {
    open_pool(server);
    sequential("seq-100", "{\"bytes\":100}");
    wide("wide-100", "{\"bytes\":100}");
    sequential("seq-100k", "{\"bytes\":100000}");
    wide("wide-100k", "{\"bytes\":100000}");
    close_pool();
}

/* A callback that does not return before it is let go, and the end of its subscription. */
static sem_t entered, let_go, ended;

static void block(void *user_data, uint32_t event, trunkline_str json) {
    (void)user_data, (void)event, (void)json;
    sem_post(&entered);
    while (sem_wait(&let_go) != 0) {}
}

static void note_end(void *user_data) {
    (void)user_data;
    sem_post(&ended);
}

/* Calls before, and while another subscriber's callback does not return. */
static void faults(const char *server) {
    trunkline_error *error = NULL;
    trunkline_buf *result = NULL;
    uint64_t subscription = 0;
    sem_init(&entered, 0, 0), sem_init(&let_go, 0, 0), sem_init(&ended, 0, 0);
    open_pool(server);
    sequential("seq-100-calm", "{\"bytes\":100}");
    check(trunkline_pool_subscribe(pool, TRUNKLINE_MASK(TRUNKLINE_EVENT_LOG), block, NULL, note_end, &subscription, NULL, &error), error);
    check(trunkline_lease_call_tool(pool, lease, str("log"), str("{\"level\":\"info\",\"text\":\"hello\"}"), NULL, &result, &error), error);
    trunkline_buf_free(result);
    while (sem_wait(&entered) != 0) {}
    sequential("seq-100-callback", "{\"bytes\":100}");
    sem_post(&let_go);
    close_pool();
    while (sem_wait(&ended) != 0) {}
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    if (is_wanted("calls")) calls(argv[1]);
    if (is_wanted("faults")) faults(argv[1]);
    /* A program without the library in it, which loads it. */
    const char *loading = getenv("BENCH_LOADING");
    if (is_wanted("loading") && (loading == NULL || system(loading) != 0)) return 1;
    return 0;
}
